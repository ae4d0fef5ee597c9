package foreign

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/isolategpt/isolategpt/internal/sandbox"
)

// The descriptors that the process inherits beside the standard ones: the
// connection to the parent, and what is to be the program's standard output.
const (
	channel = 3
	output  = 4
)

// become returns only on failure, of which it has told the parent.
func become() error {
	// Its end, when the program is executed, is what tells the parent so.
	unix.CloseOnExec(channel)
	parent := os.NewFile(channel, "parent")
	err := takeOutput()
	if err == nil {
		err = execute(parent)
	}
	_ = WriteFrame(parent, Report{Error: err.Error()}) // a parent that is gone needs no word
	return err
}

// takeOutput makes the second inherited descriptor the standard output, which
// was the parent's tail until now, as the standard error stays.
func takeOutput() error {
	if err := unix.Dup3(output, 1, 0); err != nil {
		return fmt.Errorf("foreign: taking the standard output: %w", err)
	}
	return unix.Close(output)
}

func execute(parent io.ReadWriter) error {
	runtime.LockOSThread() // until the end: the thread that is confined is the one that executes
	var p sandbox.Profile
	if err := ReadFrame(parent, &p); err != nil {
		return fmt.Errorf("foreign: reading the profile: %w", err)
	}
	if p.Program == nil {
		return errors.New("foreign: the profile names no program")
	}
	if p.Program.Proxy != 0 {
		if err := passListener(p); err != nil {
			return fmt.Errorf("foreign: making the proxy's listener: %w", err)
		}
	}
	isolation, err := sandbox.Confine(p)
	if err != nil {
		return err
	}
	if err := WriteFrame(parent, Report{Isolation: isolation}); err != nil {
		return fmt.Errorf("foreign: reporting: %w", err)
	}
	g, err := holdUntilGo(parent)
	if err != nil {
		return err
	}
	if !g.Go {
		return errors.New("foreign: the parent does not want it")
	}
	return sandbox.Exec(*p.Program)
}
