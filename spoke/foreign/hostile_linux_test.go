package foreign_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/spoke/foreign"
)

// world is what a hostile program attacks.
type world struct{ own, readable, outside, abstract, tcp, udp string }

func newWorld(t *testing.T) world {
	dir := t.TempDir()
	w := world{own: filepath.Join(dir, "own"), readable: filepath.Join(dir, "readable", "file"), outside: filepath.Join(dir, "outside")}
	for _, d := range []string{w.own, filepath.Dir(w.readable), w.outside} {
		require.NoError(t, os.Mkdir(d, 0o700))
	}
	for _, f := range []string{"secret", "victim", "gone", "moved"} {
		require.NoError(t, os.WriteFile(filepath.Join(w.outside, f), []byte("x"), 0o600))
	}
	for _, f := range []string{w.readable, filepath.Join(filepath.Dir(w.readable), "gone")} {
		require.NoError(t, os.WriteFile(f, []byte("x"), 0o600))
	}
	w.abstract = "foreign-test-" + strconv.Itoa(os.Getpid()) + "-" + filepath.Base(filepath.Dir(dir)) + filepath.Base(dir)
	for _, name := range []string{filepath.Join(w.outside, "socket"), "@" + w.abstract} {
		w.listen(t, "unix", name)
	}
	_, w.tcp, _ = net.SplitHostPort(w.listen(t, "tcp4", "127.0.0.1:0").String())
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, w.udp, _ = net.SplitHostPort(c.LocalAddr().String())
	return w
}

func (w world) listen(t *testing.T, network, address string) net.Addr {
	l, err := net.Listen(network, address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr()
}

func (w world) args() []string {
	return []string{strconv.Itoa(os.Getpid()), w.tcp, w.udp, w.own, w.readable, w.outside, w.abstract}
}

// attacks starts the script confined, and once more as it is for the control.
func attacks(t *testing.T, i interpreter, script string) (confined, control map[string]string) {
	w := newWorld(t)
	cfg := i.script(t, script, "", w.args()...)
	cfg.Read = append(cfg.Read, filepath.Dir(w.readable))
	cfg.Write = []string{w.own}
	p := start(t, cfg)
	require.NoError(t, json.Unmarshal([]byte(output(t, p)), &confined))

	cmd := exec.Command(cfg.Path, i.script(t, script, "", newWorld(t).args()...).Args...)
	cmd.Env = cfg.Env
	out, err := cmd.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &control))
	return confined, control
}

func TestAHostileProgramGetsNothingUndeclared(t *testing.T) {
	for script, interpreter := range map[string]func(testing.TB) interpreter{"hostile.py": python, "hostile.mjs": node} {
		t.Run(script, func(t *testing.T) {
			confined, control := attacks(t, interpreter(t), script)
			require.Greater(t, len(confined), 20)
			require.ElementsMatch(t, slices.Collect(maps.Keys(control)), slices.Collect(maps.Keys(confined)))
			for name, came := range confined {
				if control[name] != "worked" && !strings.HasPrefix(name, "ok: ") {
					t.Logf("%s does not work here at all: %s", name, control[name])
				}
				if strings.HasPrefix(name, "ok: ") {
					require.Equal(t, "worked", came, name)
				} else {
					require.Contains(t, came, "refused", name)
				}
			}
		})
	}
}

func TestNoFilesAnUndeclaredScriptIsNotRead(t *testing.T) {
	cfg := python(t).script(t, "print.py", `print("ran")`)
	cfg.Read = cfg.Read[:len(cfg.Read)-1]
	p := start(t, cfg)
	require.Empty(t, output(t, p))
	require.ErrorContains(t, p.Err(), "exit status 2")
	require.Contains(t, p.Output(), "can't open file")
}

func TestMemoryLimitOfAProgram(t *testing.T) {
	cfg := python(t).script(t, "memory.py", `
try:
    bytearray(160 << 20)
    print("worked")
except MemoryError:
    print("refused")
`)
	for memory, want := range map[int64]string{foreign.MinMemory: "refused\n", 0: "worked\n"} {
		t.Run(fmt.Sprint(memory), func(t *testing.T) {
			cfg.Memory = memory
			require.Equal(t, want, output(t, start(t, cfg)))
		})
	}
}
