package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/isolategpt/isolategpt/permission"
)

// ErrNoTerminal is for an input that is no terminal: nobody may be there.
// Nothing was read from it.
var ErrNoTerminal = errors.New("terminal: the input is not a terminal; use Pipe to accept it")

// settleTime is how long keys are ignored after a dialog appeared.
const settleTime = 500 * time.Millisecond

// maxMistakes is how often an answer that is none is asked again.
const maxMistakes = 3

// Option changes a [Prompter].
type Option func(*Prompter)

// Pipe accepts an input that is no terminal, as for tests and for scripts that
// answer. What was written before the dialog is then not thrown away, since a
// script writes ahead.
func Pipe() Option { return func(p *Prompter) { p.pipe = true } }

// Prompter asks on a terminal. It is made by [New]. Requests that come at once
// are shown one after the other; the later one waits until its context ends.
type Prompter struct {
	turn chan struct{}
	in   io.Reader
	out  io.Writer
	pipe bool
	pump *pump // of an input that cannot be told to stop
}

// New makes a prompter that reads from in and writes to out, usually os.Stdin
// and os.Stderr.
func New(in io.Reader, out io.Writer, opts ...Option) *Prompter {
	p := &Prompter{turn: make(chan struct{}, 1), in: in, out: out}
	for _, o := range opts {
		o(p)
	}
	return p
}

// Prompt shows req and reads an answer. It returns when ctx ends, at once. An
// input that is no terminal gives [ErrNoTerminal]; its end gives io.EOF.
//
// On systems where the terminal can be read with a deadline (Linux) nothing is
// left behind. Elsewhere, and with [Pipe], one goroutine a prompter stays blocked
// in a read of in until something comes; what it reads between two dialogs is
// thrown away on a terminal and kept for the next dialog on a pipe.
func (p *Prompter) Prompt(ctx context.Context, req permission.Request) (permission.Answer, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return permission.Answer{}, context.Cause(ctx)
	}
	in, stop, err := p.open()
	if err != nil {
		return permission.Answer{}, err
	}
	defer stop()
	d := &dialog{req: req, out: p.out, in: in, expires: req.Expires}
	if err := d.write(Render(req)); err != nil {
		return permission.Answer{}, err
	}
	if !p.pipe {
		if err := p.settle(ctx, in); err != nil {
			d.gone(err)
			return permission.Answer{}, err
		}
	}
	ans, err := d.ask(ctx)
	if err != nil {
		d.gone(err)
		return permission.Answer{}, err
	}
	return ans, nil
}

// open gives the input and what stops reading it.
func (p *Prompter) open() (*pump, func(), error) {
	if p.pipe {
		if p.pump == nil {
			p.pump = newPump(p.in)
		}
		return p.pump, func() {}, nil
	}
	f, ok := p.in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, nil, ErrNoTerminal
	}
	if own, ok := reopen(f); ok {
		in := newPump(own)
		return in, func() {
			_ = own.SetReadDeadline(time.Unix(1, 0)) // a file that has none was not reopened
			in.wait()
			own.Close()
		}, nil
	}
	if p.pump == nil {
		p.pump = newPump(f)
	}
	return p.pump, func() {}, nil
}

// reopen opens the terminal f anew, so that a read of it can be given a
// deadline. The first file is left as it is: other programs may share it.
func reopen(f *os.File) (*os.File, bool) {
	own, err := os.OpenFile(f.Name(), os.O_RDONLY, 0)
	if err != nil {
		return nil, false
	}
	if own.SetReadDeadline(time.Time{}) != nil {
		own.Close()
		return nil, false
	}
	return own, true
}

// settle throws away what was typed before and while the dialog appeared, and
// goes on as long as keys keep coming, for up to ten times its length.
func (p *Prompter) settle(ctx context.Context, in *pump) error {
	for range 10 {
		lines, err := in.discard(ctx, settleTime)
		if err != nil {
			return err
		}
		begun, err := p.discardBegun(ctx, in)
		if err != nil || lines+begun == 0 {
			return err
		}
	}
	return nil
}

// rawTime is how long the terminal is raw to read a line that was begun. It is
// short, since what others write meanwhile comes out ragged.
const rawTime = 20 * time.Millisecond

// discardBegun throws away a line that has no end yet. The terminal hands it out
// only while it is raw.
func (p *Prompter) discardBegun(ctx context.Context, in *pump) (int, error) {
	fd := int(p.in.(*os.File).Fd())
	old, err := term.MakeRaw(fd)
	if err != nil {
		return 0, err
	}
	defer func() { _ = term.Restore(fd, old) }() // as it was, or not at all
	return in.discard(ctx, rawTime)
}

// dialog is one request being asked.
type dialog struct {
	req     permission.Request
	out     io.Writer
	in      *pump
	expires time.Time
	viewed  bool
}

func (d *dialog) write(s string) error {
	_, err := io.WriteString(d.out, s)
	return err
}

// gone says that the dialog is over without an answer.
func (d *dialog) gone(err error) {
	_ = d.write(fmt.Sprintf("\n(denied: %s)\n", visible(err.Error())))
}

// line shows a prompt and reads a line. At half of the time it says what is left.
func (d *dialog) line(ctx context.Context, prompt string) (string, error) {
	if err := d.write(prompt); err != nil {
		return "", err
	}
	var half <-chan time.Time
	if left := time.Until(d.expires) / 2; left > time.Second {
		t := time.NewTimer(left)
		defer t.Stop()
		half = t.C
	}
	var b strings.Builder
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-half:
			if err := d.write(fmt.Sprintf("\n(%s, then it is denied) your key: ", remaining(d.expires))); err != nil {
				return "", err
			}
		case c, ok := <-d.in.bytes:
			switch {
			case !ok:
				return "", d.in.err
			case c == '\n' || c == '\r':
				return strings.TrimSpace(b.String()), nil
			case b.Len() < maxLine:
				b.WriteByte(c)
			}
		}
	}
}

// maxLine bounds an answer, in bytes. What is longer is no key.
const maxLine = 1024

func remaining(until time.Time) string {
	return fmt.Sprintf("%d s left", max(0, int(time.Until(until).Round(time.Second).Seconds())))
}
