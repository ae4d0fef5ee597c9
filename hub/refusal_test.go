package hub_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

// wire is a spoke's end as bytes, so that a test sees what a spoke sees.
type wire struct {
	t  *testing.T
	rw io.ReadWriteCloser
}

func (w wire) send(body string) {
	_, err := w.rw.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	require.NoError(w.t, err)
}

// read gives the whole next frame.
func (w wire) read() string {
	var size [4]byte
	_, err := io.ReadFull(w.rw, size[:])
	require.NoError(w.t, err)
	body := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err = io.ReadFull(w.rw, body)
	require.NoError(w.t, err)
	return string(size[:]) + string(body)
}

func (w wire) ask(body string) string {
	w.send(body)
	return w.read()
}

func (w wire) probe(name string) string {
	return w.ask(`{"type":"probe","body":{"functionality":"` + name + `"}}`)
}

// offered gives the handle and the rest of an offer.
func (w wire) offered(name string) (handle, rest string) {
	var frame struct {
		Type string
		Body struct {
			Handle            string
			Request, Response json.RawMessage
		}
	}
	raw := w.probe(name)
	require.NoError(w.t, json.Unmarshal([]byte(raw[4:]), &frame))
	require.Equal(w.t, "offer", frame.Type, raw)
	return frame.Body.Handle, string(frame.Body.Request) + string(frame.Body.Response)
}

func (w wire) request(handle, body string) string {
	return w.ask(`{"type":"request","body":{"calls":[{"handle":"` + handle + `","body":` + body + `}]}}`)
}

// overWire runs one task of the rogue as bytes.
func overWire(t *testing.T, play func(wire), change ...func(*siege, *hub.Config)) *siege {
	t.Helper()
	var s *siege
	failed := make(chan struct{})
	s = besiege(t, nil, func(cfg *hub.Config) {
		cfg.Launcher = stage{bytes: map[isc.AppID]func(io.ReadWriteCloser){"rogue": func(rw io.ReadWriteCloser) {
			defer close(failed)
			w := wire{t, rw}
			w.read() // the task
			play(w)
			w.send(`{"type":"result","body":{"status":"done","body":{"text":"x"}}}`)
		}}}
		cfg.Known = []isc.Functionality{nobodyServes}
		for _, c := range change {
			c(s, cfg)
		}
	})
	s.person.answer = yes(permission.Collaborate, permission.ApprovePlan)
	require.NoError(t, runs(t, s.Session, "go").err)
	<-failed
	return s
}

// nobodyServes is known and not installed.
var nobodyServes = isc.Functionality{
	Name: "nobody.serves", Effect: isc.Read, Request: sentenceIn, Response: sentenceIn,
}

var sentenceIn = isc.MustFormat(`{"type":"object","additionalProperties":false,"properties":{"text":{"type":"string"}},"required":["text"]}`)

// TestNotInstalledDeniedMalformedAndFailedGiveASpokeTheSameBytes is promise 5
// and scenario C4: a spoke cannot list what is installed, or tell a person's no
// from an app's failure.
func TestNotInstalledDeniedMalformedAndFailedGiveASpokeTheSameBytes(t *testing.T) {
	replies := map[string]string{}
	overWire(t, func(w wire) {
		replies["not wanted"] = w.probe("vault.unwanted")
		replies["not wanted and not there"] = w.probe("no.such")
		replies["malformed"] = w.ask(`garbage`)
		replies["of the other direction"] = w.ask(`{"type":"task","body":{}}`)
		replies["a forged handle"] = w.request("AAAAAAAAAAAAAAAAAAAAAA", `{}`)
		replies["nothing to confirm"] = w.ask(`{"type":"confirm","body":{"functionality":"vault.wipe","body":{"door":"front"}}}`)
		replies["data that nobody has"] = w.ask(`{"type":"need_data","body":{"fields":[{"name":"home","purpose":"x"}]}}`)
		known, _ := w.offered("nobody.serves")
		replies["not installed"] = w.request(known, `{"text":"x"}`)
		crash, _ := w.offered("vault.crash")
		replies["failed"] = w.request(crash, `{"text":"x"}`)
		replies["a body of another format"] = w.request(crash, `{"text":7}`)
		reads, _ := w.offered("vault.read")
		replies["answer not delivered"] = w.request(reads, `{"name":"a"}`)
	})
	overWire(t, func(w wire) {
		replies["not wanted of the person"] = w.probe("vault.read")
		replies["asked again"] = w.probe("vault.read")
	}, func(s *siege, cfg *hub.Config) { cfg.Consent = nil })
	overWire(t, func(w wire) {
		replies["not there"] = w.probe("vault.read")
		replies["its app not there"] = w.probe("vault.crash")
	}, func(s *siege, cfg *hub.Config) { cfg.Apps = []spoke.App{rogue(), metro()} })
	for why, got := range replies {
		require.Equal(t, replies["malformed"], got, why)
	}
	require.Contains(t, replies["malformed"], `"refused"`)
}

// TestCallsOfABatchThatWereNotServedLookTheSame holds the same inside one reply.
func TestCallsOfABatchThatWereNotServedLookTheSame(t *testing.T) {
	var reply string
	s := overWire(t, func(w wire) {
		known, _ := w.offered("nobody.serves")
		crash, _ := w.offered("vault.crash")
		reads, _ := w.offered("vault.read")
		counts, _ := w.offered("vault.count")
		reply = w.ask(`{"type":"request","body":{"calls":[` +
			`{"handle":"` + known + `","body":{"text":"x"}},` +
			`{"handle":"` + crash + `","body":{"text":"x"}},` +
			`{"handle":"` + crash + `","body":{"text":7}},` +
			`{"handle":"` + reads + `","body":{"name":"a"}},` +
			`{"handle":"` + counts + `","body":{}}]}}`)
	})
	require.JSONEq(t, `{"type":"response","body":{"bodies":[null,null,null,null,{"id":7}]}}`, reply[4:])
	require.Len(t, s.vault.done("vault.crash"), 1)
	require.Len(t, s.vault.done("vault.read"), 1)
}

// TestAnOfferSaysNothingAboutWhatIsInstalled: what the program vouches for is
// offered with the same formats, installed or not, without a dialog.
func TestAnOfferSaysNothingAboutWhatIsInstalled(t *testing.T) {
	vouched := must((&vault{}).app(), error(nil)).Manifest()
	read, _ := vouched.Find("vault.read")
	offers := map[string]string{}
	for name, installed := range map[string]bool{"installed": true, "not installed": false} {
		s := overWire(t, func(w wire) { _, offers[name] = w.offered("vault.read") }, func(s *siege, cfg *hub.Config) {
			cfg.Known = append(cfg.Known, read)
			if !installed {
				cfg.Apps = []spoke.App{rogue(), metro()}
			}
		})
		require.Empty(t, s.person.kinds(), name)
	}
	require.Equal(t, offers["installed"], offers["not installed"])
}

// market is a catalogue in memory.
type market struct {
	apps   []spoke.App
	opened int
}

func (m *market) List(context.Context) ([]isc.Manifest, error) {
	var out []isc.Manifest
	for _, a := range m.apps {
		out = append(out, a.Manifest())
	}
	return out, nil
}

func (m *market) Open(_ context.Context, id isc.AppID) (spoke.App, error) {
	m.opened++
	for _, a := range m.apps {
		if a.Manifest().ID == id {
			return a, nil
		}
	}
	return nil, hub.ErrUnknownApp
}

// TestAnOfferOfTheMarketDoesNotTellOfAnInstalledApp: an app serves under a name
// that the market has too, in a format of its own. The offer of that format
// would tell that it is there.
func TestAnOfferOfTheMarketDoesNotTellOfAnInstalledApp(t *testing.T) {
	listed := must(spoke.New(isc.Manifest{ID: "depot", Name: "Depot"}, spoke.Func("vault.read", func(context.Context, note) (sent, error) { return sent{}, nil }, spoke.Reads())))
	var first string
	s := overWire(t, func(w wire) { first = w.probe("vault.read") }, func(s *siege, cfg *hub.Config) {
		cfg.Catalogue = &market{apps: apps(listed)}
		cfg.Consent = nil
	})
	require.NotContains(t, first, `"name"`, "the installed app's format")
	require.Zero(t, s.vault.all())
}
