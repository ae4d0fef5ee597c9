package permission_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/permission/permissiontest"
)

func openFile(t *testing.T, path string) *permission.FileStore {
	t.Helper()
	s, err := permission.OpenFile(path)
	require.NoError(t, err)
	return s
}

func TestStores(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		permissiontest.TestStore(t, func(*testing.T) permission.Store { return permission.InMemoryStore() })
	})
	t.Run("file", func(t *testing.T) {
		permissiontest.TestStore(t, func(t *testing.T) permission.Store { return openFile(t, filepath.Join(t.TempDir(), "g.json")) })
	})
}

func TestFileStoreSurvivesAndIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.json")
	require.NoError(t, openFile(t, path).Put(t.Context(), permissiontest.Grant("alice", "1")))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	got, err := openFile(t, path).Grants(t.Context(), "alice")
	require.NoError(t, err)
	require.Equal(t, permissiontest.Grant("alice", "1"), got[0])
	left, err := filepath.Glob(path + ".*.tmp")
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestCase21UnusableStores(t *testing.T) {
	good := `{"version":1,"grants":[{"id":"1","user":"alice","kind":"%s","pin":"sha256:` + strings.Repeat("0", 64) + `","decision":"%s","created":"2026-12-01T08:30:00Z"%s}]}`
	require.NoError(t, os.WriteFile(filepath.Join(t.TempDir(), "x"), nil, 0o600))
	files := map[string]struct {
		text string
		want error
	}{
		"empty":        {"", permission.ErrCorrupt},
		"blank":        {"\n", permission.ErrCorrupt},
		"truncated":    {`{"version":1,"grants":[{"id":"g1","eff`, permission.ErrCorrupt},
		"wrong type":   {`{"version":1,"grants":{"g1":"allow"}}`, permission.ErrCorrupt},
		"newer":        {`{"version":99,"grants":[{"id":"g1","when":{"new":"thing"}}]}`, permission.ErrNewer},
		"no version":   {`{"grants":[]}`, permission.ErrCorrupt},
		"null":         {`null`, permission.ErrCorrupt},
		"unknown key":  {fmt.Sprintf(good, "collaborate", "permanent", `,"scope":"*"`), permission.ErrCorrupt},
		"irreversible": {fmt.Sprintf(good, "irreversible", "permanent", ""), permission.ErrCorrupt},
		"session":      {fmt.Sprintf(good, "collaborate", "session", ""), permission.ErrCorrupt},
		"double":       {`{"version":1,"version":1,"grants":[]}`, permission.ErrCorrupt},
		"zeros":        {strings.Repeat("\x00", 100), permission.ErrCorrupt},
	}
	for name, tt := range files {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "g.json")
			s := openFile(t, path)
			require.NoError(t, os.WriteFile(path, []byte(tt.text), 0o600))
			_, err := permission.OpenFile(path)
			require.ErrorIs(t, err, tt.want)
			typed, ok := errors.AsType[*permission.StoreError](err)
			require.True(t, ok)
			require.Equal(t, path, typed.Path)

			// A store that was opened before sees it too.
			require.ErrorIs(t, s.Put(t.Context(), permissiontest.Grant("alice", "2")), tt.want)
			require.ErrorIs(t, s.Revoke(t.Context(), "alice", "1"), tt.want)
			p := &person{decision: permission.AllowPermanent}
			v := gate(t, p, ask, s).Session("alice").Run(permission.RunConfig{}).Check(t.Context(), question())
			require.Equal(t, permission.AllowOnce, v.Decision)
			require.EqualValues(t, 1, p.asked.Load())
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, tt.text, string(after), "the file is left as it is")
		})
	}
	path := filepath.Join(t.TempDir(), "g.json")
	require.NoError(t, os.WriteFile(path, []byte(fmt.Sprintf(good, "collaborate", "permanent", "")), 0o600))
	openFile(t, path)
}

func TestCase21SharedFiles(t *testing.T) {
	for _, name := range []string{"truncated", "empty", "wrong-type", "newer"} {
		raw := shared(t, "21-perm-store-corrupt/"+name+".json")
		path := filepath.Join(t.TempDir(), "g.json")
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		_, err := permission.OpenFile(path)
		require.Error(t, err, name)
		require.Equal(t, name == "newer", errors.Is(err, permission.ErrNewer), name)
	}
}

// Two writers, each with its own handle, as two processes have.
func TestCase21TwoWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.json")
	errs := make(chan error, 2)
	for _, w := range []string{"a", "b"} {
		go func() {
			s, err := permission.OpenFile(path)
			for i := 0; err == nil && i < 30; i++ {
				err = s.Put(t.Context(), permissiontest.Grant("alice", fmt.Sprintf("%s%d", w, i)))
			}
			errs <- err
		}()
	}
	require.NoError(t, errors.Join(<-errs, <-errs))
	got, err := openFile(t, path).Grants(t.Context(), "alice")
	require.NoError(t, err)
	require.Len(t, got, 60)
}

func TestCase21RevocationByAnotherProcessCountsAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.json")
	p := &person{decision: permission.AllowPermanent}
	s := gate(t, p, ask, openFile(t, path)).Session("alice")
	run := s.Run(permission.RunConfig{})
	require.True(t, run.Check(t.Context(), question()).Allowed())
	require.Equal(t, "grant", run.Check(t.Context(), question()).By)
	grants, err := s.Grants(t.Context())
	require.NoError(t, err)
	require.NoError(t, openFile(t, path).Revoke(t.Context(), "alice", grants[0].ID))
	p.decision = permission.Deny
	denied(t, run.Check(t.Context(), question()), "by the user")
}

func FuzzOpenFile(f *testing.F) {
	f.Add([]byte(`{"version":1,"grants":[]}`))
	f.Add([]byte(`{"version":99}`))
	f.Add([]byte(`{"version":1,"grants":[{"id":"1","user":"a","kind":"collaborate","decision":"permanent"}]}`))
	path := filepath.Join(f.TempDir(), "g.json")
	f.Fuzz(func(t *testing.T, raw []byte) {
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		s, err := permission.OpenFile(path)
		require.Equal(t, err == nil, s != nil)
		if err == nil {
			require.NoError(t, s.Put(t.Context(), permissiontest.Grant("fuzz", "fuzz")))
		}
	})
}
