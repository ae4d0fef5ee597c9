//go:build unix

package spoke_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// pest is an app that does not speak the protocol but writes to the raw
// descriptors of its process.
func pest() spoke.App {
	app, err := spoke.New(isc.Manifest{ID: "pest", Name: "Pest"},
		spoke.Func("attack", func(_ context.Context, w words) (words, error) { return w, attacks[w.Text]() }, spoke.Reads()),
		spoke.Func("echo", func(_ context.Context, w words) (words, error) { return w, nil }, spoke.Reads()),
	)
	if err != nil {
		panic(err)
	}
	return app
}

// The connections of a spoke's process.
const (
	toHub  = 3
	toHost = 4
)

// attacks run in the process. They return when they can do no more.
var attacks = map[string]func() error{
	"garbage":            func() error { return put(toHub, []byte("GET / HTTP/1.1\r\n\r\n")) },
	"a lying length":     func() error { return put(toHub, binary.BigEndian.AppendUint32(nil, 1<<30)) },
	"half a frame":       func() error { _ = put(toHub, []byte("\x00\x00\x10\x00{")); os.Exit(9); return nil },
	"half a frame, held": func() error { _ = put(toHub, []byte("\x00\x00\x10\x00{")); select {} },
	"a byte a second": func() error {
		for {
			if err := put(toHub, []byte{0}); err != nil {
				return err
			}
			time.Sleep(time.Second)
		}
	},
	"no more reading":      func() error { select {} },
	"a flood of malformed": func() error { return repeat(toHub, []byte("\x00\x00\x00\x05hello")) },
	"a flood of progress":  func() error { return repeat(toHub, frame(`{"kind":"progress","text":"x"}`)) },
	"a flood of large frames": func() error {
		return repeat(toHub, frame(`{"kind":"progress","text":"`+strings.Repeat("x", isc.MaxFrame-100)+`"}`))
	},
	"garbage for the host": func() error { _ = repeat(toHost, []byte("\xff\xff\xff\xff")); select {} },
	"a flood of calls":     func() error { _ = repeat(toHost, frame(`{"records":{}}`)); select {} },
	"a lying call":         func() error { _ = put(toHost, []byte("\x00\x3f\xff\xff{")); select {} },
	"a flood of output":    func() error { return repeat(2, bytes.Repeat([]byte("y"), 64<<10)) },
	"sudden death":         func() error { os.Exit(1); return nil },
	"a fatal error":        func() error { return overflow(0) },
}

func overflow(n int) error {
	if n < 0 {
		return nil
	}
	return errors.Join(overflow(n + 1))
}

func frame(body string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// put writes all of b, however slowly it is taken.
func put(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := syscall.Write(fd, b)
		switch {
		case errors.Is(err, syscall.EAGAIN):
			time.Sleep(time.Millisecond)
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return err
		default:
			b = b[n:]
		}
	}
	return nil
}

func repeat(fd int, b []byte) error {
	for {
		if err := put(fd, b); err != nil {
			return err
		}
	}
}

// P9: whatever a spoke's process does to its connections, what this program holds
// for it stays bounded, other spokes answer, the wait for it ends by an error or
// its context, and nothing of it is left.
func TestP9AHubUnderAttackFromASpoke(t *testing.T) {
	for name, cfg := range everyKind() {
		t.Run(name, func(t *testing.T) {
			good := start(t, cfg, pest())
			for attack := range attacks {
				t.Run(attack, func(t *testing.T) { underAttack(t, cfg, attack, good) })
			}
		})
	}
}

func underAttack(t *testing.T, cfg spoke.ProcessConfig, attack string, good *spoke.Instance) {
	before := children()
	bad := start(t, cfg, pest())
	body, err := json.Marshal(words{attack})
	require.NoError(t, err)
	held := heap()
	require.NoError(t, bad.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskCall, Functionality: "attack", Body: body}))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	for err = nil; err == nil || errors.Is(err, isc.ErrMalformed) && ctx.Err() == nil; {
		_, err = bad.Conn.Recv(ctx)
	}
	require.Less(t, time.Since(began), 5*time.Second)
	require.Equal(t, "still here", answer(t, good, "echo", "still here"))
	require.Less(t, heap(), held+32<<20)
	require.NoError(t, bad.Conn.Close())
	require.Equal(t, before, children())
	requireTyped(t, err)
}

// requireTyped demands an error that a caller can branch on.
func requireTyped(t *testing.T, err error) {
	t.Helper()
	_, died := errors.AsType[*spoke.ProcessError](err)
	for _, known := range []error{isc.ErrMalformed, isc.ErrTooLarge, isc.ErrClosed, context.DeadlineExceeded} {
		died = died || errors.Is(err, known)
	}
	require.True(t, died, "%v", err)
}

// heap is what this program holds, garbage included.
func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
