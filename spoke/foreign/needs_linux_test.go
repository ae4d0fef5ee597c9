package foreign_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/spoke/foreign"
)

func TestNeedsOfAProgramAreItsLinkerAndLibraries(t *testing.T) {
	cat, err := filepath.EvalSymlinks(program(t))
	require.NoError(t, err)
	run, read, err := foreign.Needs(cat)
	require.NoError(t, err)
	require.Contains(t, run, cat)
	if len(run) == 1 {
		t.Skip("programs are static here")
	}
	require.Len(t, run, 2)
	libc := func(name string) bool { return strings.HasPrefix(filepath.Base(name), "libc.") }
	require.True(t, slices.ContainsFunc(read, libc), read)
	for _, name := range slices.Concat(run, read) {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.True(t, info.Mode().IsRegular(), "%s is no file: more than is needed", name)
	}
}

func TestNeedsOfAScriptAreItsInterpreters(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(script, []byte("#!/usr/bin/env cat\n"), 0o700))
	run, read, err := foreign.Needs(script)
	require.NoError(t, err)
	ofCat, _, err := foreign.Needs("cat")
	require.NoError(t, err)
	require.Equal(t, ofCat, run)
	require.Contains(t, read, script)
}

func TestNeedsOfADirectoryAreThoseOfItsExtensions(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/deep", 0o700))
	_, read, err := foreign.Needs(dir)
	require.NoError(t, err)
	require.Equal(t, []string{dir}, read)

	text, err := os.ReadFile(program(t))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(dir+"/deep/x.node", text, 0o600))
	require.NoError(t, os.WriteFile(dir+"/text.so", []byte("no library"), 0o600))
	run, read, err := foreign.Needs(dir)
	require.NoError(t, err)
	require.Empty(t, run)
	_, ofCat, err := foreign.Needs("cat")
	require.NoError(t, err)
	if len(ofCat) > 4 { // it is linked with something
		require.Greater(t, len(read), 1)
	}
	_, _, err = foreign.Needs("/")
	require.ErrorContains(t, err, "bad configuration")
}

// Whatever a program's file holds, it is judged or refused.
func FuzzNeeds(f *testing.F) {
	f.Add([]byte("#!/usr/bin/env cat -n\n"))
	f.Add([]byte("#! /nowhere \t x\n"))
	text, err := os.ReadFile(program(f))
	require.NoError(f, err)
	f.Add(text[:min(len(text), 4096)])
	file := filepath.Join(f.TempDir(), "program")
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, os.WriteFile(file, text, 0o700))
		run, read, err := foreign.Needs(file)
		if err != nil {
			require.Empty(t, slices.Concat(run, read))
			return
		}
		for _, name := range slices.Concat(run, read) {
			require.True(t, filepath.IsAbs(name))
		}
	})
}
