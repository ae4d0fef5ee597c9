package spoke

import (
	"context"
	"slices"
	"strings"
)

var (
	_ Authorizer = hostFetcher{}
	_ Authorizer = (*lease)(nil)
)

// Authorize asks about a host of the manifest, while a task runs, one at a time.
// It is counted like a request. Where nobody can be asked it is refused.
func (f hostFetcher) Authorize(ctx context.Context, host string) error {
	h := f.host
	a, ok := h.http.(Authorizer)
	if !ok || !slices.Contains(h.manifest.Hosts, strings.TrimPrefix(host, "http://")) {
		return ErrRefused
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	task, ok := h.beginFetch(cancel)
	if !ok {
		return ErrRefused
	}
	_, err := contain(func() (struct{}, error) { return struct{}{}, a.Authorize(ctx, host) })
	if current := h.endFetch(task); err != nil || !current {
		return ErrRefused
	}
	return nil
}

// Authorize asks the host side. It does not wait for what the handler asks at the
// same time: the connections are no part of the conversation.
func (c *conversation) Authorize(ctx context.Context, host string) error {
	a, ok := c.operator.http.(Authorizer)
	if !ok {
		return ErrRefused
	}
	return a.Authorize(ctx, host)
}

func (l *lease) Authorize(ctx context.Context, host string) error {
	if l.ended.Load() {
		return ErrEnded
	}
	a, ok := l.Hub.(Authorizer)
	if !ok {
		return ErrRefused
	}
	return a.Authorize(ctx, host)
}
