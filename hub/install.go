package hub

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/planner"
)

// install offers the person to install an app that serves e, and installs the
// one agreed to. What is installed must be what was shown, to the byte of its
// manifest.
//
// Source: paper §IV-C1 (the hub might install apps with user consent).
func (r *run) install(ctx context.Context, e planner.Entry, by seeker) (isc.AppID, error) {
	offered := r.registry().offering(e)
	if len(offered) == 0 {
		return "", &stepError{isc.StatusRefused, "no installed app serves " + e.Name}
	}
	ids := make([]isc.AppID, len(offered))
	for i, m := range offered {
		ids[i] = m.ID
	}
	id := ids[0]
	if len(ids) > 1 {
		var err error
		if id, err = r.selectApp(ctx, e, ids, by); err != nil {
			return "", err
		}
	}
	listed := r.registry().market[id]
	payload, err := json.Marshal(listed)
	if err != nil {
		return "", &stepError{isc.StatusRefused, "the manifest cannot be shown"}
	}
	if payload, err = isc.Canonical(payload); err != nil {
		return "", &stepError{isc.StatusRefused, "the manifest cannot be shown"}
	}
	v := r.admit(ctx, by.ask(permission.Question{
		Kind: permission.InstallApp, To: r.party(id), Functionality: e.Functionality, Effect: e.Effect,
		Pin: listed.Digest(), Payload: payload, Label: isc.AppLabel(id),
	}))
	if !v.Allowed() {
		return "", &stepError{isc.StatusRefused, "not installed: " + v.Reason}
	}
	if err := r.hub.install(ctx, id, listed.Digest()); err != nil {
		return "", &stepError{isc.StatusFailed, "could not be installed: " + err.Error()}
	}
	r.emit(ctx, Installed{App: id})
	if err := r.record(ctx, Record{Event: "install", App: id, Digest: listed.Digest()}); err != nil {
		return "", err
	}
	return id, nil
}

// install fetches the app and makes it part of the hub.
func (h *Hub) install(ctx context.Context, id isc.AppID, want isc.Digest) error {
	h.installing.Lock()
	defer h.installing.Unlock()
	if m, here := h.registry.Load().manifest(id); here && m.Digest() == want {
		return nil // another run was faster
	}
	m, add, err := h.fetch(ctx, id)
	if err != nil {
		return err
	}
	if m.ID != id || m.Digest() != want {
		return fmt.Errorf("hub: install %s: the catalogue delivered another manifest than it listed", id)
	}
	next, err := h.registry.Load().with(m)
	if err != nil {
		return err
	}
	add()
	h.registry.Store(next)
	return nil
}
