//go:build amd64 || arm64

package sandbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/internal/sandbox"
)

// However the hub ends, what it started is gone: here at once, with a channel that
// would never say so.
func TestConfinedDieWithTheHub(t *testing.T) {
	for _, namespaces := range []bool{false, true} {
		t.Run(fmt.Sprint("namespaces ", namespaces), func(t *testing.T) {
			if namespaces && !canNamespaces() {
				t.Skip("no user namespaces here")
			}
			require.Equal(t, "\n", outlived(t, "hub", profile(namespaces), "\n"))
		})
	}
}

// The signal at the parent's death belongs to a thread. One that a program starts
// has none, and if it executed anything it would be what is left of the process.
func TestProgramsDieWithTheHub(t *testing.T) {
	path := guest(t)
	for _, namespaces := range []bool{false, true} {
		t.Run(fmt.Sprint("namespaces ", namespaces), func(t *testing.T) {
			if namespaces && !canNamespaces() {
				t.Skip("no user namespaces here")
			}
			p := profile(namespaces)
			p.Program = &sandbox.Program{Path: path, Static: true, Args: []string{"outlive=" + path}}
			want := "\n" + syscall.EPERM.Error()
			require.Equal(t, want, outlived(t, "hub of a program", p, want))
		})
	}
}

func TestProgramsDieWithTheHubAsOrdinaryUser(t *testing.T) {
	ordinary(t, "^TestProgramsDieWithTheHub$", built+"="+guest(t))
}

// outlived ends a hub once its spoke has written as much as is expected, and gives
// all that the spoke wrote until its own end.
func outlived(t *testing.T, what string, p sandbox.Profile, expected string) string {
	t.Helper()
	in, inW, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	defer inW.Close() // stays open: no end of file tells the spoke
	out, outW, err := os.Pipe()
	require.NoError(t, err)
	defer out.Close()
	hub := exec.Command("/proc/self/exe")
	hub.Env = []string{marker + "=" + what}
	if p.Namespaces {
		hub.Env[0] += " in namespaces"
	}
	hub.ExtraFiles = []*os.File{in, outW}
	require.NoError(t, hub.Start())
	require.NoError(t, outW.Close())
	p.Hub, p.Channels = hub.Process.Pid, 2
	require.NoError(t, json.NewEncoder(inW).Encode(p))
	var a answer
	said := json.NewDecoder(out)
	require.NoError(t, said.Decode(&a))
	require.Empty(t, a.Err)
	text := io.MultiReader(said.Buffered(), out)
	first := make([]byte, len(expected))
	n, _ := io.ReadFull(text, first)
	require.NoError(t, hub.Process.Kill())
	_ = hub.Wait()
	// The spoke holds the other end of the pipe, and ends only by a signal.
	require.NoError(t, out.SetReadDeadline(time.Now().Add(10*time.Second)))
	rest, err := io.ReadAll(text)
	require.NoError(t, err, "it lives: %q", first[:n])
	return string(first[:n]) + string(rest)
}

// beHub starts a spoke and waits for an end that comes from outside.
func beHub(what string, namespaces bool) func() error {
	return func() error {
		runtime.LockOSThread()
		cmd := command(namespaces)
		cmd.Env = []string{marker + "=" + what}
		cmd.ExtraFiles = []*os.File{os.NewFile(3, "in"), os.NewFile(4, "out")}
		if err := cmd.Start(); err != nil {
			return err
		}
		for _, f := range cmd.ExtraFiles {
			_ = f.Close()
		}
		return cmd.Wait()
	}
}

// wait never ends by itself.
func wait(sandbox.Profile) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	_, err = r.Read(make([]byte, 1))
	runtime.KeepAlive(w)
	return err
}
