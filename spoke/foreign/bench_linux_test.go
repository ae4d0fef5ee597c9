package foreign_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/spoke/foreign"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n"

// mcpServer is the script of a Node MCP server that takes a directory, in its
// node_modules: ISOLATEGPT_MCP_SERVER=…/node_modules/.bin/mcp-server-filesystem.
func mcpServer(t testing.TB) foreign.Config {
	script := os.Getenv("ISOLATEGPT_MCP_SERVER")
	if script == "" {
		t.Skip("ISOLATEGPT_MCP_SERVER names no server to start")
	}
	script, err := filepath.EvalSymlinks(script)
	require.NoError(t, err)
	modules := script
	for filepath.Base(modules) != "node_modules" {
		modules = filepath.Dir(modules)
		require.NotEqual(t, "/", modules, "the server is in no node_modules")
	}
	dir := t.TempDir()
	return foreign.Config{Path: node(t).path, Args: []string{script, dir}, Read: []string{modules}, Write: []string{dir}, Waive: waived()}
}

func firstAnswer(t testing.TB, in io.Writer, out io.Reader) {
	_, err := io.WriteString(in, initialize)
	require.NoError(t, err)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, `"serverInfo"`)
}

func TestAnMCPServerOfNodeAnswers(t *testing.T) {
	p := start(t, mcpServer(t))
	firstAnswer(t, p.Stdin(), p.Stdout())
	require.NoError(t, p.Err())
}

// BenchmarkMCPServer starts a server to its first answer, bare and confined in
// turn, and gives the medians and their ratio.
func BenchmarkMCPServer(b *testing.B) {
	cfg := mcpServer(b)
	ways := []func() (end func()){
		func() func() {
			cmd := exec.Command(cfg.Path, cfg.Args...)
			cmd.Env = []string{}
			in, err := cmd.StdinPipe()
			require.NoError(b, err)
			out, err := cmd.StdoutPipe()
			require.NoError(b, err)
			require.NoError(b, cmd.Start())
			firstAnswer(b, in, out)
			return func() { _, _ = cmd.Process.Kill(), cmd.Wait() }
		},
		func() func() {
			p, err := foreign.Start(context.Background(), cfg)
			require.NoError(b, err)
			firstAnswer(b, p.Stdin(), p.Stdout())
			return func() { require.NoError(b, p.Close()) }
		},
	}
	took := make([][]time.Duration, len(ways))
	for _, way := range ways {
		way()() // what is read from the disk once
	}
	for b.Loop() {
		for i, way := range ways {
			begin := time.Now()
			end := way()
			took[i] = append(took[i], time.Since(begin))
			end()
		}
	}
	medians := make([]float64, len(ways))
	for i := range took {
		slices.Sort(took[i])
		medians[i] = float64(took[i][len(took[i])/2]) / float64(time.Millisecond)
	}
	b.ReportMetric(medians[0], "bare-ms")
	b.ReportMetric(medians[1], "confined-ms")
	b.ReportMetric(medians[1]/medians[0], "ratio")
}
