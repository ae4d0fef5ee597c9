package spoke_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// linuxApps are the apps of this system's tests.
func linuxApps() []spoke.App { return []spoke.App{hog()} }

// hog is an app that takes what no limit of its process counts.
func hog() spoke.App {
	reserved := reservations() // read while it can be
	endless := func(take func() (string, error)) func(context.Context, words) (words, error) {
		return func(context.Context, words) (words, error) {
			text, err := take()
			return words{text}, err
		}
	}
	app, err := spoke.New(isc.Manifest{ID: "hog", Name: "Hog"},
		spoke.Func("reservations", endless(func() (string, error) { return takeReservations(reserved) }), spoke.Reads()),
		spoke.Func("tables", endless(takeTables), spoke.Reads()),
		spoke.Func("threads", endless(takeThreads), spoke.Reads()),
		spoke.Func("headless", endless(endFirstThread), spoke.Reads()),
		spoke.Func("pid", func(context.Context, words) (words, error) { return words{strconv.Itoa(os.Getpid())}, nil }, spoke.Reads()),
	)
	if err != nil {
		panic(err)
	}
	return app
}

type region struct{ from, to uintptr }

// reservations are the address space that Go's runtime has reserved and does not
// use yet.
func reservations() []region {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	var out []region
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		from, to, _ := strings.Cut(fields[0], "-")
		a, err := strconv.ParseUint(from, 16, 64)
		b, err2 := strconv.ParseUint(to, 16, 64)
		if errors.Join(err, err2) == nil && len(fields) == 5 && fields[1] == "---p" {
			out = append(out, region{uintptr(a), uintptr(b)})
		}
	}
	return out
}

// pipe passes bytes between addresses that no slice stands for.
type pipe [2]int

func newPipe() (p pipe, err error) { return p, syscall.Pipe(p[:]) }

// writeTo writes to the byte at an address.
func (p pipe) writeTo(at uintptr) error {
	_, err := syscall.Write(p[1], []byte{1})
	if _, _, errno := syscall.Syscall(syscall.SYS_READ, uintptr(p[0]), at, 1); errno != 0 {
		return errno
	}
	return err
}

// readFrom reads the byte at an address.
func (p pipe) readFrom(at uintptr) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_WRITE, uintptr(p[1]), at, 1); errno != 0 {
		return errno
	}
	_, err := syscall.Read(p[0], make([]byte, 1))
	return err
}

// takeReservations makes pieces of them writable, writes to each of their pages,
// and makes each unwritable before the next, so that none counts as data.
func takeReservations(all []region) (string, error) {
	const piece, write = 1 << 20, syscall.PROT_READ | syscall.PROT_WRITE
	p, err := newPipe()
	if err != nil {
		return "", err
	}
	taken := 0
	for _, r := range all {
		for at := r.from; at+piece <= r.to && taken < 512; at += piece {
			if _, _, errno := syscall.Syscall(syscall.SYS_MPROTECT, at, piece, write); errno != 0 {
				return "", errno
			}
			for page := at; page < at+piece; page += 4096 {
				if err := p.writeTo(page); err != nil {
					return "", err
				}
			}
			if _, _, errno := syscall.Syscall(syscall.SYS_MPROTECT, at, piece, syscall.PROT_READ); errno != 0 {
				return "", errno
			}
			taken++
		}
	}
	return "worked: " + strconv.Itoa(taken) + " MiB", nil
}

// takeTables reads a page of nothing in each of many GiB. It takes no page for
// that, but tables.
func takeTables() (string, error) {
	const reserve, gib = syscall.MAP_PRIVATE | syscall.MAP_ANONYMOUS | syscall.MAP_NORESERVE, 1 << 30
	p, err := newPipe()
	if err != nil {
		return "", err
	}
	taken := 0
	for ; taken < 15000; taken++ {
		at, _, errno := syscall.Syscall6(syscall.SYS_MMAP, 1<<44+uintptr(taken)*gib, 4096, syscall.PROT_READ, reserve, ^uintptr(0), 0)
		if errno != 0 {
			break
		}
		if err := p.readFrom(at); err != nil {
			return "", err
		}
	}
	return "worked: " + strconv.Itoa(taken*8) + " KiB", nil
}

func takeThreads() (string, error) {
	p, err := newPipe()
	if err != nil {
		return "", err
	}
	for range 700 {
		go func() { _, _ = syscall.Read(p[0], make([]byte, 1)) }()
	}
	select {}
}

func endFirstThread() (string, error) {
	for {
		go func() {
			runtime.LockOSThread()
			if syscall.Gettid() == syscall.Getpid() {
				_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
			}
			time.Sleep(time.Hour)
		}()
		time.Sleep(time.Millisecond)
	}
}
