package terminal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/permission/terminal"
)

// unwrapped is what stands behind the bars, as if a line had no end.
func unwrapped(s string) string {
	return strings.ReplaceAll(s, "\n  | ", "")
}

func TestTargetsInArraysAreShownInFullWithTheirSource(t *testing.T) {
	long := "https://bank.example.test/" + strings.Repeat("a/", 200) + "middle" + strings.Repeat("/b", 200)
	for _, tt := range []struct{ pointer, payload string }{
		{"/urls/*", `{"urls":["` + long + `"]}`},
		{"/urls/*/to", `{"urls":[{"to":"` + long + `"}]}`},
		{"/*/to", `{"x":{"to":"` + long + `"}}`},
		{"/to/*", `{"to":{"*":"` + long + `"}}`},
		{"/to", `{"to":["` + long + `"]}`},
		{"", `"` + long + `"`},
	} {
		for _, role := range []isc.Role{isc.Destination, isc.Record, isc.Payload} {
			r := request()
			r.Payload = json.RawMessage(tt.payload)
			r.Fields = []permission.PayloadField{{Pointer: tt.pointer, Label: isc.AppLabel("app.notes"), Role: role}}
			got := terminal.Render(r)
			require.Equal(t, role != isc.Payload, strings.Contains(unwrapped(got), long), "%s as %s", tt.pointer, role)
			require.Equal(t, 1, strings.Count(got, "^ source: app:app.notes"), "%s: %s", tt.pointer, got)
		}
	}
}

func TestOnlyWhatAPointerSelectsIsATarget(t *testing.T) {
	r := request()
	long := strings.Repeat("word ", 100) + "middle" + strings.Repeat(" word", 100)
	r.Payload = json.RawMessage(`{"to":"bob","tolong":"` + long + `","x":{"body":"` + long + `"}}`)
	r.Fields = []permission.PayloadField{
		{Pointer: "/to", Label: isc.AppLabel("app.notes"), Role: isc.Destination},
		{Pointer: "/*/to", Label: isc.AppLabel("app.notes"), Role: isc.Destination},
		{Pointer: "/*/body/0", Label: isc.AppLabel("app.notes"), Role: isc.Destination},
	}
	got := terminal.Render(r)
	require.NotContains(t, unwrapped(got), "middle")
	require.Equal(t, 1, strings.Count(got, "^ source"))
}

func planRequest() permission.Request {
	r := request()
	r.Kind, r.From, r.To, r.Functionality, r.Purpose = permission.ApprovePlan, permission.Party{}, permission.Party{}, "", ""
	r.Payload = json.RawMessage(`{"steps":[{"args":{"to":"bob@example.test"},"id":"s1"}],"zz_marker":"raw"}`)
	r.Flows = []permission.Flow{{Step: "s1", App: permission.Party{ID: "app.mail", Name: "Mail"}, Functionality: "send_email",
		Inputs: []permission.FlowInput{{Name: "to", Literal: json.RawMessage(`"bob@example.test"`), Label: isc.UserLabel()}}}}
	return r
}

func TestAPlanIsShownByItsFlowsAndItsDataBehindView(t *testing.T) {
	r := planRequest()
	got := terminal.Render(r)
	require.Contains(t, got, "step s1: app.mail | Mail\n")
	require.Contains(t, got, `  | to = "bob@example.test"`)
	require.Contains(t, got, "The plan as data, 3 values: v shows it\n")
	require.NotContains(t, got, "zz_marker")
	_, out, err := script(t, r, "v\n\n")
	require.NoError(t, err)
	require.Contains(t, out, `zz_marker = "raw"`)
	require.Contains(t, out, "Shortened above: 1; v shows all.\n")

	r.Flows = nil // as when a plan may go beyond its bound: there is nothing else that tells it
	require.Contains(t, terminal.Render(r), "zz_marker")
}

func TestWhatAPlanStatesIsNeverShortened(t *testing.T) {
	r := planRequest()
	long := strings.Repeat("echo prep ", 100) + "middle " + strings.Repeat("echo prep ", 100)
	r.Flows[0].Inputs[0].Literal = json.RawMessage(`"` + long + `"`)
	require.Contains(t, unwrapped(terminal.Render(r)), long)
}

func TestWhateverIsShortenedIsCountedAndNotAllowedForGoodUnseen(t *testing.T) {
	long := strings.Repeat("long ", 100)
	for name, change := range map[string]func(*permission.Request){
		"value":    func(r *permission.Request) { r.Payload = json.RawMessage(`{"q":"` + long + `"}`) },
		"purpose":  func(r *permission.Request) { r.Purpose = long },
		"query":    func(r *permission.Request) { r.Query = long },
		"sender":   func(r *permission.Request) { r.From.Name = long },
		"receiver": func(r *permission.Request) { r.To.Name = long },
		"flow app": func(r *permission.Request) {
			r.Flows = []permission.Flow{{Step: "s1", App: permission.Party{ID: "app.a", Name: long}}}
		},
		"flow source": func(r *permission.Request) {
			r.Flows = []permission.Flow{{Step: "s1", Inputs: []permission.FlowInput{{Name: "x", Source: long}}}}
		},
	} {
		r := request()
		change(&r)
		ans, out, err := script(t, r, "p\np\np\n")
		require.NoError(t, err)
		require.Equal(t, permission.Deny, ans.Decision, name)
		require.Contains(t, out, "Not everything was shown (1 shortened)", name)
		ans, _, err = script(t, r, "v\np\n")
		require.NoError(t, err)
		require.Equal(t, permission.AllowPermanent, ans.Decision, name)
	}
	_, out, err := script(t, request(), "\n")
	require.NoError(t, err)
	require.NotContains(t, out, "Shortened")
}

func TestAProbeIsSaidToBeOne(t *testing.T) {
	const words = "only to learn whether someone serves it"
	r := request()
	require.NotContains(t, terminal.Render(r), words)
	r.Probe = true
	require.Contains(t, terminal.Render(r), words)
	_, out, err := script(t, r, "s\n")
	require.NoError(t, err)
	require.Contains(t, unwrapped(out), "allow collaborate ("+words+")")
}

// Two users may share a terminal: their dialogs do not mix.
func TestDialogsThatComeAtOnceAreShownOneAfterTheOther(t *testing.T) {
	in, typed := io.Pipe()
	defer typed.Close()
	var mu sync.Mutex
	var out bytes.Buffer
	p := terminal.New(in, locked{&mu, &out}, terminal.Pipe())
	first := make(chan permission.Answer, 1)
	go func() {
		ans, _ := p.Prompt(context.Background(), request())
		first <- ans
	}()
	_, err := typed.Write([]byte("?")) // read by the first dialog, or the next line is
	require.NoError(t, err)
	time.Sleep(20 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = p.Prompt(ctx, request())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	mu.Lock()
	require.Equal(t, 1, strings.Count(out.String(), "CONSENT"))
	mu.Unlock()
	_, err = typed.Write([]byte("\no\n"))
	require.NoError(t, err)
	require.Equal(t, permission.AllowOnce, (<-first).Decision)
}
