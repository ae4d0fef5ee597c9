//go:build unix

package child_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/internal/child"
)

// role is the variable that makes this program the child of a test.
const role = "CHILD_TEST_ROLE"

// actAsChild plays the role that this process was started for.
func actAsChild() {
	play, ok := roles[os.Getenv(role)]
	if !ok {
		return
	}
	os.Exit(play())
}

var roles = map[string]func() int{
	"environ": func() int {
		fmt.Println(os.Environ(), os.Args[1:])
		return 0
	},
	"copy": func() int { // descriptor 3 to its end, then exits
		in := os.NewFile(3, "in")
		b, _ := io.ReadAll(in)
		fmt.Printf("%s", b)
		return 3
	},
	"obey":   waitFor,
	"ignore": func() int { signal.Ignore(syscall.SIGTERM); return hangAfter("ready") },
	"flood": func() int {
		line := bytes.Repeat([]byte("y"), 64<<10)
		for {
			if _, err := os.Stdout.Write(line); err != nil {
				return 1
			}
		}
	},
	"words": func() int {
		_, _ = os.Stderr.WriteString(strings.Repeat("x", 300<<10) + "last words")
		return 7
	},
	"two": func() int {
		in, _ := io.ReadAll(os.Stdin)
		fmt.Printf("out %s", in)
		fmt.Fprint(os.Stderr, "err")
		return 0
	},
	"parent": actAsParent,
	"fds":    listDescriptors,
}

func hangAfter(word string) int {
	_, _ = os.NewFile(3, "out").WriteString(word + "\n")
	time.Sleep(time.Hour)
	return 0
}

// waitFor hangs until its descriptor 3 is closed at the other end.
func waitFor() int {
	f := os.NewFile(3, "conn")
	_, _ = f.WriteString("ready\n")
	_, _ = io.ReadAll(f)
	return 0
}

// conn is a pair of connected files.
func conn(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	require.NoError(t, syscall.SetNonblock(fds[0], true))
	return os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
}

// start starts a child that plays a role, connected by descriptor 3.
func start(t *testing.T, play string, change ...func(*child.Config)) (*child.Child, *os.File) {
	t.Helper()
	ours, theirs := conn(t)
	cfg := child.Config{Name: play, Env: []string{role + "=" + play}, Files: []*os.File{theirs}, Grace: 300 * time.Millisecond}
	for _, c := range change {
		c(&cfg)
	}
	c, err := child.Start(cfg)
	require.NoError(t, err)
	require.NoError(t, theirs.Close())
	t.Cleanup(func() { require.NoError(t, c.End(func() { _ = ours.Close() })) })
	return c, ours
}

func ready(t *testing.T, ours *os.File) {
	t.Helper()
	line, err := bufio.NewReader(ours).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
}

func ended(t *testing.T, c *child.Child) {
	t.Helper()
	select {
	case <-c.Done():
	case <-time.After(20 * time.Second):
		require.Fail(t, "the child does not end")
	}
}

func TestAChildGetsItsEnvironmentAndArgumentsAndNoOther(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	c, _ := start(t, "environ", func(cfg *child.Config) { cfg.Args = []string{"a", "b"} })
	ended(t, c)
	require.Equal(t, "[CHILD_TEST_ROLE=environ] [a b]\n", c.Output())
	require.Equal(t, "exit status 0", c.State())
}

func TestFilesBecomeDescriptorsFrom3(t *testing.T) {
	c, ours := start(t, "copy")
	require.Empty(t, c.State())
	_, err := ours.WriteString("hello")
	require.NoError(t, err)
	require.NoError(t, ours.Close())
	ended(t, c)
	require.Equal(t, "hello", c.Output())
	require.Equal(t, "exit status 3", c.State())
}

func TestOutputGoesWhereItIsAsked(t *testing.T) {
	in, to, err := os.Pipe()
	require.NoError(t, err)
	var out, errs bytes.Buffer
	c, _ := start(t, "two", func(cfg *child.Config) { cfg.Stdin, cfg.Stdout, cfg.Stderr = in, &out, &errs })
	require.NoError(t, in.Close())
	_, err = to.WriteString("in")
	require.NoError(t, err)
	require.NoError(t, to.Close())
	ended(t, c)
	require.Equal(t, "out in", out.String())
	require.Equal(t, "err", errs.String())
	require.Empty(t, c.Output())
}

func TestTheLadder(t *testing.T) {
	for play, want := range map[string]string{"obey": "exit status 0", "ignore": "signal: killed"} {
		t.Run(play, func(t *testing.T) {
			c, ours := start(t, play, func(cfg *child.Config) {
				if play == "obey" { // a program under the race detector takes a second to exit
					cfg.Grace = 5 * time.Second
				}
			})
			ready(t, ours)
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					if err := c.End(func() { _ = ours.Close() }); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			require.Equal(t, want, c.State())
			require.ErrorIs(t, syscall.Kill(c.Pid(), 0), syscall.ESRCH, "gone and reaped")
		})
	}
}

func TestTheEndOfTheOutputIsKept(t *testing.T) {
	c, _ := start(t, "words")
	ended(t, c)
	require.Equal(t, "exit status 7", c.State())
	require.Len(t, c.Output(), 16<<10)
	require.True(t, strings.HasSuffix(c.Output(), "last words"))
}

func TestAFailedStartLeavesNothing(t *testing.T) {
	closed, other := conn(t)
	require.NoError(t, closed.Close())
	require.NoError(t, other.Close())
	_, err := child.Start(child.Config{Name: "x", Files: []*os.File{closed}})
	require.ErrorContains(t, err, "child: starting x")
}
