package hub

import (
	"context"

	"github.com/isolategpt/isolategpt/permission"
)

// person is the one that all dialogs and questions of a hub go to: one at a
// time, since they may share a terminal.
type person chan struct{}

// take waits for the person's attention.
func (p person) take(ctx context.Context) (give func(), err error) {
	select {
	case p <- struct{}{}:
		return func() { <-p }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// prompter is c, one dialog at a time with the questions. There is none without
// c.
func (p person) prompter(c permission.ConsentPrompter) permission.ConsentPrompter {
	if c == nil {
		return nil
	}
	return permission.PrompterFunc(func(ctx context.Context, req permission.Request) (permission.Answer, error) {
		give, err := p.take(ctx)
		if err != nil {
			return permission.Answer{}, err
		}
		defer give()
		return c.Prompt(ctx, req)
	})
}
