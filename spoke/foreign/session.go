package foreign

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// session is an app as one spoke has it, with one program. The spoke ends with
// the program.
type session struct {
	app     *App
	program *Program
	lines   chan line // what the program says
	mu      sync.Mutex
	fault   atomic.Pointer[error]              // why it is killed; nil: it is not
	dead    atomic.Pointer[spoke.ProcessError] // how it ended by itself
	closing chan struct{}                      // closed when the spoke ends
	once    sync.Once
	owned   sync.WaitGroup

	call        atomic.Pointer[spoke.Hub] // of the call that is served; nil: none is
	turn        chan struct{}             // holds one while a host is asked about
	connections connections
}

// line is a line of the program, or why there are no more.
type line struct {
	text []byte
	err  error
}

func newSession(a *App) *session {
	return &session{app: a, lines: make(chan line), closing: make(chan struct{}), turn: make(chan struct{}, 1)}
}

// begin listens to the program. Calling end ends the spoke.
func (s *session) begin(end func() error) {
	s.owned.Go(s.read)
	s.owned.Go(func() {
		<-s.program.Done()
		died, ok := errors.AsType[*spoke.ProcessError](s.program.Err())
		if !ok {
			return // it was asked to end
		}
		if fault := s.fault.Load(); fault != nil {
			why := *died
			why.Err = *fault
			died = &why
		}
		s.dead.Store(died)
		_ = end()
	})
}

// close ends the program. The spoke must have ended.
func (s *session) close() error {
	s.once.Do(func() { close(s.closing) })
	err := s.program.Close()
	if err == nil {
		s.owned.Wait()
	}
	return err
}

func (s *session) read() {
	defer close(s.lines)
	in := bufio.NewReader(s.program.stdout)
	for {
		var l line
		l.text, l.err = readLine(in)
		select {
		case s.lines <- l:
		case <-s.closing:
			return
		}
		if l.err != nil {
			return
		}
	}
}

func (s *session) Manifest() isc.Manifest { return s.app.Manifest() }

// Handle serves one call. When the program is not well, the spoke ends, and with
// it the context of the call.
func (s *session) Handle(ctx context.Context, c spoke.Call) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.call.Store(&c.Hub)
	defer s.connections.drop() // a later call's data is not for what this one's person allowed
	defer s.call.Store(nil)
	answer, err := s.converse(ctx, c)
	if err != nil {
		s.kill(ctx, err)
		<-ctx.Done()
		return nil, err
	}
	if answer.Error != "" {
		return nil, answer.Error.err()
	}
	return answer.Result, nil
}

// kill ends a program that does not keep to its protocol; one that said its last
// line is given the time to end by itself.
func (s *session) kill(ctx context.Context, cause error) {
	if cause == io.EOF {
		cause = fmt.Errorf("%w: it closed its input or output", ErrLine)
		timer := time.NewTimer(s.program.cfg.Grace)
		defer timer.Stop()
		select {
		case <-s.program.Done():
			return
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return // its spoke has ended
	}
	s.fault.Store(&cause)
	s.program.child.Kill()
}

// authorize asks about a host, in the name of the call that is served. Questions
// come one after another.
func (s *session) authorize(ctx context.Context, host string) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	hub := s.call.Load()
	if hub == nil {
		return spoke.ErrRefused
	}
	a, ok := (*hub).(spoke.Authorizer)
	if !ok {
		return spoke.ErrRefused
	}
	return a.Authorize(ctx, host)
}
