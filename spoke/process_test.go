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

var quick = spoke.ProcessConfig{Grace: 300 * time.Millisecond}

type words struct {
	Text string `json:"text"`
}

// childApps are the apps of this file's tests, in the parent and in the child.
func childApps() []spoke.App {
	return []spoke.App{jail("jail"), jail("changed")}
}

// jail is an app that is rude to its process.
func jail(id isc.AppID) spoke.App {
	m := isc.Manifest{ID: id, Name: string(id)}
	if id == "changed" {
		// The parent and the child do not agree about this one.
		m.Version = strconv.Itoa(os.Getpid())
	}
	app, err := spoke.New(m,
		spoke.Func("ignore.term", func(_ context.Context, w words) (words, error) {
			signal.Ignore(syscall.SIGTERM)
			pid := strconv.Itoa(os.Getpid())
			if err := os.WriteFile(w.Text, []byte(pid), 0o600); err != nil {
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
			_, _ = os.Stderr.WriteString(strings.Repeat("x", 1<<20) + w.Text)
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

func start(t *testing.T, app spoke.App) *spoke.Instance {
	t.Helper()
	i, err := spoke.Process(quick).Launch(t.Context(), spoke.Spec{App: app})
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
	i := start(t, spoketest.Apps()[0])
	require.Equal(t, "[]", answer(t, i, "note.environ", "x"))
}

func TestRule8TheEnvironmentWasNeverThere(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	i := start(t, jail("jail"))
	environ, err := os.ReadFile("/proc/" + answer(t, i, "pid", "") + "/environ")
	require.NoError(t, err)
	require.Equal(t, "ISOLATEGPT_SPOKE=1\x00", string(environ))
}

func TestASpokesProgramsInheritNoConnection(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	require.NotContains(t, answer(t, start(t, jail("jail")), "open.files", ""), "socket:")
}

func TestCloseEndsAProcessThatIgnoresEverything(t *testing.T) {
	i := start(t, jail("jail"))
	file := filepath.Join(t.TempDir(), "pid")
	body, err := json.Marshal(words{file})
	require.NoError(t, err)
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskCall, Functionality: "ignore.term", Body: body}))
	var pid int
	require.Eventually(t, func() bool {
		b, err := os.ReadFile(file)
		pid, _ = strconv.Atoi(string(b))
		return err == nil && pid > 0
	}, 10*time.Second, 10*time.Millisecond)
	began := time.Now()
	require.NoError(t, i.Conn.Close())
	require.Less(t, time.Since(began), 3*time.Second)
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "the process is gone and reaped")
}

func TestNothingOfTheGroupIsLeft(t *testing.T) {
	for _, output := range []string{"hold", "close"} {
		i := start(t, jail("jail"))
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
	i := start(t, jail("jail"))
	_, err := ask(t, i, "say.die", "last words")
	e, ok := errors.AsType[*spoke.ProcessError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, isc.AppID("jail"), e.App)
	require.Equal(t, "exit status 7", e.State)
	require.LessOrEqual(t, len(e.Output), 16<<10)
	require.True(t, strings.HasSuffix(e.Output, "last words"))
	require.NotContains(t, err.Error(), "last words")
}

func TestParentAndChildMustAgreeOnTheManifest(t *testing.T) {
	_, err := spoke.Process(quick).Launch(t.Context(), spoke.Spec{App: jail("changed")})
	require.ErrorContains(t, err, "another manifest")
	stranger, err := spoke.New(isc.Manifest{ID: "stranger", Name: "Stranger"},
		spoke.Func("do", func(context.Context, words) (words, error) { return words{}, nil }))
	require.NoError(t, err)
	_, err = spoke.Process(quick).Launch(t.Context(), spoke.Spec{App: stranger})
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
	_, err := spoke.Process(quick).Launch(ctx, spoke.Spec{App: jail("jail")})
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
	require.NoError(t, start(t, jail("jail")).Conn.Close()) // the poller's own come with the first
	before := count()
	for range 3 {
		require.NoError(t, start(t, jail("jail")).Conn.Close())
		_, err := spoke.Process(quick).Launch(t.Context(), spoke.Spec{App: jail("changed")})
		require.Error(t, err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			i, err := spoke.Process(quick).Launch(context.Background(), spoke.Spec{App: jail("jail")})
			if err == nil {
				err = i.Conn.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, before, count())
}

// A model that ignores its context holds its goroutine, not Close.
func TestE6CloseIsBoundedWhenAModelIgnoresItsContext(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	m := llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
		close(entered)
		<-release
		return nil, errors.New("late")
	})
	i, err := spoke.Process(quick).Launch(t.Context(), spoke.Spec{App: jail("jail"), LLM: m})
	require.NoError(t, err)
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskDecide, Text: "?", Answer: json.RawMessage(`{"type":"boolean"}`)}))
	<-entered
	require.ErrorIs(t, i.Conn.Close(), spoke.ErrStuck)
	close(release)
}

// actAsParent makes this program, when it is told so, a parent that starts a
// spoke, says its number, and is killed.
func actAsParent() {
	if os.Getenv("SPOKE_TEST_PARENT") == "" {
		return
	}
	i, err := spoke.Process(quick).Launch(context.Background(), spoke.Spec{App: jail("jail")})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	err = i.Conn.Send(ctx, isc.Task{Kind: isc.TaskCall, Functionality: "pid", Body: json.RawMessage(`{"text":""}`)})
	if err != nil {
		panic(err)
	}
	m, err := i.Conn.Recv(ctx)
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.Write(m.(isc.Result).Body)
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func TestASpokeEndsWhenItsParentIsKilled(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "SPOKE_TEST_PARENT=1")
	out, err := parent.Output()
	require.ErrorContains(t, err, "killed")
	var w words
	require.NoError(t, json.Unmarshal(out, &w))
	pid, err := strconv.Atoi(w.Text)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return !runs(pid) }, 10*time.Second, 10*time.Millisecond)
}

// A provider's words stay outside: they may hold addresses and keys.
func TestRule8AModelsErrorTextStaysOutside(t *testing.T) {
	m := llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
		return nil, &llm.Error{Kind: llm.Auth, Err: errors.New("bad key sk-secret")}
	})
	i, err := spoke.Process(quick).Launch(t.Context(), spoke.Spec{App: jail("jail"), LLM: m})
	require.NoError(t, err)
	defer func() { _ = i.Conn.Close() }()
	require.NoError(t, i.Conn.Send(t.Context(), isc.Task{Kind: isc.TaskDecide, Text: "?", Answer: json.RawMessage(`{"type":"boolean"}`)}))
	r, err := i.Conn.Recv(t.Context())
	require.NoError(t, err)
	require.Equal(t, isc.Result{Status: isc.StatusFailed}, r)
}
