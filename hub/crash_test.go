package hub_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

// framed is body as one frame.
func framed(body string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// writesOn writes data again and again until the hub closes.
func writesOn(data []byte) func(io.ReadWriter) {
	return func(rw io.ReadWriter) {
		for {
			if _, err := rw.Write(data); err != nil {
				return
			}
		}
	}
}

// listening reads beside an attack, so that the hub is never held up by its own
// words.
func listening(attack func(io.ReadWriter)) func(io.ReadWriter) {
	return func(rw io.ReadWriter) {
		go func() { _, _ = io.Copy(io.Discard, rw) }()
		attack(rw)
	}
}

func waitsForEnd(rw io.ReadWriter) { _, _ = io.Copy(io.Discard, rw) }

// heard reads until one whole frame has come.
func heard(rw io.ReadWriter) {
	var header [4]byte
	_, _ = io.ReadFull(rw, header[:])
	_, _ = io.CopyN(io.Discard, rw, int64(binary.BigEndian.Uint32(header[:])))
}

var attacks = map[string]struct {
	attack func(io.ReadWriter)
	status isc.Status
}{
	"garbage without frames":    {listening(writesOn([]byte("\xffgarbage\x00\n"))), isc.StatusFailed},
	"garbage in frames":         {listening(writesOn(framed("gar\x00bage"))), isc.StatusBudget},
	"empty frames":              {listening(writesOn(framed(""))), isc.StatusBudget},
	"deep nesting":              {listening(writesOn(framed(strings.Repeat("[", isc.MaxFrame)))), isc.StatusBudget},
	"huge numbers":              {listening(writesOn(framed(`{"type":"result","body":{"status":"done","body":1e2000000}}`))), isc.StatusBudget},
	"unknown messages":          {listening(writesOn(framed(`{"type":"grant","body":{}}`))), isc.StatusBudget},
	"a flood of progress":       {listening(writesOn(framed(`{"type":"progress","body":{"text":"x"}}`))), isc.StatusBudget},
	"a flood of great progress": {listening(writesOn(framed(`{"type":"progress","body":{"text":"` + strings.Repeat("x", 1<<19) + `"}}`))), isc.StatusBudget},
	"a flood of probes":         {listening(writesOn(framed(`{"type":"probe","body":{"functionality":"vault.count"}}`))), isc.StatusBudget},
	"a flood, and no ear for it": {func(rw io.ReadWriter) {
		heard(rw)
		writesOn(framed(`{"type":"probe","body":{"functionality":"vault.count"}}`))(rw)
	}, isc.StatusFailed},
	"a frame of 1 GiB, announced": {listening(func(rw io.ReadWriter) { _, _ = rw.Write([]byte{0x40, 0, 0, 0}); waitsForEnd(rw) }), isc.StatusFailed},
	"a frame of 1 GiB, sent": {listening(func(rw io.ReadWriter) {
		_, _ = rw.Write([]byte{0x40, 0, 0, 0})
		writesOn(make([]byte, 1<<20))(rw)
	}), isc.StatusFailed},
	"half a header, and death":    {func(rw io.ReadWriter) { heard(rw); _, _ = rw.Write([]byte{0, 0}) }, isc.StatusFailed},
	"half a frame, and death":     {func(rw io.ReadWriter) { heard(rw); _, _ = rw.Write([]byte{0, 0, 1, 0, '{'}) }, isc.StatusFailed},
	"half a frame, and silence":   {func(rw io.ReadWriter) { heard(rw); _, _ = rw.Write([]byte{0, 0, 1, 0, '{'}); waitsForEnd(rw) }, isc.StatusFailed},
	"a byte a second":             {listening(func(rw io.ReadWriter) { drips(rw, framed(`{"type":"progress","body":{"text":"x"}}`)) }), isc.StatusFailed},
	"death before the task":       {func(io.ReadWriter) {}, isc.StatusFailed},
	"death after the task":        {heard, isc.StatusFailed},
	"silence":                     {waitsForEnd, isc.StatusFailed},
	"silence, and no ear":         {func(rw io.ReadWriter) { _, _ = rw.Write([]byte("\x00")) }, isc.StatusFailed},
	"a result, and a flood of it": {listening(writesOn(framed(`{"type":"result","body":{"status":"failed"}}`))), isc.StatusFailed},
}

func drips(rw io.ReadWriter, data []byte) {
	for i := 0; ; i = (i + 1) % len(data) {
		if _, err := rw.Write(data[i : i+1]); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// TestAHubAttackedFromASpokeServesOn: whatever a spoke does to its connection ends
// its own step, with a typed error, in bounded time and memory. The other app of
// the run is served, and the next request gets a fresh spoke.
func TestAHubAttackedFromASpokeServesOn(t *testing.T) {
	for name, c := range attacks {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				spokes := 0
				s := besiege(t, nil, func(cfg *hub.Config) {
					cfg.Limits.Silence = 10 * time.Second
					cfg.Launcher = stage{bytes: map[isc.AppID]func(io.ReadWriteCloser){"rogue": func(rw io.ReadWriteCloser) {
						mu.Lock()
						spokes++
						attacking := spokes == 1
						mu.Unlock()
						if attacking {
							c.attack(rw)
							return
						}
						heard(rw)
						_, _ = rw.Write(framed(`{"type":"result","body":{"status":"done","body":{"text":"well"}}}`))
						waitsForEnd(rw)
					}}}
				})
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				start := time.Now()
				e := runs(t, s.Session, "go")
				runtime.ReadMemStats(&after)
				require.NoError(t, e.err)
				require.LessOrEqual(t, time.Since(start), 25*time.Second)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200<<20), "all of it, garbage included")
				require.Equal(t, c.status.String(), e.step(t, "r").Status.String())
				if name != "a result, and a flood of it" {
					lost, ok := errors.AsType[*hub.LostError](e.step(t, "r").Err)
					require.True(t, ok, "%v", e.step(t, "r").Err)
					require.Equal(t, isc.AppID("rogue"), lost.App)
				}
				require.Equal(t, isc.StatusDone, e.step(t, "m").Status)
				require.Contains(t, e.answer.Text, "Fare 51.80")
				require.Zero(t, s.vault.all())

				e = runs(t, s.Session, "again")
				require.NoError(t, e.err)
				if name != "a result, and a flood of it" { // whose spoke was well when it was given back
					require.Equal(t, isc.StatusDone, e.step(t, "r").Status, "a fresh spoke: %v", e.step(t, "r").Err)
				}
				require.Equal(t, isc.StatusDone, e.step(t, "m").Status)
			})
		})
	}
}

// TestAFloodIsSlowed: what needs no reply is taken no faster than it can be shown.
func TestAFloodIsSlowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for n, least := range map[int]time.Duration{60: 0, 200: 1360 * time.Millisecond} {
			s := besiege(t, func(p *peer) {
				p.task()
				for range n {
					p.say(isc.Progress{Text: "x"})
				}
				p.done(`{"text":"x"}`)
			})
			start := time.Now()
			require.Equal(t, isc.StatusDone, runs(t, s.Session, "go").step(t, "r").Status)
			require.Equal(t, least, time.Since(start))
		}
	})
}

// TestAnAppThatKeepsCrashingIsStartedNoMore: in this session, in private runs,
// too; everything else goes on, and another session starts it again.
func TestAnAppThatKeepsCrashingIsStartedNoMore(t *testing.T) {
	for name, c := range map[string]struct {
		limit int
		opts  []hub.Option
		want  int
	}{
		"by default": {0, nil, 3},
		"at once":    {1, nil, 1},
		"privately":  {2, []hub.Option{hub.Private()}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			starts := 0
			s := besiege(t, func(p *peer) { starts++; p.task() }, func(cfg *hub.Config) { cfg.Limits.Crashes = c.limit })
			for i := range c.want + 3 {
				e := runs(t, s.Session, "go", c.opts...)
				require.NoError(t, e.err)
				require.Equal(t, isc.StatusDone, e.step(t, "m").Status)
				step := e.step(t, "r")
				require.Equal(t, isc.StatusFailed, step.Status)
				loop, looping := errors.AsType[*hub.CrashLoopError](step.Err)
				require.Equal(t, i >= c.want, looping, "%v", step.Err)
				if looping {
					require.Equal(t, &hub.CrashLoopError{App: "rogue", Crashes: c.want}, loop)
					require.Contains(t, step.Reason, "rogue")
				}
			}
			require.Equal(t, c.want, starts)
		})
	}
	t.Run("another session", func(t *testing.T) {
		starts := 0
		h, err := hub.New(hub.Config{
			LLM: noModel(), Apps: apps(rogue(), metro()), Planner: plans(map[string]string{"go": roguePlan}), Limits: hub.Limits{Crashes: 1},
			Launcher: stage{plays: map[isc.AppID]func(*peer){"rogue": func(p *peer) { starts++; p.task() }}},
		})
		require.NoError(t, err)
		for range 2 {
			s, err := h.Session(hub.SessionConfig{User: "ada"})
			require.NoError(t, err)
			runs(t, s, "go")
			runs(t, s, "go")
		}
		require.NoError(t, h.Close())
		require.Equal(t, 2, starts)
	})
}

// failing is a launcher that starts no spoke of rogue.
type failing struct {
	stage
	err   func(context.Context) error
	tried *int
}

func (f failing) Launch(ctx context.Context, spec spoke.Spec) (*spoke.Instance, error) {
	if spec.App != nil && spec.App.Manifest().ID == "rogue" {
		*f.tried++
		return nil, f.err(ctx)
	}
	return f.stage.Launch(ctx, spec)
}

// TestAnAppThatKeepsFailingToStartIsStartedNoMore: a start that fails counts like
// a spoke that is lost, but not where nothing was tried or the hub gave it up.
func TestAnAppThatKeepsFailingToStartIsStartedNoMore(t *testing.T) {
	for name, c := range map[string]struct {
		err   func(context.Context) error
		tried int
	}{
		"it fails":       {func(context.Context) error { return errFault }, 2},
		"it panics":      {func(context.Context) error { panic(errFault) }, 2},
		"it is not met":  {func(context.Context) error { return &spoke.UnmetError{App: "rogue", Missing: isc.NoFiles} }, 5},
		"its app is not": {func(context.Context) error { return hub.ErrUnknownApp }, 5},
	} {
		t.Run(name, func(t *testing.T) {
			tried := 0
			s := besiege(t, nil, func(cfg *hub.Config) {
				cfg.Limits.Crashes, cfg.Launcher = 2, failing{err: c.err, tried: &tried}
			})
			for range 5 {
				e := runs(t, s.Session, "go")
				require.NoError(t, e.err)
				require.Equal(t, isc.StatusDone, e.step(t, "m").Status)
				_, looping := errors.AsType[*hub.CrashLoopError](e.step(t, "r").Err)
				_, failed := errors.AsType[*hub.LaunchError](e.step(t, "r").Err)
				require.NotEqual(t, looping, failed, "%v", e.step(t, "r").Err)
			}
			require.Equal(t, c.tried, tried)
		})
	}
}

// TestARunThatIsCancelledIsNoFailedStart, however often.
func TestARunThatIsCancelledIsNoFailedStart(t *testing.T) {
	tried := 0
	starting := make(chan struct{}, 1)
	s := besiege(t, nil, func(cfg *hub.Config) {
		cfg.Limits.Crashes = 1
		cfg.Launcher = failing{tried: &tried, err: func(ctx context.Context) error {
			starting <- struct{}{}
			<-ctx.Done()
			return context.Cause(ctx)
		}}
	})
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-starting; cancel() }()
		_, err := s.Ask(ctx, "go")
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Equal(t, 3, tried)
}

// TestARunThatIsCancelledIsNoCrash: what the hub ends itself is not the app's.
func TestARunThatIsCancelledIsNoCrash(t *testing.T) {
	begun := make(chan struct{}, 1)
	s := besiege(t, func(p *peer) {
		for p.task() {
			begun <- struct{}{}
			<-p.replies
		}
	}, func(cfg *hub.Config) { cfg.Limits.Crashes = 1 })
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, err := s.Ask(ctx, "go")
			require.ErrorIs(t, err, context.Canceled)
		}()
		select {
		case <-begun:
		case <-ended:
			require.Fail(t, "the app is started no more")
		}
		cancel()
		<-ended
	}
}

// TestAWarmSpokeThatDiedIsReplaced: it got nothing of the task, so nothing is done
// twice, and it counts for nothing.
func TestAWarmSpokeThatDiedIsReplaced(t *testing.T) {
	died := make(chan struct{}, 1)
	starts := 0
	s := besiege(t, func(p *peer) {
		starts++
		if p.task() {
			p.done(`{"text":"x"}`)
			_ = p.Close()
			died <- struct{}{}
		}
	})
	for range 5 {
		e := runs(t, s.Session, "go")
		require.NoError(t, e.err)
		require.Equal(t, isc.StatusDone, e.step(t, "r").Status, "%v", e.step(t, "r").Err)
		<-died
	}
	require.Equal(t, 5, starts)
}

// TestAnAppThatCannotServeLooksTheSameToWhoAsks: a lost spoke, and one that is
// started no more, give the asking app what a denial gives.
func TestAnAppThatCannotServeLooksTheSameToWhoAsks(t *testing.T) {
	var replies []isc.ToSpoke
	s := besiege(t, nil, func(cfg *hub.Config) {
		cfg.Limits.Crashes = 1
		cfg.Launcher = stage{plays: map[isc.AppID]func(*peer){
			"vault": func(p *peer) { p.task() },
			"rogue": func(p *peer) {
				p.task()
				h := p.probe("vault.count")
				for range 3 {
					replies = append(replies, p.ask(use(h, `{}`)))
				}
				p.done(`{"text":"x"}`)
			},
		}}
	})
	s.person.answer = func(r permission.Request) permission.Answer { return r.Answer(permission.AllowSession) }
	require.NoError(t, runs(t, s.Session, "go").err)
	require.Equal(t, []isc.ToSpoke{isc.Refused{}, isc.Refused{}, isc.Refused{}}, replies)
}

var _ spoke.Launcher = stage{}
