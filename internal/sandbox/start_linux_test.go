//go:build amd64 || arm64

package sandbox_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/internal/sandbox"
)

const mib = 1 << 20

// keepToItself lets children inherit nothing but what they are given.
func keepToItself() { _ = unix.CloseRange(3, ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC) }

// ended is a child's end: what it said, what it wrote, how it ended.
type ended struct {
	answer
	output string
	state  *os.ProcessState
}

func profile(namespaces bool) sandbox.Profile {
	return sandbox.Profile{Memory: 256 * mib, Files: 64, Namespaces: namespaces}
}

// run starts a child that confines itself, and waits for its end. change may
// alter how it is started.
func run(t *testing.T, what string, p sandbox.Profile, change ...func(*exec.Cmd)) ended {
	t.Helper()
	if p.Namespaces && !canNamespaces() {
		t.Skip("no user namespaces here")
	}
	runtime.LockOSThread() // a parent's death is the death of the thread that forked
	defer runtime.UnlockOSThread()
	inR, inW, err := os.Pipe()
	require.NoError(t, err)
	outR, outW, err := os.Pipe()
	require.NoError(t, err)
	var e ended
	var output bytes.Buffer
	cmd := command(p.Namespaces)
	cmd.Env = []string{marker + "=" + what, "MALLOC_ARENA_MAX=1"}
	cmd.ExtraFiles = []*os.File{inR, outW}
	cmd.Stdout, cmd.Stderr = &output, &output
	for _, f := range change {
		f(cmd)
	}
	p.Hub, p.Channels = os.Getpid(), 2
	require.NoError(t, cmd.Start())
	require.NoError(t, inR.Close())
	require.NoError(t, outW.Close())
	require.NoError(t, json.NewEncoder(inW).Encode(p))
	_ = json.NewDecoder(outR).Decode(&e.answer)
	_ = cmd.Wait()
	require.NoError(t, inW.Close())
	require.NoError(t, outR.Close())
	e.output, e.state = output.String(), cmd.ProcessState
	return e
}

func command(namespaces bool) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if namespaces {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID |
			syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return cmd
}

// canNamespaces says whether this user may have namespaces.
var canNamespaces = sync.OnceValue(func() bool {
	cmd := command(true)
	cmd.Env = []string{marker + "=nothing"}
	return cmd.Run() == nil
})

// ordinary runs tests again as an ordinary user, if they run as root.
func ordinary(t *testing.T, tests string, env ...string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("is an ordinary user")
	}
	cmd := exec.Command("/proc/self/exe", "-test.run", tests, "-test.v", "-test.timeout", "3m")
	cmd.Dir = "/"
	cmd.Env = append(env, "TMPDIR=/tmp")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS")
}
