package sandboxtest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

// holder is what a victim counts with.
type holder struct {
	mu      sync.Mutex
	signals chan os.Signal
	n       int
}

// hold begins to count.
func (h *holder) hold() (victim, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.signals == nil {
		h.signals = make(chan os.Signal, 64)
		signal.Notify(h.signals, syscall.SIGUSR1, syscall.SIGPWR, syscall.SIGIO)
	}
	at, err := readable()
	return victim{PID: os.Getpid(), Address: at}, err
}

// report counts what came. It sends itself a signal, twice, since that, of a higher number, comes
// after what was there before.
func (h *holder) report() (victim, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.signals == nil {
		return victim{}, errors.New("sandboxtest: nothing is counted")
	}
	for range 2 {
		if err := syscall.Kill(os.Getpid(), syscall.SIGPWR); err != nil {
			return victim{}, err
		}
		for s := range h.signals {
			if s == syscall.SIGPWR {
				break
			}
			h.n++
		}
	}
	if h.n == 0 { // it may have been given to a thread that has not run since
		select {
		case <-h.signals:
			h.n++
		case <-time.After(late):
		}
	}
	return victim{PID: os.Getpid(), Signals: h.n}, nil
}

// late is how long a signal is waited for.
const late = 200 * time.Millisecond

// readable is where this process has memory that it may read, hexadecimal.
func readable() (string, error) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return "", fmt.Errorf("sandboxtest: a victim must not be confined: %w", err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		from, rest, _ := strings.Cut(lines.Text(), "-")
		if _, rights, _ := strings.Cut(rest, " "); strings.HasPrefix(rights, "r") {
			return from, nil
		}
	}
	return "", errors.New("sandboxtest: no readable memory")
}
