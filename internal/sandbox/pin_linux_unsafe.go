//go:build linux && (amd64 || arm64)

package sandbox

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

var errPlace = errors.New("sandbox: no room for the arguments of an execution")

func newImage(p Program) (*image, error) {
	var m image
	err := m.place(p)
	if err != nil {
		return nil, fmt.Errorf("sandbox: arguments of the execution: %w", err)
	}
	m.thread = unix.Gettid()
	return &m, nil
}

func (m *image) place(p Program) (err error) {
	if m.path, err = place(len(p.Path)+1, func(uint64) []byte { return append([]byte(p.Path), 0) }); err != nil {
		return err
	}
	if m.args, err = placeList(append([]string{p.Path}, p.Args...)); err != nil {
		return err
	}
	m.env, err = placeList(p.Env)
	return err
}

// execute returns only on failure. Unlike syscall.Exec it does not keep Go's runtime
// from starting a thread meanwhile; if that is refused the runtime tries again.
func (m *image) execute() syscall.Errno {
	_, errno := try(unix.SYS_EXECVE, m.path, m.args, m.env)
	return errno
}

// placeList places a list of addresses, ended by 0, and behind it what they are of.
func placeList(list []string) (uint64, error) {
	const word = 8
	head := word * (len(list) + 1)
	size := head
	for _, s := range list {
		size += len(s) + 1
	}
	return place(size, func(at uint64) []byte {
		var addresses []uint64
		var texts []byte
		for _, s := range list {
			addresses = append(addresses, at+uint64(head+len(texts)))
			texts = append(append(texts, s...), 0)
		}
		return append(words(append(addresses, 0)...), texts...)
	})
}

// place maps memory at a random address, page and offset, and fills it with n
// bytes that may hold addresses of their own.
func place(n int, fill func(at uint64) []byte) (uint64, error) {
	const flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_FIXED_NOREPLACE
	page := uint64(unix.Getpagesize())
	// The bits of an address: of most systems, and of arm64 with few.
	for _, bits := range []int{46, 38} {
		for range 64 {
			var random [8]byte
			_, _ = rand.Read(random[:]) // never fails
			at := binary.NativeEndian.Uint64(random[:]) >> (64 - bits) &^ 7
			start := at &^ (page - 1)
			size := int(at-start) + n
			got, errno := try(unix.SYS_MMAP, start, size, unix.PROT_READ|unix.PROT_WRITE, flags, -1, 0)
			switch {
			case errno == unix.ENOMEM: // beyond the addresses of this system
			case errno == unix.EEXIST || errno == unix.EPERM: // taken, or too low
				continue
			case errno != 0:
				return 0, errno
			case uint64(got) != start: // a kernel that does not know the flag
				return 0, errPlace
			default:
				copy(unsafe.Slice((*byte)(unsafe.Add(nil, at)), n), fill(at)) //nolint:gosec // G103: mapped just now, no memory of Go's
				_, errno = try(unix.SYS_MPROTECT, start, size, unix.PROT_READ)
				if errno != 0 {
					return 0, errno
				}
				return at, nil
			}
			break
		}
	}
	return 0, errPlace
}
