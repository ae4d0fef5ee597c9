package spoke

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/isolategpt/isolategpt/isc"
)

// lease is the [Hub] of one run of a handler. A goroutine that a handler left
// behind cannot speak in the name of what the spoke does next.
type lease struct {
	Hub
	ended atomic.Bool
}

func (l *lease) end() { l.ended.Store(true) }

func (l *lease) Use(ctx context.Context, name isc.FunctionalityName, body json.RawMessage) (json.RawMessage, error) {
	if l.ended.Load() {
		return nil, ErrEnded
	}
	return l.Hub.Use(ctx, name, body)
}

func (l *lease) Need(ctx context.Context, fields ...isc.DataField) (map[string]json.RawMessage, error) {
	if l.ended.Load() {
		return nil, ErrEnded
	}
	return l.Hub.Need(ctx, fields...)
}

func (l *lease) Confirm(ctx context.Context, name isc.FunctionalityName, body json.RawMessage) error {
	if l.ended.Load() {
		return ErrEnded
	}
	return l.Hub.Confirm(ctx, name, body)
}

func (l *lease) Fetch(ctx context.Context, r HTTPRequest) (HTTPResponse, error) {
	if l.ended.Load() {
		return HTTPResponse{}, ErrEnded
	}
	return l.Hub.Fetch(ctx, r)
}

func (l *lease) Progress(ctx context.Context, text string) error {
	if l.ended.Load() {
		return ErrEnded
	}
	return l.Hub.Progress(ctx, text)
}
