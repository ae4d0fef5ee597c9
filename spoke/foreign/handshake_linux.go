package foreign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	inside "github.com/isolategpt/isolategpt/internal/foreign"
	"github.com/isolategpt/isolategpt/internal/sandbox"
	"github.com/isolategpt/isolategpt/spoke"
)

// handshake says to the process what it is, hears what it is confined to, and
// lets it execute the program if that is enough.
func (p *Program) handshake(ctx context.Context, conn *net.UnixConn, profile sandbox.Profile) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := conn.SetDeadline(time.Now().Add(p.cfg.StartTimeout)); err != nil {
		return err
	}
	err := p.confine(ctx, conn, profile)
	if err == nil {
		err = letGo(conn)
		if p.seen != nil {
			p.seen.Bind(p.cfg.bound()) // it runs since just now
		}
	}
	if _, unmet := errors.AsType[*spoke.UnmetError](err); unmet {
		return err
	}
	switch {
	case err != nil && ctx.Err() != nil, err == nil && !stop():
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("foreign: starting %q: it took more than %s", p.cfg.App, p.cfg.StartTimeout)
	case err == io.EOF:
		return fmt.Errorf("foreign: starting %q: its process ended before it was confined", p.cfg.App)
	case err != nil:
		return fmt.Errorf("foreign: starting %q: %w", p.cfg.App, err)
	}
	return nil
}

// confine has the process confine itself and judges what came of it.
func (p *Program) confine(ctx context.Context, conn *net.UnixConn, profile sandbox.Profile) error {
	if err := inside.WriteFrame(conn, profile); err != nil {
		return err
	}
	if profile.Program.Proxy != 0 {
		l, err := receiveListener(conn)
		if err != nil {
			return err
		}
		if p.proxy, err = serveProxy(p.cfg, l); err != nil {
			return err
		}
	}
	var r inside.Report
	if err := inside.ReadFrame(conn, &r); err != nil {
		return err
	}
	if r.Error != "" {
		return errors.New(r.Error)
	}
	p.isolation = r.Isolation
	p.isolation.Name = kind
	if p.boundMemory(ctx, conn); ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p.isolation = p.isolation.Preferring(p.cfg.Prefer)
	if missing := p.cfg.needs().Without(p.isolation.Has); missing != 0 {
		return &spoke.UnmetError{App: p.cfg.App, Isolation: p.isolation, Missing: missing}
	}
	return nil
}

// letGo returns when the program is executed: its side of the connection ends
// with that.
func letGo(conn *net.UnixConn) error {
	if err := inside.WriteFrame(conn, inside.Go{Go: true}); err != nil {
		return err
	}
	var r inside.Report
	err := inside.ReadFrame(conn, &r)
	switch {
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	default:
		return errors.New(r.Error)
	}
}

var errListener = errors.New("its process passed no listener out")

// receiveListener takes the one descriptor that comes with the one byte before
// the report. A process that cannot get so far sends its report instead.
func receiveListener(conn *net.UnixConn) (net.Listener, error) {
	body, control := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := conn.ReadMsgUnix(body, control)
	if err != nil {
		return nil, err
	}
	files, err := passedFiles(control[:oobn])
	defer func() {
		for _, f := range files {
			_ = f.Close() // FileListener copies
		}
	}()
	var r inside.Report
	switch {
	case err == nil && n == 1 && len(files) == 1:
		return net.FileListener(files[0])
	case n == 0:
		return nil, io.EOF
	case inside.ReadFrame(io.MultiReader(bytes.NewReader(body), conn), &r) == nil:
		return nil, errors.New(r.Error)
	}
	return nil, errors.Join(errListener, err)
}

func passedFiles(control []byte) ([]*os.File, error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			return files, err
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "listener"))
		}
	}
	return files, nil
}
