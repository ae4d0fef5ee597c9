package isc_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/stretchr/testify/require"
)

func TestManifestProblemsAreAllReported(t *testing.T) {
	require.NoError(t, manifest().Validate())
	f := manifest().Functionalities[0]
	other := f
	other.Name = "ride.f4re"
	for name, c := range map[string]struct {
		change func(*isc.Manifest)
		text   string
	}{
		"id":              {func(m *isc.Manifest) { m.ID = "Metro" }, "app id"},
		"reserved":        {func(m *isc.Manifest) { m.ID = "hub" }, "reserved"},
		"long name":       {func(m *isc.Manifest) { m.Name = strings.Repeat("é", 65) }, "64 characters"},
		"two lines":       {func(m *isc.Manifest) { m.Name = "Metro\n1) allow" }, "more than one line"},
		"escape":          {func(m *isc.Manifest) { m.Name = "Metro\x1b[2J" }, "hidden"},
		"space":           {func(m *isc.Manifest) { m.Name = " Metro" }, "space"},
		"hub":             {func(m *isc.Manifest) { m.Name = "IsolateGPT Hub" }, "claims"},
		"hub, Cyrillic":   {func(m *isc.Manifest) { m.Name = "Isоlаte GPТ" }, "claims"},
		"hub, full width": {func(m *isc.Manifest) { m.Name = "ＨＵＢ message" }, "claims"},
		"hub, digits":     {func(m *isc.Manifest) { m.Name = "1solate-GPT" }, "claims"},
		"system":          {func(m *isc.Manifest) { m.Name = "System" }, "claims"},
		"version":         {func(m *isc.Manifest) { m.Version = "1\u200b" }, "version: hidden"},
		"publisher":       {func(m *isc.Manifest) { m.Publisher = strings.Repeat("a", 129) }, "publisher"},
		"tags":            {func(m *isc.Manifest) { m.Description = "x\U000e0061" }, "description: hidden"},
		"instructions":    {func(m *isc.Manifest) { m.Instructions = strings.Repeat("a", 65<<10) }, "instructions"},
		"UTF-8":           {func(m *isc.Manifest) { m.Description = "\xff" }, "UTF-8"},
		"functionality":   {func(m *isc.Manifest) { m.Functionalities[0].Name = "Fare" }, "functionality"},
		"no request":      {func(m *isc.Manifest) { m.Functionalities[0].Request = nil }, "no request format"},
		"no response":     {func(m *isc.Manifest) { m.Functionalities[0].Response = &isc.Format{} }, "no response format"},
		"effect":          {func(m *isc.Manifest) { m.Functionalities[0].Effect = 7 }, "effect"},
		"twice":           {func(m *isc.Manifest) { m.Functionalities = append(m.Functionalities, f) }, "twice"},
		"look-alike": {func(m *isc.Manifest) {
			a, b := f, f
			a.Name, b.Name = "lookup", "l0okup"
			m.Functionalities = []isc.Functionality{a, b, other}
		}, "looks like"},
		"scheme":       {func(m *isc.Manifest) { m.Hosts = []string{"https://a.example"} }, "host name"},
		"port":         {func(m *isc.Manifest) { m.Hosts = []string{"a.example:443"} }, "host name"},
		"wildcard":     {func(m *isc.Manifest) { m.Hosts = []string{"*.example"} }, "host name"},
		"address":      {func(m *isc.Manifest) { m.Hosts = []string{"169.254.169.254"} }, "host name"},
		"unicode host": {func(m *isc.Manifest) { m.Hosts = []string{"аpple.com"} }, "host name"},
		"upper host":   {func(m *isc.Manifest) { m.Hosts = []string{"A.example"} }, "host name"},
		"host twice":   {func(m *isc.Manifest) { m.Hosts = []string{"a.example", "a.example"} }, "twice"},
		"want":         {func(m *isc.Manifest) { m.Wants = []isc.FunctionalityName{"X"} }, "wants"},
		"need":         {func(m *isc.Manifest) { m.Needs = []isc.DataField{{}} }, "needs"},
	} {
		t.Run(name, func(t *testing.T) {
			m := manifest()
			c.change(&m)
			err := m.Validate()
			require.ErrorContains(t, err, c.text)
			require.False(t, isc.HasHidden(err.Error()))
		})
	}
	m := manifest()
	m.ID, m.Name, m.Hosts = "X", "Hub", []string{"*"}
	for _, part := range []string{"app id", "claims", "host name"} {
		require.ErrorContains(t, m.Validate(), part)
	}
	for _, name := range []string{"", "GitHub", "HubSpot", "Solar System Tour", "Memory Game", "مترو", "地铁", "Quick Ride 5"} {
		m := manifest()
		m.Name = name
		require.NoError(t, m.Validate(), name)
	}
}

const manifestText = `{"id":"metro","name":"Metro Hail","version":"1.0.0","hosts":["b.example","a.example"],
	"functionalities":[{"name":"ride.fare","description":"<Fare> & more","request":{"type":"object"},"response":{"type":"number"},"effect":"read"},
	{"name":"ride.book","request":{"type":"object"},"response":{"type":"null"},"agent":true}],
	"needs":[{"name":"home","purpose":"to find you"}],"wants":["calendar.add"]}`

func TestDecodeManifest(t *testing.T) {
	m, err := isc.DecodeManifest([]byte(manifestText))
	require.NoError(t, err)
	require.Equal(t, isc.Irreversible, m.Functionalities[1].Effect, "undeclared is irreversible")
	require.False(t, m.Vouched)
	raw, err := json.Marshal(m)
	require.NoError(t, err)
	back, err := isc.DecodeManifest(raw)
	require.NoError(t, err)
	require.Equal(t, m.Digest(), back.Digest())

	for name, bad := range map[string]string{
		"key twice":      `{"id":"a","id":"b"}`,
		"case":           `{"Id":"a"}`,
		"unknown":        `{"id":"a","vouched":true}`,
		"Vouched":        `{"id":"a","Vouched":true}`,
		"bad id":         `{"id":"hub"}`,
		"bad effect":     strings.Replace(manifestText, `"read"`, `"Read"`, 1),
		"bad format":     strings.Replace(manifestText, `{"type":"number"}`, `{"type":"no"}`, 1),
		"null format":    strings.Replace(manifestText, `{"type":"number"}`, `null`, 1),
		"missing format": strings.Replace(manifestText, `"response":{"type":"number"},`, ``, 1),
		"trailing":       manifestText + "{}",
		"no manifest":    `[]`,
	} {
		t.Run(name, func(t *testing.T) {
			m, err := isc.DecodeManifest([]byte(bad))
			require.Error(t, err)
			require.Empty(t, m)
		})
	}
}

func TestA4DigestAndPinSeeEveryChange(t *testing.T) {
	decode := func(text string) isc.Manifest {
		m, err := isc.DecodeManifest([]byte(text))
		require.NoError(t, err)
		return m
	}
	base := decode(manifestText)
	pin := base.Pin("ride.fare")
	for _, c := range []struct {
		name, old, new      string
		sameDigest, samePin bool
	}{
		{"version", "1.0.0", "1.0.1", false, true},
		{"description", "& more", "& mare", false, false},
		{"schema", `"number"`, `"string"`, false, false},
		{"effect", `"read"`, `"write"`, false, false},
		{"host", "b.example", "c.example", false, false},
		{"order of hosts", `["b.example","a.example"]`, `["a.example","b.example"]`, true, true},
		{"order of keys", `{"id":"metro","name":"Metro Hail"`, `{"name":"Metro Hail","id":"metro"`, true, true},
		{"other functionality", "ride.book", "ride.buy", false, true},
		{"name", "Metro Hail", "Metro Hell", false, true},
		{"id", `"metro"`, `"metros"`, false, false},
		{"want", "calendar.add", "calendar.del", false, true},
		{"need", "to find you", "to find yau", false, true},
	} {
		m := decode(strings.Replace(manifestText, c.old, c.new, 1))
		require.Equal(t, c.sameDigest, m.Digest() == base.Digest(), c.name)
		require.Equal(t, c.samePin, m.Pin("ride.fare") == pin, c.name)
	}
	vouched := base.Clone()
	vouched.Vouched = true
	require.Equal(t, base.Digest(), vouched.Digest())
	require.True(t, base.Pin("nope").IsZero())
	require.NotEqual(t, base.Pin("ride.book"), pin)
}

func TestManifestCloneSharesNothingMutable(t *testing.T) {
	m := manifest()
	m.Wants = []isc.FunctionalityName{"a"}
	m.Needs = []isc.DataField{{Name: "n"}}
	c := m.Clone()
	c.Functionalities[0].Name, c.Hosts[0], c.Wants[0], c.Needs[0].Name = "x", "x", "x", "x"
	require.Equal(t, isc.FunctionalityName("ride.fare"), m.Functionalities[0].Name)
	require.Equal(t, "api.metro.example", m.Hosts[0])
	require.Equal(t, isc.FunctionalityName("a"), m.Wants[0])
	require.Equal(t, "n", m.Needs[0].Name)
	found, ok := m.Find("ride.fare")
	require.True(t, ok)
	require.Equal(t, isc.Read, found.Effect)
	_, ok = m.Find("x")
	require.False(t, ok)
}
