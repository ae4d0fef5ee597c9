//go:build amd64 || arm64

package sandbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"

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
			in, inW, err := os.Pipe()
			require.NoError(t, err)
			defer in.Close()
			defer inW.Close() // stays open: no end of file tells the spoke
			out, outW, err := os.Pipe()
			require.NoError(t, err)
			defer out.Close()
			hub := exec.Command("/proc/self/exe")
			hub.Env = []string{marker + "=hub"}
			if namespaces {
				hub.Env[0] += " in namespaces"
			}
			hub.ExtraFiles = []*os.File{in, outW}
			require.NoError(t, hub.Start())
			require.NoError(t, outW.Close())
			p := profile(namespaces)
			p.Hub, p.Channels = hub.Process.Pid, 2
			require.NoError(t, json.NewEncoder(inW).Encode(p))
			var a answer
			said := json.NewDecoder(out)
			require.NoError(t, said.Decode(&a))
			require.Empty(t, a.Err)
			require.NoError(t, hub.Process.Kill())
			_ = hub.Wait()
			// The spoke held the other end of the pipe, and ends only by a signal.
			rest, err := io.ReadAll(io.MultiReader(said.Buffered(), out))
			require.NoError(t, err)
			require.Equal(t, "\n", string(rest))
		})
	}
}

// beHub starts a spoke and waits for an end that comes from outside.
func beHub(namespaces bool) func() error {
	return func() error {
		runtime.LockOSThread()
		cmd := command(namespaces)
		cmd.Env = []string{marker + "=wait"}
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
