//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// destined is what this process was confined to become.
type destined struct {
	program Program
	image   *image
	data    int64 // bytes; 0: no more than was bounded already
}

// destiny is a fact about the process, as its confinement is; nil: it stays.
var destiny atomic.Pointer[destined]

var errDestiny = errors.New("sandbox: execute: not the program, or not the goroutine, that was confined")

// destine says what the process becomes, before the filter, which lets only that
// pass, is made. It does nothing if the process stays.
func (c *confinement) destine() error {
	if c.Program == nil {
		return nil
	}
	image, err := newImage(*c.Program)
	if err != nil {
		return err
	}
	c.image = image
	d := &destined{program: *c.Program, image: image}
	if c.foreign() {
		// This program holds some data itself: the bound is put on the other one in
		// the last moment.
		d.data = c.Memory
	}
	destiny.Store(d)
	return nil
}

func exec(p Program) error {
	d := destiny.Load()
	if d == nil || !reflect.DeepEqual(p, d.program) || unix.Gettid() != d.image.thread {
		return errDestiny
	}
	if d.data != 0 {
		if err := bound(unix.RLIMIT_DATA, d.data); err != nil {
			return fmt.Errorf("sandbox: limit of data: %w", err)
		}
	}
	return &os.PathError{Op: "sandbox: execute", Path: p.Path, Err: d.image.execute()}
}
