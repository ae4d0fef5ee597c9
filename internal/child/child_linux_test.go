package child_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/internal/child"
)

func listDescriptors() int {
	var links []string
	for fd := range 64 {
		if link, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); err == nil && fd > 2 {
			links = append(links, link)
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(links)
	return 0
}

func TestAChildInheritsNothingThatThisProcessInherited(t *testing.T) {
	leak, err := unix.Open("/etc/passwd", unix.O_RDONLY, 0) // not closed on exec
	require.NoError(t, err)
	defer func() { _ = unix.Close(leak) }()
	c, _ := start(t, "fds")
	ended(t, c)
	require.NotContains(t, c.Output(), "/etc/passwd")
	require.Equal(t, 1, strings.Count(c.Output(), "socket:"), c.Output())
}

func TestAStoppedChildIsSeenAtOnceAndKilled(t *testing.T) {
	c, ours := start(t, "obey", func(cfg *child.Config) { cfg.Grace = time.Minute })
	ready(t, ours)
	require.NoError(t, syscall.Kill(c.Pid(), syscall.SIGSTOP))
	select {
	case <-c.Stopped():
	case <-time.After(10 * time.Second):
		require.Fail(t, "nobody saw it stop")
	}
	began := time.Now()
	require.NoError(t, c.End(func() { _ = ours.Close() }))
	require.Less(t, time.Since(began), 10*time.Second)
	require.Equal(t, "stopped, then signal: killed", c.State())
}

// What it writes is read slowly: it stands still instead of taking this
// process's time.
func TestAFloodOfOutputIsSlowedAndBounded(t *testing.T) {
	c, ours := start(t, "flood")
	require.Eventually(t, func() bool { return len(c.Output()) == 16<<10 }, 10*time.Second, time.Millisecond)
	var before, after unix.Rusage
	require.NoError(t, unix.Getrusage(unix.RUSAGE_SELF, &before))
	began := written(t, c.Pid())
	const seconds = 2
	<-time.After(seconds * time.Second)
	require.NoError(t, unix.Getrusage(unix.RUSAGE_SELF, &after))
	require.Less(t, written(t, c.Pid())-began, int64(seconds+1)<<20)
	used := time.Duration(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano()) * time.Nanosecond
	require.Less(t, used, seconds*time.Second/2)
	require.NoError(t, c.End(func() { _ = ours.Close() }))
}

// written is how many bytes a process has written.
func written(t *testing.T, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	require.NoError(t, err)
	for line := range strings.SplitSeq(string(b), "\n") {
		if n, ok := strings.CutPrefix(line, "wchar: "); ok {
			out, err := strconv.ParseInt(n, 10, 64)
			require.NoError(t, err)
			return out
		}
	}
	require.Fail(t, "no count")
	return 0
}

func TestANamespacedChildIsTheFirstOfItsOwn(t *testing.T) {
	if err := child.Namespaces(); err != nil {
		t.Skip(err)
	}
	c, ours := start(t, "obey", func(cfg *child.Config) { cfg.Namespaces, cfg.Grace = true, 5*time.Second })
	ready(t, ours)
	for _, kind := range []string{"user", "mnt", "pid", "net", "ipc", "uts"} {
		mine, err := os.Readlink("/proc/self/ns/" + kind)
		require.NoError(t, err)
		its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", c.Pid(), kind))
		require.NoError(t, err)
		require.NotEqual(t, mine, its)
	}
	require.NoError(t, c.End(func() { _ = ours.Close() }))
	require.Equal(t, "exit status 0", c.State())
}

// actAsParent starts children, says who they are, and is killed.
func actAsParent() int {
	var pids []int
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		c, err := child.Start(child.Config{
			Name: "x", Env: []string{role + "=ignore"}, Files: []*os.File{w}, Namespaces: i == 2 && child.Namespaces() == nil,
		})
		if err != nil {
			panic(err)
		}
		if _, err := r.Read(make([]byte, 8)); err != nil {
			panic(err)
		}
		pids = append(pids, c.Pid())
	}
	_ = json.NewEncoder(os.Stdout).Encode(pids)
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func TestKillingTheParentLeavesNoChild(t *testing.T) {
	parent := exec.Command("/proc/self/exe")
	parent.Env = []string{role + "=parent"}
	out, err := parent.Output()
	require.ErrorContains(t, err, "killed")
	var pids []int
	require.NoError(t, json.Unmarshal(out, &pids), string(out))
	require.Len(t, pids, 3)
	for _, pid := range pids {
		require.Eventually(t, func() bool { return !runs(pid) }, 10*time.Second, 5*time.Millisecond)
	}
}

// runs says whether a process runs: one that nobody reaped yet does not.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestNoDescriptorAndNoGoroutineIsLeft(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(entries)
	}
	_ = child.Namespaces()
	once := func(i int) {
		ours, theirs := conn(t)
		cfg := child.Config{Name: "x", Env: []string{role + "=obey"}, Files: []*os.File{theirs}, Grace: 20 * time.Millisecond}
		if i%2 == 1 {
			cfg.Files = append(cfg.Files, ours) // closed by then
			require.NoError(t, ours.Close())
		}
		c, err := child.Start(cfg)
		require.NoError(t, theirs.Close())
		if i%2 == 1 {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.NoError(t, c.End(func() { _ = ours.Close() }))
	}
	once(0)
	once(1)
	before := count()
	for i := range 50 {
		once(i)
	}
	require.Equal(t, before, count())
}
