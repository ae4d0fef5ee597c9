package foreign

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// maxHold bounds a [Hold]; a piece of it is made unwritable at a time.
const (
	maxHold = 64 << 20
	piece   = 1 << 20
)

// holdUntilGo makes the attempt that a limit of data forgets, and lasts until the
// parent has judged it.
func holdUntilGo(parent io.Reader) (g Go, err error) {
	var h Hold
	if err := ReadFrame(parent, &h); err != nil {
		return Go{}, fmt.Errorf("foreign: waiting for what to hold: %w", err)
	}
	if h.Bytes < 0 || h.Bytes > maxHold {
		return Go{}, fmt.Errorf("foreign: asked to hold %d bytes, the most is %d", h.Bytes, maxHold)
	}
	release, err := hold(int(h.Bytes))
	defer release()
	if err != nil {
		return Go{}, fmt.Errorf("foreign: holding %d bytes of memory: %w", h.Bytes, err)
	}
	if err := ReadFrame(parent, &g); err != nil {
		return Go{}, fmt.Errorf("foreign: waiting for the word to go: %w", err)
	}
	return g, nil
}

// hold maps pieces, writes to each of their pages, and makes each unwritable
// before the next. release is never nil.
func hold(n int) (release func(), err error) {
	var held [][]byte
	release = func() {
		for _, b := range held {
			_ = unix.Munmap(b)
		}
	}
	for ; n > 0; n -= piece {
		b, err := unix.Mmap(-1, 0, min(n, piece), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
		if err != nil {
			return release, os.NewSyscallError("mmap", err)
		}
		held = append(held, b)
		for i := 0; i < len(b); i += os.Getpagesize() {
			b[i] = 1
		}
		if err := unix.Mprotect(b, unix.PROT_READ); err != nil {
			return release, os.NewSyscallError("mprotect", err)
		}
	}
	return release, nil
}
