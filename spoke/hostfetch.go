package spoke

import (
	"context"
	"errors"
)

var errNoTask = errors.New("spoke: no task runs")

// hostFetcher is the spoke's way to the remote hosts of its manifest. It serves
// while a task runs, one request at a time.
type hostFetcher struct{ host *host }

func (f hostFetcher) Fetch(ctx context.Context, r HTTPRequest) (HTTPResponse, error) {
	h := f.host
	r, err := r.checked(h.manifest.Hosts)
	if err != nil || h.http == nil {
		return HTTPResponse{}, ErrRefused
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	task, ok := h.beginFetch(cancel)
	if !ok {
		return HTTPResponse{}, ErrRefused
	}
	response, err := contain(func() (HTTPResponse, error) { return h.http.Fetch(ctx, r) })
	switch current := h.endFetch(task); {
	case errors.Is(err, ErrRefused):
		return HTTPResponse{}, ErrRefused
	case err != nil || !current:
		return HTTPResponse{}, ErrFetch
	}
	response, err = response.checked()
	if err != nil {
		return HTTPResponse{}, ErrFetch
	}
	return response, nil
}

// beginFetch counts a request, or says that it may not be now.
func (h *host) beginFetch(leave context.CancelCauseFunc) (task int, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.running || h.leave != nil || h.fetches >= h.bound.MaxCalls {
		return 0, false
	}
	h.fetches++
	h.leave = leave
	return h.task, true
}

// endFetch says whether that task still runs: an answer that came late is no
// other task's.
func (h *host) endFetch(task int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leave = nil
	return h.running && h.task == task
}
