package foreign_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/spoke/foreign"
)

// program is one that is there, for configurations that are refused.
func program(t testing.TB) string {
	path, err := exec.LookPath("cat")
	require.NoError(t, err)
	return path
}

func TestNoFilesWhatNobodyShouldDeclareIsRefused(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	require.NoError(t, os.MkdirAll(filepath.Join(home, "data"), 0o700))
	t.Setenv("HOME", home)
	require.NoError(t, os.Symlink("/proc/self", dir+"/process"))
	require.NoError(t, os.Symlink("/", dir+"/root"))
	l, err := net.Listen("unix", dir+"/socket")
	require.NoError(t, err)
	defer l.Close()
	for path, want := range map[string]string{
		"/":               "holds everything",
		dir + "/root":     "holds everything",
		home:              "the home directory",
		dir:               "the home directory",
		"/proc":           "the system's own",
		dir + "/process":  "the system's own",
		"/sys/kernel":     "the system's own",
		"/dev":            "the system's own",
		"/dev/tty":        "the system's own",
		"relative":        "is not absolute",
		home + "/nothing": "no such file",
		dir + "/socket":   "is a socket",
	} {
		t.Run(path, func(t *testing.T) {
			for _, cfg := range []foreign.Config{{Run: []string{path}}, {Read: []string{path}}, {Write: []string{path}}} {
				cfg.Path = program(t)
				_, err := foreign.Start(t.Context(), cfg)
				require.ErrorContains(t, err, "foreign: bad configuration")
				require.ErrorContains(t, err, want)
			}
		})
	}
	p := start(t, foreign.Config{Path: program(t), Args: []string{home + "/data/x"}, Read: []string{home + "/data", "/dev/zero"}, Waive: waived()})
	require.Empty(t, output(t, p))
	require.Contains(t, p.Output(), "No such file")
}

func TestNoExecNothingIsBothChangedAndExecuted(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	require.NoError(t, os.Mkdir(in, 0o700))
	own := filepath.Join(in, "cat")
	text, err := os.ReadFile(program(t))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(own, text, 0o700))
	for name, c := range map[string]struct {
		cfg  foreign.Config
		want string
	}{
		"the program is in what it changes": {foreign.Config{Path: own, Write: []string{dir}}, "one is in the other"},
		"executed in changed":               {foreign.Config{Run: []string{in}, Write: []string{dir}}, "one is in the other"},
		"changed in executed":               {foreign.Config{Run: []string{dir}, Write: []string{in}}, "one is in the other"},
		"the same":                          {foreign.Config{Run: []string{in}, Write: []string{in}}, "one is in the other"},
		"read in changed":                   {foreign.Config{Read: []string{in}, Write: []string{dir}}, "only to be read"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.cfg.Path == "" {
				c.cfg.Path = program(t)
			}
			_, err := foreign.Start(t.Context(), c.cfg)
			require.ErrorContains(t, err, "foreign: bad configuration")
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestAProgramSeesWhatIsDeclaredUnderItsName(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/real", 0o700))
	require.NoError(t, os.WriteFile(dir+"/real/file", []byte("text"), 0o600))
	require.NoError(t, os.Symlink("real", dir+"/link"))
	p := start(t, foreign.Config{
		Path: program(t), Args: []string{"file", dir + "/link/file", dir + "/real/file"},
		Read: []string{dir + "/link"}, Dir: dir + "/link", Waive: waived(),
	})
	require.Equal(t, "texttexttext", output(t, p))
}

func TestTheWorkingDirectoryIsDeclared(t *testing.T) {
	dir := t.TempDir()
	_, err := foreign.Start(t.Context(), foreign.Config{Path: program(t), Dir: dir})
	require.ErrorContains(t, err, "not a directory inside of Run, Read or Write")
}

func TestAScriptIsExecutedByItsInterpreter(t *testing.T) {
	dir := t.TempDir()
	cat := program(t)
	for name, c := range map[string]struct{ line, before string }{
		"absolute":      {"#!" + cat + "\n", ""},
		"by env":        {"#!/usr/bin/env cat\n", ""},
		"with argument": {"#! " + cat + " -n \n", "     1\t"},
		"of a script":   {"#!" + dir + "/one\n", "#!" + cat + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(dir+"/one", []byte("#!"+cat+"\n"), 0o700))
			file := filepath.Join(dir, name)
			require.NoError(t, os.WriteFile(file, []byte(c.line), 0o700))
			require.Equal(t, c.before+c.line, output(t, start(t, foreign.Config{Path: file, Waive: waived()})))
		})
	}
	for name, line := range map[string]string{
		"no interpreter": "#!\n", "env alone": "#!/usr/bin/env\n", "env with options": "#!/usr/bin/env -i cat\n",
		"env with a variable": "#!/usr/bin/env A=1 cat\n", "nowhere": "#!/nowhere/x\n", "itself": "#!" + dir + "/itself\n",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name)
			require.NoError(t, os.WriteFile(file, []byte(line), 0o700))
			_, err := foreign.Start(t.Context(), foreign.Config{Path: file})
			require.ErrorContains(t, err, "foreign: bad configuration")
		})
	}
}

func TestProgramsAreLookedUp(t *testing.T) {
	for _, name := range []string{"isolategpt-nothing", "./cat", "a/b", "/nowhere"} {
		_, err := foreign.Start(t.Context(), foreign.Config{Path: name})
		require.ErrorContains(t, err, "foreign: bad configuration")
	}
	p := start(t, foreign.Config{Path: "cat", Waive: waived()})
	require.NoError(t, p.Stdin().Close())
	require.Empty(t, output(t, p))
	require.ErrorContains(t, p.Err(), "exit status 0")
}
