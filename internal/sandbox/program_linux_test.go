//go:build amd64 || arm64

package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/internal/sandbox"
	"github.com/isolategpt/isolategpt/isc"
)

// built names the program in testdata, where that is built already.
const built = "SANDBOX_TEST_GUEST"

// guest builds the program in testdata, static, where any user may execute it.
func guest(t *testing.T) string {
	t.Helper()
	if path := os.Getenv(built); path != "" {
		return path
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	path := filepath.Join(dir, "guest")
	cmd := exec.Command("go", "build", "-o", path, "./testdata/guest")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil && os.Geteuid() != 0 {
		t.Skipf("cannot build a program here: %s", out)
	}
	require.NoError(t, err, "%s", out)
	return path
}

// become confines a child and has it execute the program with words to try. It
// gives what the program said of each.
func become(t *testing.T, p sandbox.Profile, program sandbox.Program, words ...string) (ended, map[string]string) {
	t.Helper()
	program.Args = words
	p.Program = &program
	e := run(t, "become", p)
	require.Empty(t, e.Err, e.output)
	said := make(map[string]string)
	for _, line := range strings.Split(e.output, "\n") {
		for _, word := range words {
			if rest, ok := strings.CutPrefix(line, word+" "); ok {
				said[word] = rest
			}
		}
	}
	require.Len(t, said, len(words), "%.1000s", e.output)
	return e, said
}

func TestStaticProgramHasNothingButItself(t *testing.T) {
	path := guest(t)
	for _, namespaces := range []bool{false, true} {
		t.Run(fmt.Sprint("namespaces ", namespaces), func(t *testing.T) {
			program := sandbox.Program{Path: path, Static: true, Env: []string{"A=b"}}
			e, said := become(t, profile(namespaces), program, "env", "work", "open=0", "open=3", "open=4",
				"read=/etc/passwd", "read="+path, "list=/", "stat=/", "write=/tmp/x", "dial=127.0.0.1:80", "run=/bin/sh",
				"become=/bin/sh", "become="+path, "execute="+path, "pair=/x", "pipesize")
			for _, word := range []string{"env", "work", "open=0", "open=3", "open=4"} {
				require.Equal(t, "ok", said[word], word)
				delete(said, word)
			}
			for word, what := range said {
				require.Regexp(t, "operation not permitted|permission denied|no such file", what, word)
			}
			want := isc.FullIsolation
			if namespaces {
				want |= isc.DefenceInDepth
			}
			require.Equal(t, want.String(), e.Isolation.Has.String(), e.detail("attempts"))
		})
	}
}

func TestForeignProgramHasWhatItDeclares(t *testing.T) {
	path := guest(t)
	read, write := t.TempDir(), t.TempDir()
	for _, dir := range []string{read, write, filepath.Dir(read), filepath.Dir(write)} {
		require.NoError(t, os.Chmod(dir, 0o777))
	}
	require.NoError(t, os.WriteFile(filepath.Join(read, "a"), nil, 0o600))
	for _, namespaces := range []bool{false, true} {
		t.Run(fmt.Sprint("namespaces ", namespaces), func(t *testing.T) {
			program := sandbox.Program{
				Path: path, Env: []string{"A=b"}, Dir: write, Read: []string{read, "/etc/hostname"}, Write: []string{write},
			}
			allowed := []string{
				"env", "work", "dir=" + write, "read=" + read + "/a", "list=" + read, "read=/etc/hostname", "write=" + write + "/b",
				"read=" + write + "/b", "pipe=1", "write=/dev/null", "read=" + path,
			}
			refused := []string{
				"write=" + read + "/a", "write=" + read + "/b", "write=/tmp/x", "list=/", "list=/etc", "read=/etc/passwd",
				"dial=127.0.0.1:80", "listen=127.0.0.1:0", "run=/bin/sh", "run=" + path, "become=/bin/sh", "become=" + read + "/a", "become=" + path,
				"execute=" + path,
				"pipe=3", "pipe=4", "pipe=5", "write=" + path,
			}
			e, said := become(t, profile(namespaces), program, append(allowed, refused...)...)
			for _, word := range allowed {
				require.Equal(t, "ok", said[word], word)
			}
			for _, word := range refused {
				require.Regexp(t, "operation not permitted|permission denied|no such file|read-only|bad file descriptor|busy|none",
					said[word], word)
			}
			// A limit of data is one for mistakes; and only an empty root has no names.
			require.Contains(t, e.names(), sandbox.DataLimit, e.detail("attempts"))
			want := isc.FullIsolation.Without(isc.MemoryLimit)
			if namespaces {
				want |= isc.DefenceInDepth
			} else {
				want = want.Without(isc.NoFiles)
				require.Contains(t, e.detail("attempts"), "stat /etc/passwd: worked")
			}
			require.Equal(t, want.String(), e.Isolation.Has.String(), e.detail("attempts"))
		})
	}
}

func TestForeignProgramsDataIsLimitedOnlyWhereMemoryWasRefused(t *testing.T) {
	p := profile(false)
	p.Program = &sandbox.Program{Path: guest(t)}
	e := run(t, "seccomp:become", p) // nobody else refuses shared memory
	require.NotContains(t, e.names(), sandbox.DataLimit)
	require.False(t, e.Isolation.Has.Has(isc.MemoryLimit))
}

func TestForeignProgramConnectsToItsProxyOnly(t *testing.T) {
	proxy, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer proxy.Close()
	other, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer other.Close()
	to, not := "dial="+proxy.Addr().String(), "dial="+other.Addr().String()
	program := sandbox.Program{Path: guest(t), Proxy: proxy.Addr().(*net.TCPAddr).Port}
	e, said := become(t, profile(false), program, to, not, "listen=127.0.0.1:0", "dial=[::1]:80", "dial=192.0.2.1:80")
	require.Equal(t, "ok", said[to])
	delete(said, to)
	for word, what := range said {
		require.Regexp(t, "operation not permitted|permission denied", what, word)
	}
	require.True(t, e.Isolation.Has.Has(isc.NoNetwork|isc.HubOnly), e.detail("attempts"))

	// Nobody but Landlock judges ports.
	p := profile(false)
	p.Program = &program
	e = run(t, "landlock:become", p)
	require.False(t, e.Isolation.Has.Has(isc.NoNetwork), e.detail("attempts"))
}

func TestProgramsAsOrdinaryUser(t *testing.T) {
	ordinary(t, "^Test(Static|Foreign)?Program(s?Ex|Stays|Has|Keeps|Connects|sData)", built+"="+guest(t))
}

func TestDeclaredPathsMustExist(t *testing.T) {
	p := profile(false)
	p.Program = &sandbox.Program{Path: "/bin/sh", Read: []string{"/nowhere"}}
	e := run(t, "become", p)
	require.Contains(t, e.Err, "/nowhere")
	require.Zero(t, e.Isolation)
}
