package foreign_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/foreign"
)

const echo = `
import sys
print("error side", file=sys.stderr, flush=True)
for line in sys.stdin:
    print("heard", line.strip(), flush=True)
print("end", flush=True)
`

func TestAProgramIsTalkedToByItsStandardStreams(t *testing.T) {
	p := start(t, python(t).script(t, "echo.py", echo))
	out := bufio.NewReader(p.Stdout())
	for _, word := range []string{"one", "two"} {
		_, err := io.WriteString(p.Stdin(), word+"\n")
		require.NoError(t, err)
		line, err := out.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "heard "+word+"\n", line)
	}
	require.NoError(t, p.Err())
	require.NoError(t, p.Stdin().Close())
	rest, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Equal(t, "end\n", string(rest))
	<-p.Done()
	require.Equal(t, "error side\n", p.Output())
	var ended *spoke.ProcessError
	require.ErrorAs(t, p.Err(), &ended)
	require.Equal(t, "exit status 0", ended.State)
}

func TestAProgramHasWhatIsDemanded(t *testing.T) {
	p := start(t, python(t).script(t, "echo.py", echo))
	require.Equal(t, "program", p.Isolation().Name)
	require.True(t, p.Isolation().Has.Has(isc.FullIsolation), p.Isolation())
	require.NotEmpty(t, p.Isolation().Layers)
}

func TestDeathIsNoticedAtOnce(t *testing.T) {
	p := start(t, python(t).script(t, "die.py", `import os; print("x", flush=True); input(); os._exit(7)`))
	out := bufio.NewReader(p.Stdout())
	_, err := out.ReadString('\n')
	require.NoError(t, err)
	begin := time.Now()
	_, err = io.WriteString(p.Stdin(), "\n")
	require.NoError(t, err)
	_, err = out.ReadString('\n')
	require.ErrorIs(t, err, io.EOF)
	<-p.Done()
	require.Less(t, time.Since(begin), 2*time.Second)
	require.ErrorContains(t, p.Err(), "exit status 7")
	_, err = p.Stdin().Write([]byte("x"))
	require.ErrorIs(t, err, syscall.EPIPE)
}

func TestKillableTheLadderEndsAProgramThatIgnoresIt(t *testing.T) {
	for name, text := range map[string]string{
		"that ignores SIGTERM": `
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True: time.sleep(60)
`,
		"that is stopped": `
import os, signal
print("ready", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
`,
		"that floods": `
print("ready", flush=True)
while True: print("x" * 4096)
`,
	} {
		t.Run(name, func(t *testing.T) {
			cfg := python(t).script(t, "stubborn.py", text)
			cfg.Grace = 200 * time.Millisecond
			p := start(t, cfg)
			line, err := bufio.NewReaderSize(p.Stdout(), 16).ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, "ready\n", line)
			begin := time.Now()
			require.NoError(t, p.Close())
			require.Less(t, time.Since(begin), 3*time.Second)
			<-p.Done()
			require.NoError(t, p.Err())
			require.NoError(t, p.Close())
		})
	}
}

func TestCloseTellsAProgramByTheEndOfItsInput(t *testing.T) {
	var log bytes.Buffer
	cfg := python(t).script(t, "echo.py", echo)
	cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	p := start(t, cfg)
	require.NoError(t, p.Close())
	require.Contains(t, log.String(), `state="exit status 0"`)
}

func TestNothingOfAProgramIsLeft(t *testing.T) {
	require.NoError(t, start(t, python(t).script(t, "echo.py", echo)).Close()) // the poller's own come with the first
	before := descriptors(t)
	var all sync.WaitGroup
	for range 4 {
		cfg := python(t).script(t, "echo.py", echo)
		unmet := cfg
		unmet.Require = 1 << 31
		nowhere := cfg
		nowhere.Read = []string{"/nowhere"}
		all.Go(func() {
			p, err := foreign.Start(context.Background(), cfg)
			if err == nil {
				err = p.Close()
			}
			if err != nil {
				t.Error(err)
			}
			for _, bad := range []foreign.Config{unmet, nowhere} {
				if _, err := foreign.Start(context.Background(), bad); err == nil {
					t.Error("it was started")
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, before, descriptors(t))
	_, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
	require.ErrorIs(t, err, syscall.ECHILD, "a child was not reaped")
}

func descriptors(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(entries)
}

func TestUnmetNothingRuns(t *testing.T) {
	cfg := python(t).script(t, "mark.py", `import sys; open(sys.argv[1] + "/ran", "w")`)
	dir := t.TempDir()
	cfg.Args, cfg.Write, cfg.App = append(cfg.Args, dir), []string{dir}, "mail"
	const unknown isc.Guarantees = 1 << 31
	cfg.Require = unknown
	_, err := foreign.Start(t.Context(), cfg)
	var unmet *spoke.UnmetError
	require.ErrorAs(t, err, &unmet)
	require.Equal(t, unknown, unmet.Missing)
	require.EqualValues(t, "mail", unmet.App)
	require.NoFileExists(t, dir+"/ran")

	cfg.Require = 0
	_ = output(t, start(t, cfg)) // and it would have run
	require.FileExists(t, dir+"/ran")
}

func TestWhatIsPreferredAndNotHadIsSaid(t *testing.T) {
	var log bytes.Buffer
	cfg := python(t).script(t, "echo.py", echo)
	cfg.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	cfg.Prefer = 1 << 31
	p := start(t, cfg)
	require.True(t, p.Isolation().Lacks.Has(cfg.Prefer))
	require.NoError(t, p.Close())
	require.Contains(t, log.String(), "lacks=")
}

func TestTheContextEndsAStart(t *testing.T) {
	cfg := python(t).script(t, "echo.py", echo)
	cause := errors.New("no longer wanted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err := foreign.Start(ctx, cfg)
	require.ErrorIs(t, err, cause)
	cfg.StartTimeout = time.Nanosecond
	_, err = foreign.Start(t.Context(), cfg)
	require.ErrorContains(t, err, "more than 1ns")
}

func TestWhatCannotBeExecutedIsAnError(t *testing.T) {
	dir := t.TempDir()
	file := dir + "/text"
	require.NoError(t, os.WriteFile(file, []byte("no program"), 0o700))
	_, err := foreign.Start(t.Context(), foreign.Config{Path: file})
	require.ErrorContains(t, err, "no program that the kernel executes")
}
