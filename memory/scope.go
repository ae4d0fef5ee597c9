package memory

import (
	"context"

	"github.com/isolategpt/isolategpt/isc"
)

// Scope is a place in a [Memory] that nothing else reaches: the hub's or one
// app's, for one user. Its parts are kept apart, never joined into one string,
// so no name can be chosen that reaches into another scope. The zero Scope is
// invalid, and every Memory refuses it.
type Scope struct {
	user string
	app  isc.AppID
	hub  bool
}

// HubScope is what the hub remembers of user.
func HubScope(user string) Scope { return Scope{user: user, hub: true} }

// AppScope is what the spoke of app remembers of user.
func AppScope(user string, app isc.AppID) Scope { return Scope{user: user, app: app} }

// Parts are the user and the app; app is empty for the hub's scope. They are
// for stores that must write them down, in two columns.
func (s Scope) Parts() (user string, app isc.AppID, valid bool) {
	return s.user, s.app, s.hub != (s.app != "")
}

// View is a [Memory] fixed to one scope. It is all that a spoke gets: it cannot
// name another. The zero View remembers nothing.
type View struct {
	memory Memory
	scope  Scope
}

// NewView fixes m to scope.
func NewView(m Memory, scope Scope) View { return View{memory: m, scope: scope} }

// Append stores r.
func (v View) Append(ctx context.Context, r Record) error {
	if v.memory == nil {
		return nil
	}
	return v.memory.Append(ctx, v.scope, r)
}

// Records returns what q selects.
func (v View) Records(ctx context.Context, q Query) ([]Record, error) {
	if v.memory == nil {
		return nil, nil
	}
	return v.memory.Records(ctx, v.scope, q)
}

// Forget removes what q selects.
func (v View) Forget(ctx context.Context, q Query) (int, error) {
	if v.memory == nil {
		return 0, nil
	}
	return v.memory.Forget(ctx, v.scope, q)
}
