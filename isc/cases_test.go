package isc_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/stretchr/testify/require"
)

type caseFunction struct {
	Name        string          `json:"name"`
	Input       json.RawMessage `json:"input"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

func readCase[T any](t *testing.T, name string) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal(caseFile(t, name), &v))
	return v
}

func TestCasePatternsThatRE2HasNotAreFreeText(t *testing.T) {
	fn := readCase[caseFunction](t, "01-schema-ecma-pattern/function.json")
	want := readCase[struct {
		Uncompilable []string `json:"re2_uncompilable"`
	}](t, "01-schema-ecma-pattern/expected.json")
	f, err := isc.ParseFormat(fn.Input)
	require.NoError(t, err)

	var noted []string
	for _, n := range f.Notes() {
		if n.Keyword == "pattern" {
			noted = append(noted, n.Pointer+"/pattern")
		}
	}
	require.ElementsMatch(t, want.Uncompilable, noted)
	closed, open := f.Closed()
	require.False(t, closed)
	require.ElementsMatch(t, []string{"/handle", "/pair", "/escaped", "/greek", "/long"}, open)

	_, err = f.Check([]byte(`{"handle":"a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1"}`))
	require.ErrorIs(t, err, isc.ErrMismatch, "the other keywords of the field still apply")
	_, err = f.Check([]byte(`{"plain":"ab12"}`))
	require.ErrorIs(t, err, isc.ErrMismatch)
	_, err = f.Check([]byte(`{"plain":"ab123","handle":"blue42"}`))
	require.NoError(t, err)
}

func TestCaseDialectsKeepTheirMeaning(t *testing.T) {
	parsed := map[string]*isc.Format{}
	for _, fn := range readCase[[]caseFunction](t, "03-schema-draft-mix/functions.json") {
		f, err := isc.ParseFormat(fn.Input)
		if fn.Name == "unknown_dialect" {
			require.ErrorContains(t, err, "https://schemas.example.invalid/private-dialect/v9")
			continue
		}
		require.NoError(t, err, fn.Name)
		parsed[fn.Name] = f
	}
	checkInstances(t, parsed, "03-schema-draft-mix/instances.json")
}

type caseInstance struct {
	Function string          `json:"function"`
	V        json.RawMessage `json:"v"`
	Valid    bool            `json:"valid"`
}

func checkInstances(t *testing.T, parsed map[string]*isc.Format, file string) {
	t.Helper()
	for _, in := range readCase[[]caseInstance](t, file) {
		_, err := parsed[in.Function].Check(in.V)
		require.Equal(t, in.Valid, err == nil, "%s %s: %v", in.Function, in.V, err)
		bare, perr := isc.ParseFormat(parsed[in.Function].Bare())
		require.NoError(t, perr, "%s", parsed[in.Function].Bare())
		_, err = bare.Check(in.V)
		require.Equal(t, in.Valid, err == nil, "bare %s %s: %v", in.Function, in.V, err)
	}
}

func TestCaseRecursiveSchemas(t *testing.T) {
	parsed := map[string]*isc.Format{}
	for _, fn := range readCase[[]caseFunction](t, "05-schema-recursive/functions.json") {
		f, err := isc.ParseFormat(fn.Input)
		if fn.Name == "alias_loop" || fn.Name == "allof_self" {
			require.ErrorContains(t, err, "cycle", fn.Name)
			continue
		}
		require.NoError(t, err, fn.Name)
		parsed[fn.Name] = f
		require.Less(t, len(f.Bare()), 10*len(fn.Input), "a projection does not grow")
	}
	checkInstances(t, parsed, "05-schema-recursive/instances.json")

	const deep = 20_000
	body := []byte(strings.Repeat(`{"name":"a","children":[`, deep) + strings.Repeat(`]}`, deep))
	start := time.Now()
	_, err := parsed["tree"].Check(slices.Concat([]byte(`{"root":`), body, []byte(`}`)))
	require.ErrorIs(t, err, isc.ErrMalformed)
	require.Less(t, time.Since(start), time.Second)
}

func TestCaseFormatsAndBigIntegers(t *testing.T) {
	fn := readCase[caseFunction](t, "07-schema-formats-bigint/function.json")
	want := readCase[struct {
		Lines []struct {
			Valid bool `json:"valid"`
		} `json:"lines"`
	}](t, "07-schema-formats-bigint/expected.json")
	f, err := isc.ParseFormat(fn.Input)
	require.NoError(t, err)
	lines := bytes.Split(bytes.TrimSpace(caseFile(t, "07-schema-formats-bigint/messages.txt")), []byte("\n"))
	require.Len(t, lines, len(want.Lines))
	for i, line := range lines {
		out, err := f.Check(line)
		require.Equal(t, want.Lines[i].Valid, err == nil, "%s: %v", line, err)
		if i == 0 {
			for _, literal := range []string{"9007199254740993", "18446744073709551615", "0.10"} {
				require.Contains(t, string(out), literal)
			}
		}
	}
	_, open := f.Closed()
	for _, unchecked := range []string{"/when", "/repo", "/blob", "/odd", "/mail", "/link"} {
		require.Contains(t, open, unchecked)
	}
}

func TestCaseOneBadToolIsRefusedAlone(t *testing.T) {
	list := readCase[struct {
		Tools []struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
	}](t, "09-schema-one-bad-tool/tools-list.json")
	refused := map[string]bool{"required_bool": true, "bad_type": true, "no_schema": true}
	for _, tool := range list.Tools {
		_, err := isc.ParseFormat(tool.Schema)
		require.Equal(t, refused[tool.Name], err != nil, "%s: %v", tool.Name, err)
	}
}

func TestCaseCollidingNames(t *testing.T) {
	servers := readCase[[]struct {
		ID    string   `json:"id"`
		Tools []string `json:"tools"`
	}](t, "11-names-colliding-servers/servers.json")
	good := []string{"calendar", "calendar-pro", "calendar_pro", "a", "a__b", "mail"}
	for _, s := range servers {
		require.Equal(t, slices.Contains(good, s.ID), isc.AppID(s.ID).Validate() == nil, s.ID)
	}
	require.Error(t, isc.FunctionalityName("SEND").Validate())
	require.NoError(t, isc.FunctionalityName("b__c").Validate())
}

func TestCaseSmuggledJSON(t *testing.T) {
	type message struct {
		V        int                        `json:"v"`
		Type     string                     `json:"type"`
		To       string                     `json:"to"`
		Function string                     `json:"function"`
		Payload  map[string]json.RawMessage `json:"payload"`
	}
	payload := isc.MustFormat(`{"type":"object","additionalProperties":false,"properties":{"q":{"type":"string"}}}`)
	want := readCase[struct {
		Verdict [][]any `json:"verdict"`
	}](t, "13-json-smuggling/expected.json")
	lines := bytes.Split(bytes.TrimRight(caseFile(t, "13-json-smuggling/messages.jsonl"), "\n"), []byte("\n"))
	require.Len(t, lines, len(want.Verdict))
	for i, line := range lines {
		name := want.Verdict[i][1].(string)
		var m message
		err := isc.Unmarshal(line, &m)
		if err == nil {
			raw, merr := json.Marshal(m.Payload)
			require.NoError(t, merr)
			_, err = payload.Check(raw)
		}
		accepted := name == "ok" || name == "wrong-eph" // whose handle it is, the hub's table says
		require.Equal(t, accepted, err == nil, "%s: %v", name, err)
	}
}

func TestCaseUnicodeDeception(t *testing.T) {
	req := readCase[struct {
		Data map[string]string `json:"data"`
		From struct {
			Name string `json:"display_name"`
		} `json:"from"`
		To struct {
			Name string `json:"display_name"`
		} `json:"to"`
	}](t, "15-consent-unicode-deception/request.json")
	for _, hidden := range []string{"url2", "path", "note", "soft"} {
		require.True(t, isc.HasHidden(req.Data[hidden]), hidden)
	}
	for _, plain := range []string{"emoji", "arabic", "nfd"} {
		require.False(t, isc.HasHidden(req.Data[plain]), plain)
		require.Equal(t, req.Data[plain], isc.Visible(req.Data[plain]))
	}
	require.Contains(t, isc.Visible(req.Data["note"]), "also bcc x@evil.test")
	require.Contains(t, isc.Visible(req.Data["url2"]), "<U+202E>")
	require.Equal(t, "de<U+00AD>lete", isc.Visible(req.Data["soft"]))
	for _, name := range []string{req.From.Name, req.To.Name} {
		m := manifest()
		m.Name = name
		require.ErrorContains(t, m.Validate(), "hidden")
	}
}

func TestCaseForgedDialogNames(t *testing.T) {
	req := readCase[struct {
		Candidates []struct {
			ID   string `json:"app_id"`
			Name string `json:"display_name"`
		} `json:"candidates"`
	}](t, "17-consent-forged-dialog/request.json")
	for i, c := range req.Candidates {
		m := manifest()
		m.ID, m.Name = isc.AppID(c.ID), c.Name
		claims := i == 1 || i == 3
		require.Equal(t, claims, m.Validate() != nil, "%s %q", c.ID, c.Name)
	}
}

func TestCaseManifestChange(t *testing.T) {
	type change struct {
		App struct {
			ID      isc.AppID `json:"id"`
			Name    string    `json:"name"`
			Version string    `json:"version"`
		} `json:"app"`
		Functions []struct {
			Name        isc.FunctionalityName `json:"name"`
			Description string                `json:"description"`
			Input       *isc.Format           `json:"input"`
			Hosts       []string              `json:"hosts"`
		} `json:"functions"`
	}
	pin := func(file string) (isc.Digest, isc.Digest) {
		c := readCase[change](t, "23-perm-manifest-change/"+file)
		m := isc.Manifest{ID: c.App.ID, Name: c.App.Name, Version: c.App.Version}
		for _, f := range c.Functions {
			m.Functionalities = append(m.Functionalities, isc.Functionality{
				Name: f.Name, Description: f.Description, Request: f.Input, Response: f.Input,
			})
			m.Hosts = append(m.Hosts, f.Hosts...)
		}
		return m.Pin("search_mail"), m.Pin("search_mail2")
	}
	v1, _ := pin("v1.json")
	require.False(t, v1.IsZero())
	for file, same := range map[string]bool{
		"v1-reordered.json": true, "v2-description.json": false, "v3-new-argument.json": false,
		"v4-new-host.json": false, "v5-new-function.json": true, "v6-version-only.json": true,
	} {
		got, other := pin(file)
		require.Equal(t, same, got == v1, file)
		require.Equal(t, file == "v5-new-function.json", !other.IsZero(), file)
		require.NotEqual(t, v1, other)
	}
}

func manifest() isc.Manifest {
	empty := isc.MustFormat(`{"type":"object","additionalProperties":false}`)
	return isc.Manifest{
		ID: "metro", Name: "Metro Hail", Version: "1.0.0",
		Functionalities: []isc.Functionality{{Name: "ride.fare", Request: empty, Response: empty, Effect: isc.Read}},
		Hosts:           []string{"api.metro.example"},
	}
}
