package hub

import (
	"context"
	"sync"

	"github.com/isolategpt/isolategpt/permission"
)

// people are the persons that dialogs and questions go to, by user: one thing
// at a time for each, since they may share a terminal.
type people struct {
	mu    sync.Mutex
	turns map[string]chan struct{}
}

// take waits for the user's attention.
func (p *people) take(ctx context.Context, user string) (give func(), err error) {
	p.mu.Lock()
	turn := p.turns[user]
	if turn == nil {
		if p.turns == nil {
			p.turns = map[string]chan struct{}{}
		}
		turn = make(chan struct{}, 1)
		p.turns[user] = turn
	}
	p.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// prompter is c, one dialog at a time with the questions. There is none without
// c.
func (p *people) prompter(c permission.ConsentPrompter) permission.ConsentPrompter {
	if c == nil {
		return nil
	}
	return permission.PrompterFunc(func(ctx context.Context, req permission.Request) (permission.Answer, error) {
		give, err := p.take(ctx, req.User)
		if err != nil {
			return permission.Answer{}, err
		}
		defer give()
		return c.Prompt(ctx, req)
	})
}
