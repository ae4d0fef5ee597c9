package meter_test

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/internal/meter"
)

func sleeper(t *testing.T) *exec.Cmd {
	c := exec.Command("/bin/sleep", "1000")
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return c
}

func TestOnlyAChildHasAMeter(t *testing.T) {
	c := sleeper(t)
	m, err := meter.Open(c.Process.Pid)
	require.NoError(t, err)
	defer m.Close()
	r, err := m.Read()
	require.NoError(t, err)
	require.Positive(t, r.Memory)
	require.Equal(t, 1, r.Threads)

	for _, pid := range []int{1, os.Getpid(), os.Getppid()} {
		_, err := meter.Open(pid)
		require.ErrorContains(t, err, "another process's", "process %d", pid)
	}
	_, err = meter.Open(1 << 30)
	require.ErrorIs(t, err, os.ErrNotExist)

	require.NoError(t, c.Process.Kill())
	require.Error(t, c.Wait())
	_, err = m.Read()
	require.Error(t, err, "it has ended")
}

func TestAProcessThatIsGoneIsUnseen(t *testing.T) {
	c := sleeper(t)
	m, err := meter.Open(c.Process.Pid)
	require.NoError(t, err)
	var w meter.Watcher
	killed := make(chan struct{})
	one := w.Watch(m, meter.Bound{Memory: 1 << 30}, func() { close(killed) })
	defer one.End()
	require.NoError(t, one.Err())
	require.NoError(t, c.Process.Kill())
	select {
	case <-killed:
	case <-time.After(10 * time.Second):
		require.Fail(t, "it was not missed")
	}
	require.ErrorIs(t, one.Err(), meter.ErrUnseen)
}

// BenchmarkRead is one look at a process.
func BenchmarkRead(b *testing.B) {
	m, err := meter.OpenFile("/proc/" + strconv.Itoa(os.Getppid()) + "/status")
	require.NoError(b, err)
	defer m.Close()
	for b.Loop() {
		if _, err := m.Read(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIdle1000 is how much of a processor a thousand idle processes take.
func BenchmarkIdle1000(b *testing.B) {
	var w meter.Watcher
	for range 1000 {
		m, err := meter.OpenFile("/proc/" + strconv.Itoa(os.Getppid()) + "/status")
		require.NoError(b, err)
		one := w.Watch(m, meter.Bound{Memory: 1 << 40, Threads: 1 << 20}, func() {})
		one.Busy(false)
		defer one.End()
	}
	time.Sleep(2 * time.Second) // they become idle
	var used, took time.Duration
	for b.Loop() {
		began, before := time.Now(), processor(b)
		time.Sleep(time.Second)
		used, took = used+processor(b)-before, took+time.Since(began)
	}
	b.ReportMetric(100*used.Seconds()/took.Seconds(), "%-of-a-processor")
}

func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
