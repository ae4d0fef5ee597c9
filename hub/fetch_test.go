package hub_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

// caller is an app that reads from its host.
func caller() spoke.App {
	return must(spoke.New(isc.Manifest{ID: "caller", Name: "Caller", Hosts: []string{"a.test"}},
		spoke.FuncWith("page.read", func(ctx context.Context, h spoke.Hub, n note) (note, error) {
			res, err := h.Fetch(ctx, spoke.HTTPRequest{Method: "GET", URL: n.Text})
			if err != nil {
				return note{err.Error()}, nil
			}
			return note{string(res.Body)}, nil
		}, spoke.Reads())))
}

// TestAppsReachTheirHostsThroughTheHub: in whatever they run, with consent, and
// under no limit of silence while the person thinks.
func TestAppsReachTheirHostsThroughTheHub(t *testing.T) {
	for name, launcher := range map[string]spoke.Launcher{"in process": spoke.InProcess(), "process": spoke.Process(spoke.ProcessConfig{})} {
		t.Run(name, func(t *testing.T) {
			net := &internet{}
			p := &person{}
			s := open(t, hub.Config{
				Launcher: launcher, Apps: apps(caller()), HTTP: net, Limits: hub.Limits{Silence: 2 * time.Second},
				Consent: permission.PrompterFunc(func(ctx context.Context, r permission.Request) (permission.Answer, error) {
					thinking, cancel := context.WithTimeout(ctx, 3*time.Second)
					defer cancel()
					<-thinking.Done()
					return p.Prompt(ctx, r)
				}),
				Planner: plans(map[string]string{
					"read":  `{"steps":[{"id":"s","do":"call","functionality":"page.read","args":{"text":"https://a.test/x"}}],"answer":{"step":"s","pointer":"/text"}}`,
					"other": `{"steps":[{"id":"s","do":"call","functionality":"page.read","args":{"text":"https://b.test/x"}}],"answer":{"step":"s","pointer":"/text"}}`,
				}),
			})
			p.answer = func(r permission.Request) permission.Answer { return r.Answer(permission.AllowSession) }
			for range 2 {
				e := runs(t, s, "read")
				require.NoError(t, e.err)
				require.Contains(t, e.answer.Text, "hello")
			}
			require.Equal(t, []string{"send-remote"}, p.kinds(), "once in the session")
			e := runs(t, s, "other")
			require.NoError(t, e.err)
			require.Contains(t, e.answer.Text, spoke.ErrRefused.Error())
			require.Equal(t, []string{"https://a.test/x", "https://a.test/x"}, net.urls())
			require.Len(t, p.kinds(), 1)
		})
	}
}
