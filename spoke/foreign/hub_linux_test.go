package foreign_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/spoke/foreign"
)

// actAsHub, in the environment, makes this program one that starts a python,
// says its process's number, and is killed. Its value is the python's path.
const actAsHub = "FOREIGN_TEST_HUB"

func beHub() {
	path := os.Getenv(actAsHub)
	if path == "" {
		return
	}
	err := func() error {
		_, read, err := foreign.Needs(os.Getenv(actAsHub + "_LIBRARY"))
		if err != nil {
			return err
		}
		p, err := foreign.Start(context.Background(), foreign.Config{
			Path: path, Args: []string{"-I", "-S", "-c", "import time; print('ready', flush=True)\nwhile True: time.sleep(60)"},
			Read: read, Waive: waived(),
		})
		if err != nil {
			return err
		}
		if _, err := bufio.NewReader(p.Stdout()).ReadString('\n'); err != nil {
			return err
		}
		lists, err := filepath.Glob("/proc/self/task/*/children")
		if err != nil {
			return err
		}
		for _, list := range lists {
			text, err := os.ReadFile(list)
			if err != nil {
				return err
			}
			fmt.Print(string(text))
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}()
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func TestDiesWithHubAProgramEndsWhenItsHubIsKilled(t *testing.T) {
	i := python(t)
	hub := exec.CommandContext(t.Context(), "/proc/self/exe")
	hub.Env = []string{actAsHub + "=" + i.path, actAsHub + "_LIBRARY=" + library(t, i.path)}
	var said bytes.Buffer
	hub.Stderr = &said
	out, err := hub.Output()
	require.ErrorContains(t, err, "killed", said.String())
	pid := strings.TrimSpace(string(out))
	require.NotEmpty(t, pid)
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		_, state, _ := bytes.Cut(stat, []byte(") "))
		return err != nil || bytes.HasPrefix(state, []byte("Z")) // whoever adopted it is slow to reap it
	}, 10*time.Second, 10*time.Millisecond)
}
