package spoketest

import (
	"context"
	"fmt"

	"github.com/isolategpt/isolategpt/spoke"
)

// fetch asks a remote host for what a note names.
func fetch(ctx context.Context, hub spoke.Hub, n Note) (Note, error) {
	got, err := hub.Fetch(ctx, spoke.HTTPRequest{Method: "POST", URL: n.Text, Body: []byte("body")})
	if err != nil {
		return Note{}, err
	}
	return Note{Text: fmt.Sprintf("%d %s", got.Status, got.Body)}, nil
}

// fetchError tells all that the app learns of a failure.
func fetchError(ctx context.Context, hub spoke.Hub, n Note) (Note, error) {
	_, err := hub.Fetch(ctx, spoke.HTTPRequest{Method: "GET", URL: n.Text})
	return Note{Text: fmt.Sprint(err)}, nil
}

// fetchFlood asks until it is stopped.
func fetchFlood(ctx context.Context, hub spoke.Hub, n Note) (Note, error) {
	for {
		if _, err := fetch(ctx, hub, n); err != nil {
			return Note{}, err
		}
	}
}
