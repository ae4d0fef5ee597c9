package spoketest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/spoke"
)

// endCases are about how a spoke ends.
var endCases = []testCase{
	{"closing twice and at once is closing", func(t *testing.T, l spoke.Launcher) {
		spec, _ := plain(t)
		d := launch(t, l, spec)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { _ = d.instance.Conn.Close() })
		}
		all.Wait()
		d.gone()
	}},
	{"a spoke that hangs is ended by Close", func(t *testing.T, l spoke.Launcher) {
		d := begin(t, l, "note.hang", "x")
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := d.instance.Conn.Recv(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, d.instance.Conn.Close())
	}},
	{"Close ends a Recv that waits", func(t *testing.T, l spoke.Launcher) {
		d := begin(t, l, "note.hang", "x")
		got := make(chan error, 1)
		go func() {
			_, err := d.instance.Conn.Recv(t.Context())
			got <- err
		}()
		time.Sleep(20 * time.Millisecond)
		require.NoError(t, d.instance.Conn.Close())
		require.Error(t, <-got)
	}},
	{"Close ends a model call that waits", func(t *testing.T, l spoke.Launcher) {
		entered := make(chan struct{})
		wait := llm.Func(func(ctx context.Context, _ *llm.Request) (*llm.Response, error) {
			close(entered)
			<-ctx.Done()
			return nil, context.Cause(ctx)
		})
		d := launch(t, l, spoke.Spec{App: workshop(), LLM: wait})
		d.send(task(isc.Task{Text: "Wait."}))
		<-entered
		require.NoError(t, d.instance.Conn.Close())
	}},
	{"E6 the death of a spoke ends Recv with an error", func(t *testing.T, l spoke.Launcher) {
		spec, _ := plain(t)
		d := launch(t, l, spec)
		how := "goroutine"
		if d.instance.Isolation.Name != "in-process" {
			how = "process"
		}
		d.call("note.die", how)
		d.gone()
	}},
	{"E6 a spoke's crash leaves the next spoke alone", func(t *testing.T, l spoke.Launcher) {
		spec, _ := plain(t)
		one, two := launch(t, l, spec), launch(t, l, spec)
		how := "goroutine"
		if one.instance.Isolation.Name != "in-process" {
			how = "process"
		}
		one.call("note.die", how)
		one.gone()
		two.call("note.echo", "here")
		require.JSONEq(t, `{"text":"here"}`, two.done())
	}},
	{"a panicking model is contained", func(t *testing.T, l spoke.Launcher) {
		m := llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) { panic(Secret) })
		d := launch(t, l, spoke.Spec{App: workshop(), LLM: m})
		d.send(task(isc.Task{Text: "Do."}))
		d.ended(isc.StatusFailed)
		d.call("note.echo", "here")
		require.JSONEq(t, `{"text":"here"}`, d.done())
	}},
	{"a launch whose context has ended starts nothing", func(t *testing.T, l spoke.Launcher) {
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop")
		cancel(stop)
		spec, _ := plain(t)
		_, err := l.Launch(ctx, spec)
		require.ErrorIs(t, err, stop)
	}},
	{"the context of Launch does not end the spoke", func(t *testing.T, l spoke.Launcher) {
		spec, _ := plain(t)
		ctx, cancel := context.WithCancel(t.Context())
		instance, err := l.Launch(ctx, spec)
		require.NoError(t, err)
		cancel()
		d := &driver{T: t, instance: instance}
		d.call("note.echo", "here")
		require.JSONEq(t, `{"text":"here"}`, d.done())
		require.NoError(t, instance.Conn.Close())
	}},
}
