package filter_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every number is the one that golang.org/x/sys knows, and each processor lacks
// only what it lacks there.
func TestNumbers(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "golang.org/x/sys/unix").Output()
	if err != nil {
		t.Skip("no go command, or no module cache")
	}
	own, err := os.ReadFile("numbers.go")
	require.NoError(t, err)
	names := regexp.MustCompile(`(?m)^\t\{"(\w+)"`).FindAllStringSubmatch(string(own), -1)
	require.Greater(t, len(names), 100)
	for _, a := range arches {
		source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "zsysnum_linux_"+a.name+".go"))
		require.NoError(t, err)
		known := make(map[string]uint32)
		for _, m := range regexp.MustCompile(`SYS_(\w+)\s*=\s*(\d+)`).FindAllStringSubmatch(string(source), -1) {
			n, err := strconv.Atoi(m[2])
			require.NoError(t, err)
			known[strings.ToLower(m[1])] = uint32(n)
		}
		for _, name := range names {
			got, ok := a.arch.Number(name[1])
			want, is := known[name[1]]
			require.Equal(t, is, ok, "%s on %s", name[1], a.name)
			require.Equal(t, want, got, "%s on %s", name[1], a.name)
		}
	}
}
