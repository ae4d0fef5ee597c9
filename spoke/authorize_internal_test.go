package spoke

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
)

// gate is a way out that is asked about hosts.
type gate struct {
	Fetcher
	asked []string
	err   error
	hook  func(context.Context)
}

func (g *gate) Authorize(ctx context.Context, host string) error {
	g.asked = append(g.asked, host)
	if g.hook != nil {
		g.hook(ctx)
	}
	return g.err
}

func hostWith(f Fetcher) *host {
	return &host{manifest: isc.Manifest{Hosts: []string{"a.test"}}, http: f, limits: Limits{MaxCalls: 3}.orDefault()}
}

func TestAHostIsAskedAboutOnlyIfTheManifestNamesIt(t *testing.T) {
	g := &gate{}
	h := hostWith(g)
	h.begin(isc.Task{})
	for _, host := range []string{"b.test", "", "http://b.test", "A.test", "a.test:22", "https://a.test", "http://http://a.test"} {
		require.Equal(t, ErrRefused, hostFetcher{h}.Authorize(t.Context(), host), host)
	}
	require.Empty(t, g.asked)
	require.NoError(t, hostFetcher{h}.Authorize(t.Context(), "a.test"))
	require.NoError(t, hostFetcher{h}.Authorize(t.Context(), "http://a.test"))
	require.Equal(t, []string{"a.test", "http://a.test"}, g.asked)
	g.err = errors.New("dial 10.0.0.7")
	require.Equal(t, ErrRefused, hostFetcher{h}.Authorize(t.Context(), "a.test"), "why is not told")
	require.Equal(t, ErrRefused, hostFetcher{h}.Authorize(t.Context(), "a.test"))
	require.Len(t, g.asked, 3, "the fourth is over the bound")
}

func TestAHostIsAskedAboutOnlyWhileATaskRuns(t *testing.T) {
	g := &gate{}
	h := hostWith(g)
	require.Equal(t, ErrRefused, hostFetcher{h}.Authorize(t.Context(), "a.test"))
	h.begin(isc.Task{})
	g.hook = func(ctx context.Context) {
		require.Equal(t, ErrRefused, hostFetcher{h}.Authorize(ctx, "a.test"), "one at a time")
		h.finish()
		<-ctx.Done()
	}
	require.Equal(t, ErrRefused, hostFetcher{h}.Authorize(t.Context(), "a.test"), "a late yes is no other task's")
	require.Equal(t, ErrRefused, hostFetcher{h}.Authorize(t.Context(), "a.test"))
	require.Len(t, g.asked, 1)
}

func TestAWayOutThatCannotAskLetsNoConnectionOut(t *testing.T) {
	for _, f := range []Fetcher{nil, FetcherFunc(func(context.Context, HTTPRequest) (HTTPResponse, error) { return HTTPResponse{}, nil })} {
		h := hostWith(f)
		h.begin(isc.Task{})
		require.Equal(t, ErrRefused, hostFetcher{h}.Authorize(t.Context(), "a.test"))
	}
	panics := hostWith(&gate{hook: func(context.Context) { panic("x") }})
	panics.begin(isc.Task{})
	require.Equal(t, ErrRefused, hostFetcher{panics}.Authorize(t.Context(), "a.test"))
}

func TestAHandlersLeaseOnHostsEndsWithIt(t *testing.T) {
	g := &gate{}
	h := hostWith(g)
	h.begin(isc.Task{})
	l := &lease{Hub: &conversation{operator: &operator{http: hostFetcher{h}}}}
	require.NoError(t, l.Authorize(t.Context(), "a.test"))
	l.end()
	require.Equal(t, ErrEnded, l.Authorize(t.Context(), "a.test"))
	require.Equal(t, ErrRefused, (&lease{Hub: &conversation{operator: &operator{}}}).Authorize(t.Context(), "a.test"))
	require.Len(t, g.asked, 1)
}
