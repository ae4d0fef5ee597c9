package hub_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

// peer is a spoke that a test plays itself: it may say anything, in any state,
// as messages or as bare bytes. What the hub replies waits in replies.
type peer struct {
	isc.SpokeConn
	raw     io.ReadWriteCloser
	replies chan isc.ToSpoke
	// http is the spoke's way to remote hosts; nil for none.
	http spoke.Fetcher
}

// say sends one message and does not wait for a reply. It says whether the hub
// still listens.
func (p *peer) say(m isc.ToHub) bool { return p.Send(context.Background(), m) == nil }

// ask sends one message and gives its reply, or nil if the hub has closed.
func (p *peer) ask(m isc.ToHub) isc.ToSpoke {
	if !p.say(m) {
		return nil
	}
	return p.hear()
}

func (p *peer) hear() isc.ToSpoke { return <-p.replies }

// frame sends bytes as one frame.
func (p *peer) frame(body []byte) bool {
	_, err := p.raw.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	return err == nil
}

// task waits for the next task. Without one the hub has closed.
func (p *peer) task() bool {
	for m := range p.replies {
		if _, ok := m.(isc.Task); ok {
			return true
		}
	}
	return false
}

// probe gives the handle that the hub offers, or the zero one.
func (p *peer) probe(name isc.FunctionalityName) isc.Handle {
	o, _ := p.ask(isc.Probe{Functionality: name}).(isc.Offer)
	return o.Handle
}

// done ends a task with a body.
func (p *peer) done(body string) bool {
	return p.say(isc.Result{Status: isc.StatusDone, Body: json.RawMessage(body)})
}

func use(h isc.Handle, body string) isc.Request {
	return isc.Request{Calls: []isc.Call{{Handle: h, Body: json.RawMessage(body)}}}
}

// stage is a launcher: some apps are played by the test, all others run as
// they are.
type stage struct {
	plays map[isc.AppID]func(*peer)
	// bytes are plays that get nothing but the bytes.
	bytes map[isc.AppID]func(io.ReadWriteCloser)
	// isolation is claimed for those that are played; nil claims none.
	isolation *isc.Isolation
}

func (s stage) Launch(ctx context.Context, spec spoke.Spec) (*spoke.Instance, error) {
	id := isc.Vanilla
	if spec.App != nil {
		id = spec.App.Manifest().ID
	}
	near, far := net.Pipe()
	var all sync.WaitGroup
	switch {
	case s.plays[id] != nil:
		p := &peer{SpokeConn: isc.NewSpokeConn(far), raw: far, replies: make(chan isc.ToSpoke, 4096), http: spec.HTTP}
		all.Go(func() {
			defer close(p.replies)
			for {
				m, err := p.Recv(context.Background())
				if err != nil {
					return
				}
				p.replies <- m
			}
		})
		all.Go(func() {
			defer func() { _ = p.Close() }()
			s.plays[id](p)
		})
	case s.bytes[id] != nil:
		all.Go(func() {
			defer func() { _ = far.Close() }()
			s.bytes[id](far)
		})
	default:
		return spoke.InProcess().Launch(ctx, spec)
	}
	claimed := isc.Isolation{Name: "test"}
	if s.isolation != nil {
		claimed = *s.isolation
	}
	return &spoke.Instance{Conn: waited{isc.NewHubConn(near), &all}, Isolation: claimed}, nil
}

// waited is a connection whose Close waits for the peer's goroutines.
type waited struct {
	isc.HubConn
	all *sync.WaitGroup
}

func (w waited) Close() error {
	err := w.HubConn.Close()
	w.all.Wait()
	return err
}

// vault is the app that hostile peers are after. It keeps the canonical bodies
// of everything that was done with it.
type vault struct {
	mu    sync.Mutex
	calls map[isc.FunctionalityName][]string
}

func (v *vault) did(name isc.FunctionalityName, in any) {
	raw := must(json.Marshal(in))
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.calls == nil {
		v.calls = map[isc.FunctionalityName][]string{}
	}
	v.calls[name] = append(v.calls[name], string(must(isc.Canonical(raw))))
}

func (v *vault) done(name isc.FunctionalityName) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string(nil), v.calls[name]...)
}

func (v *vault) all() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := 0
	for _, c := range v.calls {
		n += len(c)
	}
	return n
}

type doorTo struct {
	Door string `json:"door" isolate:"role=destination"`
}

// app is the vault: reading gives free text, saving can be undone, wiping
// cannot.
func (v *vault) app() spoke.App {
	return must(spoke.New(isc.Manifest{ID: "vault", Name: "Vault"},
		spoke.Func("vault.read", func(_ context.Context, f file) (note, error) {
			v.did("vault.read", f)
			return note{"secret of " + f.Name}, nil
		}, spoke.Reads()),
		spoke.Func("vault.save", func(_ context.Context, n note) (sent, error) {
			v.did("vault.save", n)
			return sent{1}, nil
		}, spoke.Writes()),
		spoke.Func("vault.wipe", func(_ context.Context, d doorTo) (sent, error) {
			v.did("vault.wipe", d)
			return sent{1}, nil
		}),
		spoke.Func("vault.move", func(_ context.Context, d doorTo) (sent, error) {
			v.did("vault.move", d)
			return sent{1}, nil
		}, spoke.Writes()),
		spoke.Func("vault.count", func(_ context.Context, e empty) (sent, error) {
			v.did("vault.count", e)
			return sent{7}, nil
		}, spoke.Reads()),
		spoke.Func("vault.crash", func(_ context.Context, n note) (sent, error) {
			v.did("vault.crash", n)
			panic("the vault's handler")
		}, spoke.Reads()),
		// unwanted: no manifest here wants it.
		spoke.Func("vault.unwanted", func(_ context.Context, e empty) (sent, error) {
			v.did("vault.unwanted", e)
			return sent{1}, nil
		}, spoke.Reads()),
	))
}

// rogue is the app whose spoke the attacker has: what it really does is played.
func rogue() spoke.App {
	never := func(context.Context, note) (note, error) { return note{}, nil }
	return must(spoke.New(isc.Manifest{
		ID: "rogue", Name: "Rogue", Instructions: "You are helpful.",
		Wants: []isc.FunctionalityName{"vault.read", "vault.save", "vault.wipe", "vault.move", "vault.count", "vault.crash", "nobody.serves"},
	},
		spoke.Func("rogue.work", never, spoke.Reads()),
		spoke.Func("rogue.burn", never),
	))
}

// roguePlan uses the rogue, and beside it an app that has nothing to do with it.
const roguePlan = `{"steps":[
	{"id":"r","do":"call","functionality":"rogue.work","args":{"text":"go"}},
	{"id":"m","do":"call","functionality":"ride.fare","app":"metro_hail","args":{"from":"Main Street","to":"Elm Avenue"}}],
	"answer":{"template":["Fare ",{"step":"m","pointer":"/fare"},". Rogue: ",{"step":"r","pointer":"/text"}]}}`

// siege is a hub with a rogue spoke beside honest ones.
type siege struct {
	vault  vault
	person *person
	audit  hub.MemoryAudit
	*hub.Session
}

// besiege opens a hub whose rogue is played by play.
func besiege(t testing.TB, play func(*peer), change ...func(*hub.Config)) *siege {
	t.Helper()
	s := &siege{person: &person{}}
	cfg := hub.Config{
		Apps: []spoke.App{rogue(), s.vault.app(), metro()}, Consent: s.person, Audit: &s.audit,
		Launcher: stage{plays: map[isc.AppID]func(*peer){"rogue": play}},
		Planner:  plans(map[string]string{"go": roguePlan, "again": roguePlan}),
	}
	for _, c := range change {
		c(&cfg)
	}
	s.Session = open(t, cfg)
	return s
}

// ending is how a run ended, with what was seen on the way.
type ending struct {
	answer hub.Answer
	err    error
	events []hub.Event
}

// runs drains a run and fails if it does not end.
func runs(t testing.TB, s *hub.Session, text string, opts ...hub.Option) ending {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var e ending
	answered := 0
	for ev, err := range s.Run(ctx, text, opts...) {
		if err != nil {
			e.err = err
			continue
		}
		e.events = append(e.events, ev)
		if a, ok := ev.(hub.Answered); ok {
			e.answer = a.Answer
			answered++
		}
	}
	if ctx.Err() != nil {
		t.Error("the run hung")
	}
	if e.err == nil && answered != 1 {
		t.Errorf("a run without an error gave %d answers", answered)
	}
	return e
}

// step is how a step ended.
func (e ending) step(t testing.TB, id string) hub.StepOutcome {
	t.Helper()
	for _, o := range e.answer.Steps {
		if o.Step == id {
			return o
		}
	}
	require.Fail(t, "no such step", id)
	return hub.StepOutcome{}
}

// decided are the questions that were decided, with how.
func (e ending) decided() []hub.Decided {
	var out []hub.Decided
	for _, ev := range e.events {
		if d, ok := ev.(hub.Decided); ok {
			out = append(out, d)
		}
	}
	return out
}

// dropped counts the messages that were not legal.
func (e ending) dropped() int {
	n := 0
	for _, ev := range e.events {
		if _, ok := ev.(hub.Dropped); ok {
			n++
		}
	}
	return n
}

// covered is the oracle: each body that reached the vault has a decision in the
// trail that allowed exactly these bytes, and no decision serves twice.
func (s *siege) covered(t require.TestingT) {
	records := s.audit.Records()
	spent := map[int]bool{}
	for name, bodies := range s.vault.calls {
		for _, body := range bodies {
			found := false
			for i, r := range records {
				if !spent[i] && allows(r, name, body) {
					spent[i], found = true, true
					break
				}
			}
			require.True(t, found, "%s %s reached the vault and nothing allowed it", name, body)
		}
	}
}

func allows(r hub.Record, name isc.FunctionalityName, body string) bool {
	kind := r.Detail == permission.Collaborate.String() || r.Detail == permission.Irreversible.String()
	return r.Event == "decision" && kind && r.Decision != permission.Deny.String() && r.App == "vault" && r.From == "rogue" &&
		r.Functionality == name && r.Digest == isc.DigestOf([]byte(body))
}

// yes allows once what kinds says, and denies the rest.
func yes(kinds ...permission.Kind) func(permission.Request) permission.Answer {
	return func(r permission.Request) permission.Answer {
		for _, k := range kinds {
			if r.Kind == k {
				return saysYes(r)
			}
		}
		return r.Answer(permission.Deny)
	}
}

func apps(all ...spoke.App) []spoke.App { return all }
