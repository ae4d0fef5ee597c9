package foreign

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/isolategpt/isolategpt/spoke"
)

// converse gives the line that ends the call. An error is that the program is not
// well, or the context's.
func (s *session) converse(ctx context.Context, c spoke.Call) (up, error) {
	select {
	case l := <-s.lines:
		if l.text != nil {
			return up{}, fmt.Errorf("%w: it speaks without being asked", ErrLine)
		}
		return up{}, orEOF(l.err)
	default:
	}
	say := down{Call: &task{Functionality: c.Functionality, Body: c.Body}}
	for {
		if err := s.write(ctx, say); err != nil {
			return up{}, err
		}
		u, err := s.hear(ctx)
		if err != nil || u.Result != nil || u.Error != "" {
			return u, err
		}
		say = serve(ctx, c.Hub, u)
	}
}

func orEOF(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}

func (s *session) hear(ctx context.Context) (up, error) {
	select {
	case l := <-s.lines:
		if l.text == nil {
			return up{}, orEOF(l.err)
		}
		return decodeUp(l.text)
	case <-ctx.Done():
		return up{}, context.Cause(ctx)
	}
}

// write says one thing to the program, which may not listen.
func (s *session) write(ctx context.Context, d down) error {
	text, err := d.encode()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = s.program.stdin.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := s.program.stdin.Write(text); err != nil {
		return io.EOF // it ended, closed its input, or its spoke ends
	}
	return nil
}

// serve asks the hub for what the program asks for.
func serve(ctx context.Context, hub spoke.Hub, u up) down {
	reply := down{Value: json.RawMessage("true")}
	var err error
	switch {
	case u.Use != nil:
		reply.Value, err = hub.Use(ctx, u.Use.Name, u.Use.Body)
	case u.Need != nil:
		reply = down{}
		reply.Values, err = hub.Need(ctx, u.Need...)
	case u.Confirm != nil:
		err = hub.Confirm(ctx, u.Confirm.Name, u.Confirm.Body)
	case u.Progress != nil:
		err = hub.Progress(ctx, *u.Progress)
	}
	if err != nil {
		return down{Error: wordFor(err)}
	}
	return reply
}
