package hub_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

// move is one thing that a hostile spoke does.
type move struct {
	Kind    int
	Name    isc.FunctionalityName
	Body    string
	Which   int // of the handles that it ever saw
	Batch   int
	Listens bool
}

var moves = rapid.Custom(func(t *rapid.T) move {
	return move{
		Kind: rapid.IntRange(0, 9).Draw(t, "kind"),
		Name: rapid.SampledFrom([]isc.FunctionalityName{
			"vault.read", "vault.save", "vault.wipe", "vault.count", "vault.crash", "vault.unwanted",
			"nobody.serves", "rogue.work", "rogue.burn", "ride.fare", "no name",
		}).Draw(t, "name"),
		Body: rapid.SampledFrom([]string{
			`{}`, `{"name":"a"}`, `{"name":"b"}`, `{"text":"x"}`, `{"door":"front"}`, `{"door":"back"}`, `{"door":"front","text":"x"}`,
			`null`, `[]`, `{"text":7}`, `{"a":1,"a":2}`, `{`, `{"Door":"front"}`,
		}).Draw(t, "body"),
		Which:   rapid.IntRange(0, 20).Draw(t, "which"),
		Batch:   rapid.IntRange(1, 40).Draw(t, "batch"),
		Listens: rapid.IntRange(0, 9).Draw(t, "listens") > 0,
	}
})

// walker is a hostile spoke that does what was drawn. Its handles outlive
// tasks, spokes and runs.
type walker struct {
	mu      sync.Mutex
	handles []isc.Handle
	moves   []move
}

func (w *walker) play(p *peer) {
	for p.task() {
		for {
			w.mu.Lock()
			if len(w.moves) == 0 {
				w.mu.Unlock()
				p.done(`{"text":"end"}`)
				break
			}
			m := w.moves[0]
			w.moves = w.moves[1:]
			w.mu.Unlock()
			if over := w.do(p, m); over {
				break
			}
		}
	}
}

func (w *walker) do(p *peer, m move) (over bool) {
	sent := true
	switch m.Kind {
	case 0, 1:
		sent = p.say(isc.Probe{Functionality: m.Name})
	case 2, 3, 4:
		sent = p.say(w.request(m))
	case 5:
		sent = p.say(isc.Confirm{Functionality: m.Name, Body: json.RawMessage(m.Body)})
	case 6:
		sent = p.say(needs(m.Batch))
	case 7:
		p.say(isc.Progress{Text: m.Body})
		return false
	case 8:
		sent = p.frame([]byte(`{"type":"request","body":` + m.Body + `}`))
	case 9:
		return p.done(m.Body) || p.frame([]byte(m.Body)) && false
	}
	if !sent || !m.Listens {
		return false
	}
	if o, ok := p.hear().(isc.Offer); ok {
		w.mu.Lock()
		w.handles = append(w.handles, o.Handle)
		w.mu.Unlock()
	}
	return false
}

func (w *walker) request(m move) isc.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := isc.NewHandle()
	if len(w.handles) > 0 && m.Which > 0 {
		h = w.handles[max(0, len(w.handles)-m.Which)]
	}
	var r isc.Request
	for range m.Batch {
		r.Calls = append(r.Calls, isc.Call{Handle: h, Body: json.RawMessage(m.Body)})
	}
	return r
}

// TestHostileSpokeGetsNoMoreThanItsGrants is promise 1 as a random walk over
// everything that a spoke can say, with a person who answers at random: each
// body that reaches another app is covered by a decision of its own.
func TestHostileSpokeGetsNoMoreThanItsGrants(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &walker{moves: rapid.SliceOfN(moves, 1, 60).Draw(rt, "moves")}
		answers := rapid.SliceOfN(rapid.Bool(), 16, 16).Draw(rt, "answers")
		asked := 0
		s := &siege{person: &person{}}
		s.person.answer = func(r permission.Request) permission.Answer {
			asked++
			if answers[asked%len(answers)] {
				return saysYes(r)
			}
			return r.Answer(permission.Deny)
		}
		cfg := hub.Config{
			Apps: apps(rogue(), s.vault.app(), metro()), Consent: s.person, Audit: &s.audit, LLM: noModel(),
			Launcher: stage{plays: map[isc.AppID]func(*peer){"rogue": w.play}},
			Planner:  plans(map[string]string{"go": roguePlan}),
		}
		h := must(hub.New(cfg))
		s.Session = must(h.Session(hub.SessionConfig{User: "ada"}))
		for range 3 {
			e := runs(t, s.Session, "go")
			require.NoError(rt, e.err)
			require.Equal(rt, isc.StatusDone, e.step(t, "m").Status)
		}
		require.NoError(rt, h.Close())
		s.covered(rt)
		require.Empty(rt, s.vault.done("vault.unwanted"))
	})
}

// FuzzHostileSpoke gives the hub bare bytes for a spoke.
func FuzzHostileSpoke(f *testing.F) {
	frame := func(bodies ...string) []byte {
		var out []byte
		for _, b := range bodies {
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(b))), b...)
		}
		return out
	}
	f.Add(frame(`{"type":"result","body":{"status":"done","body":{"text":"x"}}}`))
	f.Add(frame(`{"type":"probe","body":{"functionality":"vault.wipe"}}`, `{"type":"request","body":{"calls":[{"handle":"AAAAAAAAAAAAAAAAAAAAAA","body":{}}]}}`))
	f.Add(frame(`{"type":"confirm","body":{"functionality":"vault.wipe","body":{"door":"front"}}}`))
	f.Add(frame(`{"type":"need_data","body":{"fields":[{"name":"home","purpose":"x"}]}}`, `{"type":"progress","body":{"text":"x"}}`))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{0, 0, 0})
	f.Add(bytes.Repeat([]byte{0, 0, 0, 0}, 64))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := besiege(t, nil, func(cfg *hub.Config) {
			cfg.Launcher = stage{bytes: map[isc.AppID]func(io.ReadWriteCloser){"rogue": func(rw io.ReadWriteCloser) {
				var heard sync.WaitGroup
				heard.Go(func() { _, _ = io.Copy(io.Discard, rw) })
				_, _ = rw.Write(raw)
				_ = rw.Close()
				heard.Wait()
			}}}
		})
		s.person.answer = saysYes
		e := runs(t, s.Session, "go")
		require.NoError(t, e.err)
		require.Equal(t, isc.StatusDone, e.step(t, "m").Status)
		require.Zero(t, s.vault.all(), "no handle can be guessed")
	})
}
