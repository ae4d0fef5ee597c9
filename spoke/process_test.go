//go:build unix

package spoke_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/spoketest"
)

const hasProcesses = true

// A program under the race detector takes a second to exit, but none to obey
// SIGTERM.
var quick = spoke.ProcessConfig{Grace: 300 * time.Millisecond}

// free does not confine, for apps that do what no confined one could.
var free = spoke.ProcessConfig{Grace: 300 * time.Millisecond, Waive: isc.FullIsolation}

// everyKind are the processes that this system can start.
func everyKind() map[string]spoke.ProcessConfig {
	kinds := map[string]spoke.ProcessConfig{"unconfined": free}
	if runtime.GOOS == "linux" {
		kinds["confined"] = quick
	}
	return kinds
}

type words struct {
	Text string `json:"text"`
}

// childApps are the apps of this file's tests, in the parent and in the child.
func childApps() []spoke.App {
	return append(linuxApps(), jail("jail"), jail("changed"), pest())
}

// jail is an app that is rude to its process.
func jail(id isc.AppID) spoke.App {
	m := isc.Manifest{ID: id, Name: string(id)}
	if id == "changed" {
		// The parent and the child do not agree about this one.
		m.Version = strconv.Itoa(os.Getpid())
	}
	app, err := spoke.New(m,
		spoke.FuncWith("ignore.term", func(ctx context.Context, h spoke.Hub, w words) (words, error) {
			signal.Ignore(syscall.SIGTERM)
			if err := h.Progress(ctx, "ready"); err != nil {
				return w, err
			}
			select {} // ignores its context too
		}, spoke.Reads()),
		spoke.Func("leave.child", func(_ context.Context, w words) (words, error) {
			c := exec.Command("/bin/sleep", "1000")
			if w.Text == "hold" {
				c.Stdout = os.Stdout
			}
			if err := c.Start(); err != nil {
				return w, err
			}
			return words{strconv.Itoa(c.Process.Pid)}, nil
		}, spoke.Reads()),
		spoke.Func("say.die", func(_ context.Context, w words) (words, error) {
			_, _ = os.Stderr.WriteString(strings.Repeat("x", 256<<10) + w.Text)
			os.Exit(7)
			return w, nil
		}, spoke.Reads()),
		spoke.Func("open.files", func(context.Context, words) (words, error) { return openFiles() }, spoke.Reads()),
		spoke.Func("pid", func(context.Context, words) (words, error) { return words{strconv.Itoa(os.Getpid())}, nil }, spoke.Reads()),
	)
	if err != nil {
		panic(err)
	}
	return app
}

// openFiles names what a program that the app executes would inherit.
func openFiles() (words, error) {
	out, err := exec.Command("/bin/ls", "-l", "/proc/self/fd").Output()
	return words{string(out)}, err
}

func start(t *testing.T, cfg spoke.ProcessConfig, app spoke.App) *spoke.Instance {
	t.Helper()
	i, err := spoke.Process(cfg).Launch(t.Context(), spoke.Spec{App: app})
	require.NoError(t, err)
	t.Cleanup(func() { _ = i.Conn.Close() })
	return i
}

func ask(t *testing.T, i *spoke.Instance, name isc.FunctionalityName, text string) (isc.ToHub, error) {
	t.Helper()
	body, err := json.Marshal(words{text})
	require.NoError(t, err)
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskCall, Functionality: name, Body: body}))
	return i.Conn.Recv(t.Context())
}

func answer(t *testing.T, i *spoke.Instance, name isc.FunctionalityName, text string) string {
	t.Helper()
	m, err := ask(t, i, name, text)
	require.NoError(t, err)
	r, ok := m.(isc.Result)
	require.True(t, ok)
	require.Equal(t, isc.StatusDone, r.Status)
	var w words
	require.NoError(t, json.Unmarshal(r.Body, &w))
	return w.Text
}

// Rule 8: a spoke holds no secret.
func TestRule8ASpokesEnvironmentIsEmpty(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	for name, cfg := range everyKind() {
		i := start(t, cfg, spoketest.Apps()[0])
		require.Equal(t, "[]", answer(t, i, "note.environ", "x"), name)
	}
}

func TestRule8TheEnvironmentWasNeverThere(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	i := start(t, free, jail("jail"))
	environ, err := os.ReadFile("/proc/" + answer(t, i, "pid", "") + "/environ")
	require.NoError(t, err)
	require.Equal(t, "ISOLATEGPT_SPOKE=1\x00MALLOC_ARENA_MAX=1\x00", string(environ))
}

func TestASpokesProgramsInheritNoConnection(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	require.NotContains(t, answer(t, start(t, free, jail("jail")), "open.files", ""), "socket:")
}

func TestCloseEndsAProcessThatIgnoresEverything(t *testing.T) {
	for name, cfg := range everyKind() {
		t.Run(name, func(t *testing.T) {
			before := children()
			i := start(t, cfg, jail("jail"))
			m, err := ask(t, i, "ignore.term", "")
			require.NoError(t, err)
			require.Equal(t, isc.Progress{Text: "ready"}, m)
			began := time.Now()
			require.NoError(t, i.Conn.Close())
			require.Less(t, time.Since(began), 3*time.Second)
			require.Equal(t, before, children(), "the process is gone and reaped")
		})
	}
}

func TestNothingOfTheGroupIsLeft(t *testing.T) {
	for _, output := range []string{"hold", "close"} {
		i := start(t, free, jail("jail"))
		pid, err := strconv.Atoi(answer(t, i, "leave.child", output))
		require.NoError(t, err)
		require.NoError(t, i.Conn.Close())
		require.Eventually(t, func() bool { return !runs(pid) }, 5*time.Second, 10*time.Millisecond)
	}
}

// runs says whether a process runs: one that nobody reaped yet does not.
func runs(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func TestADeathIsAnErrorThatSaysHow(t *testing.T) {
	for name, cfg := range everyKind() {
		t.Run(name, func(t *testing.T) {
			_, err := ask(t, start(t, cfg, jail("jail")), "say.die", "last words")
			e, ok := errors.AsType[*spoke.ProcessError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, isc.AppID("jail"), e.App)
			require.Equal(t, "exit status 7", e.State)
			require.LessOrEqual(t, len(e.Output), 16<<10)
			require.True(t, strings.HasSuffix(e.Output, "last words"))
			require.NotContains(t, err.Error(), "last words")
		})
	}
}

func TestParentAndChildMustAgreeOnTheManifest(t *testing.T) {
	for _, cfg := range everyKind() {
		_, err := spoke.Process(cfg).Launch(t.Context(), spoke.Spec{App: jail("changed")})
		require.ErrorContains(t, err, "another manifest")
	}
	stranger, err := spoke.New(isc.Manifest{ID: "stranger", Name: "Stranger"},
		spoke.Func("do", func(context.Context, words) (words, error) { return words{}, nil }))
	require.NoError(t, err)
	_, err = spoke.Process(free).Launch(t.Context(), spoke.Spec{App: stranger})
	require.ErrorContains(t, err, "does not pass this app to spoke.Main")
}

// main of a program that calls Main only where it is no spoke.
const forgetful = `package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/isolategpt/isolategpt/spoke"
)

func main() {
	if os.Getenv("HOME") != "" {
		spoke.Main()
	}
	_, err := spoke.Process(spoke.ProcessConfig{StartTimeout: 500 * time.Millisecond, Grace: 200 * time.Millisecond}).Launch(context.Background(), spoke.Spec{})
	fmt.Println(err)
	if os.Getenv("ISOLATEGPT_SPOKE") != "" {
		time.Sleep(time.Minute)
	}
}
`

func TestAProgramWithoutMainIsAClearError(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir := t.TempDir()
	file, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(file, []byte(forgetful), 0o600))
	out, err := exec.Command("go", "build", "-o", program, file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	for home, want := range map[string]string{
		"":      "^spoke: the program must call spoke.Main first in main\n$",
		"/root": "spoke.Main first in main: it did not answer within 500ms",
	} {
		c := exec.Command(program)
		c.Env = []string{"HOME=" + home}
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Regexp(t, want, string(out))
	}
}

func TestLaunchIsCancelled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := spoke.Process(free).Launch(ctx, spoke.Spec{App: jail("jail")})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestNoDescriptorIsLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(entries)
	}
	for name, cfg := range everyKind() {
		t.Run(name, func(t *testing.T) {
			l := spoke.Process(cfg)
			once := func() {
				i, err := l.Launch(context.Background(), spoke.Spec{App: jail("jail")})
				if err == nil {
					err = i.Conn.Close()
				}
				if err != nil {
					t.Error(err)
				}
			}
			once() // the poller's own come with the first
			before := count()
			for range 3 {
				once()
				_, err := l.Launch(t.Context(), spoke.Spec{App: jail("changed")})
				require.Error(t, err)
			}
			var all sync.WaitGroup
			for range 8 {
				all.Go(once)
			}
			all.Wait()
			require.Equal(t, before, count())
		})
	}
}

// A model that ignores its context holds its goroutine, not Close.
func TestE6CloseIsBoundedWhenAModelIgnoresItsContext(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	m := llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
		close(entered)
		<-release
		return nil, errors.New("late")
	})
	i, err := spoke.Process(free).Launch(t.Context(), spoke.Spec{App: jail("jail"), LLM: m})
	require.NoError(t, err)
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskDecide, Text: "?", Answer: json.RawMessage(`{"type":"boolean"}`)}))
	<-entered
	require.ErrorIs(t, i.Conn.Close(), spoke.ErrStuck)
	close(release)
}

// actAsParent makes this program, when it is told so, a parent that starts
// spokes, one of them kept ready, says their numbers, and is killed.
func actAsParent() {
	cfg, ok := everyKind()[os.Getenv("SPOKE_TEST_PARENT")]
	if !ok {
		return
	}
	cfg.Warm = 1
	l := spoke.Process(cfg)
	if _, err := l.Launch(context.Background(), spoke.Spec{App: jail("jail")}); err != nil {
		panic(err)
	}
	for l.Idle() == 0 {
		time.Sleep(time.Millisecond)
	}
	_ = json.NewEncoder(os.Stdout).Encode(children())
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func TestNoSpokeOutlivesItsParent(t *testing.T) {
	for name := range everyKind() {
		t.Run(name, func(t *testing.T) {
			parent := exec.Command(os.Args[0])
			parent.Env = append(os.Environ(), "SPOKE_TEST_PARENT="+name)
			out, err := parent.Output()
			require.ErrorContains(t, err, "killed")
			var pids []string
			require.NoError(t, json.Unmarshal(out, &pids))
			if runtime.GOOS == "linux" {
				require.Len(t, pids, 2)
			}
			for _, text := range pids {
				pid, err := strconv.Atoi(text)
				require.NoError(t, err)
				require.Eventually(t, func() bool { return !runs(pid) }, 10*time.Second, 10*time.Millisecond)
			}
		})
	}
}

// A provider's words stay outside: they may hold addresses and keys.
func TestRule8AModelsErrorTextStaysOutside(t *testing.T) {
	m := llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
		return nil, &llm.Error{Kind: llm.Auth, Err: errors.New("bad key sk-secret")}
	})
	i, err := spoke.Process(free).Launch(t.Context(), spoke.Spec{App: jail("jail"), LLM: m})
	require.NoError(t, err)
	defer func() { _ = i.Conn.Close() }()
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskDecide, Text: "?", Answer: json.RawMessage(`{"type":"boolean"}`)}))
	r, err := i.Conn.Recv(t.Context())
	require.NoError(t, err)
	require.Equal(t, isc.Result{Status: isc.StatusFailed}, r)
}
