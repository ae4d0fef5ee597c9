package spoke_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/isolategpt/isolategpt/internal/child"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// starts are the kinds of processes, by what confines them.
func starts() map[string]*spoke.ProcessLauncher {
	return map[string]*spoke.ProcessLauncher{
		"unconfined":          spoke.Process(free),
		"confined":            spoke.Process(quick).Flat(),
		"confined+namespaces": spoke.Process(quick),
	}
}

// BenchmarkStart is the start of a spoke's process until it serves.
func BenchmarkStart(b *testing.B) {
	app := jail("jail")
	for name, l := range starts() {
		b.Run(name, func(b *testing.B) {
			var s samples
			for b.Loop() {
				s.add(startOne(b, l, app))
			}
			s.report(b)
		})
	}
	// One after another, so that what else the machine does meets all alike.
	b.Run("together", func(b *testing.B) {
		took := map[string]*samples{}
		for b.Loop() {
			for name, l := range starts() {
				if took[name] == nil {
					took[name] = new(samples)
				}
				took[name].add(startOne(b, l, app))
			}
		}
		bare := took["unconfined"].quantile(0.5)
		b.ReportMetric(float64(took["confined"].quantile(0.5))/float64(bare), "x-confined")
		b.ReportMetric(float64(took["confined+namespaces"].quantile(0.5))/float64(bare), "x-namespaces")
	})
}

// startOne starts a spoke, ends it, and says how long the start took.
func startOne(b *testing.B, l spoke.Launcher, app spoke.App) time.Duration {
	began := time.Now()
	i, err := l.Launch(context.Background(), spoke.Spec{App: app})
	took := time.Since(began)
	if err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	defer b.StartTimer()
	if err := i.Conn.Close(); err != nil {
		b.Fatal(err)
	}
	return took
}

// samples are durations. Their median says more than their mean on a machine that
// does other things as well.
type samples []time.Duration

func (s *samples) add(d time.Duration) { *s = append(*s, d) }

func (s samples) quantile(q float64) time.Duration {
	slices.Sort(s)
	return s[int(q*float64(len(s)-1))]
}

func (s samples) report(b *testing.B) {
	b.ReportMetric(float64(s.quantile(0.5).Microseconds()), "p50-us")
	b.ReportMetric(float64(s.quantile(0.1).Microseconds()), "p10-us")
}

// BenchmarkTakeWarm is the launch of a spoke whose process was kept ready.
func BenchmarkTakeWarm(b *testing.B) {
	cfg := quick
	cfg.Warm = 1
	l := spoke.Process(cfg)
	defer func() { _ = l.Close() }()
	if _, err := l.Probe(context.Background()); err != nil {
		b.Fatal(err)
	}
	app := jail("jail")
	var s samples
	for b.Loop() {
		b.StopTimer()
		for l.Idle() == 0 {
			time.Sleep(time.Millisecond)
		}
		b.StartTimer()
		s.add(startOne(b, l, app))
	}
	s.report(b)
}

var kilobyte = isc.Task{
	Kind: isc.TaskCall, Functionality: "echo",
	Body: json.RawMessage(`{"text":"` + strings.Repeat("x", 1000) + `"}`),
}

// BenchmarkRoundTrip1KB is a call and its answer: to a process that does nothing
// but decode and encode the messages, and to a confined spoke.
func BenchmarkRoundTrip1KB(b *testing.B) {
	b.Run("socketpair-same-codec", func(b *testing.B) {
		conn, end := echoProcess(b)
		defer end()
		roundTrips(b, conn)
	})
	for name, cfg := range everyKind() {
		b.Run(name, func(b *testing.B) {
			i, err := spoke.Process(cfg).Launch(context.Background(), spoke.Spec{App: pest()})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = i.Conn.Close() }()
			roundTrips(b, i.Conn)
		})
	}
}

func roundTrips(b *testing.B, c isc.HubConn) {
	b.ReportAllocs()
	var s samples
	for b.Loop() {
		began := time.Now()
		if err := c.Send(context.Background(), kilobyte); err != nil {
			b.Fatal(err)
		}
		if m, err := c.Recv(context.Background()); err != nil || m.(isc.Result).Status != isc.StatusDone {
			b.Fatal(m, err)
		}
		s.add(time.Since(began))
	}
	s.report(b)
}

const echoRole = "SPOKE_TEST_ECHO"

func echoProcess(b *testing.B) (isc.HubConn, func()) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err = errors.Join(err, syscall.SetNonblock(fds[0], true)); err != nil {
		b.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	c, err := child.Start(child.Config{Name: "echo", Env: []string{echoRole + "=1"}, Files: []*os.File{theirs}})
	if err != nil {
		b.Fatal(err)
	}
	_ = theirs.Close()
	return isc.NewHubConn(ours), func() { _ = c.End(func() { _ = ours.Close() }) }
}

// actAsEcho makes this program, when it is told so, one that echoes.
func actAsEcho() {
	if os.Getenv(echoRole) == "" {
		return
	}
	if err := syscall.SetNonblock(toHub, true); err != nil {
		panic(err)
	}
	c := isc.NewSpokeConn(os.NewFile(toHub, "hub"))
	for {
		m, err := c.Recv(context.Background())
		if err != nil {
			os.Exit(0)
		}
		if err := c.Send(context.Background(), isc.Result{Status: isc.StatusDone, Body: m.(isc.Task).Body}); err != nil {
			panic(err)
		}
	}
}

// BenchmarkIdleMemory is what a spoke that does nothing takes, its share of shared
// pages included, and how many of them live in 4 GiB.
func BenchmarkIdleMemory(b *testing.B) {
	for name, cfg := range everyKind() {
		b.Run(name, func(b *testing.B) {
			l := spoke.Process(cfg)
			var total, n float64
			for b.Loop() {
				var all []*spoke.Instance
				for range 20 {
					i, err := l.Launch(context.Background(), spoke.Spec{App: jail("jail")})
					if err != nil {
						b.Fatal(err)
					}
					all = append(all, i)
				}
				for _, pid := range children() {
					total, n = total+proportional(b, pid), n+1
				}
				for _, i := range all {
					_ = i.Conn.Close()
				}
			}
			b.ReportMetric(total/n, "MiB/spoke")
			b.ReportMetric(4096/(total/n), "spokes/4GiB")
		})
	}
}

// proportional is a process's share of memory in MiB.
func proportional(b *testing.B, pid string) float64 {
	text, err := os.ReadFile("/proc/" + pid + "/smaps_rollup")
	if err != nil {
		b.Skip(err) // one that is not dumpable shows it to root alone
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib / 1024
		}
	}
	b.Fatal("no Pss")
	return 0
}
