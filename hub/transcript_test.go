package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/memory"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

var update = flag.Bool("update", false, "rewrite the wanted parts of testdata/*.txtar")

// TestTranscripts runs whole stories. A file has the sections
//
//	apps      installed apps, by id
//	market    apps that could be installed
//	known     functionalities that the program vouches for
//	requests  a line each; "private: " before one, "revoke: " revokes all grants
//	model     what models say, in order: "purpose: text"
//	person    answers to dialogs, in order: "kind: decision [choice]"
//	answers   answers to questions, in order, in JSON; "-" gives none
//	want      what was recorded, in order: the trail, the dialogs, the answers
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			s := newStory(t, archive)
			got := s.tell()
			if *update {
				rewrite(t, file, archive, got)
				return
			}
			require.Equal(t, s.section("want"), got)
		})
	}
}

func rewrite(t *testing.T, file string, archive *txtar.Archive, got string) {
	t.Helper()
	for i, f := range archive.Files {
		if f.Name == "want" {
			archive.Files[i].Data = []byte(got)
			require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o644))
			return
		}
	}
	archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got)})
	require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o644))
}

// story is one transcript on its way. Everything that it logs is logged on the
// goroutine that does it, before it goes on, so the order is that of the run.
type story struct {
	t       *testing.T
	archive *txtar.Archive

	mu      sync.Mutex
	log     strings.Builder
	model   []string
	person  []string
	answers []string
	session *hub.Session
}

func newStory(t *testing.T, a *txtar.Archive) *story {
	s := &story{t: t, archive: a}
	s.model, s.person, s.answers = s.lines("model"), s.lines("person"), s.lines("answers")
	return s
}

func (s *story) section(name string) string {
	for _, f := range s.archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func (s *story) lines(name string) []string {
	var out []string
	for line := range strings.Lines(s.section(name)) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

func (s *story) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(&s.log, format+"\n", args...)
}

func (s *story) tell() string {
	var apps []spoke.App
	for _, id := range strings.Fields(s.section("apps")) {
		apps = append(apps, storyApps[id]())
	}
	var known []isc.Functionality
	for _, name := range strings.Fields(s.section("known")) {
		known = append(known, functionalityOf(s.t, isc.FunctionalityName(name)))
	}
	var listed []spoke.App
	for _, id := range strings.Fields(s.section("market")) {
		listed = append(listed, storyApps[id]())
	}
	s.session = open(s.t, hub.Config{
		Waive: bare(listed...),
		LLM:   llm.Func(s.generate), Apps: apps, Known: known, Memory: memory.InMemory(), Audit: s, Catalogue: storyMarket(strings.Fields(s.section("market"))),
		Consent: permission.PrompterFunc(s.prompt), Asker: hub.AskerFunc(s.ask),
	})
	for _, line := range s.lines("requests") {
		s.request(line)
	}
	require.Empty(s.t, s.model, s.log.String()+"the models were not asked for all of the script")
	require.Empty(s.t, s.person, s.log.String()+"the person was not asked all that the script answers")
	require.Empty(s.t, s.answers, s.log.String()+"the person was not asked all questions of the script")
	return s.log.String()
}

func (s *story) request(line string) {
	var opts []hub.Option
	text, private := strings.CutPrefix(line, "private: ")
	if private {
		opts = append(opts, hub.Private())
	}
	s.note("== %s", line)
	if line == "revoke: all" {
		s.revokeAll()
		return
	}
	a, err := s.session.Ask(s.t.Context(), text, opts...)
	if err != nil {
		s.note("error: %v", err)
		return
	}
	s.note("answer: %s", strings.ReplaceAll(a.Text, "\n", "\n        "))
	for _, m := range a.Missing {
		s.note("missing: %s", m)
	}
}

func (s *story) revokeAll() {
	grants, err := s.session.Grants(s.t.Context())
	require.NoError(s.t, err)
	for _, g := range grants {
		require.NoError(s.t, s.session.Revoke(s.t.Context(), g.ID))
		s.note("revoked: %s %s %s->%s %s", g.Decision, g.Kind, g.Caller, g.Provider, g.Functionality)
	}
}

// generate is every model of the story.
func (s *story) generate(_ context.Context, req *llm.Request) (*llm.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.model) == 0 {
		return nil, errors.New("story: no more lines for a model asked to " + req.Purpose)
	}
	purpose, text, ok := strings.Cut(s.model[0], ": ")
	if !ok || purpose != req.Purpose {
		return nil, fmt.Errorf("story: a model is asked to %s, and the script has %q", req.Purpose, s.model[0])
	}
	s.model = s.model[1:]
	fmt.Fprintf(&s.log, "model %s\n", purpose)
	return &llm.Response{Text: text, Finish: llm.FinishStop}, nil
}

func (s *story) prompt(ctx context.Context, req permission.Request) (permission.Answer, error) {
	s.mu.Lock()
	fmt.Fprintf(&s.log, "  dialog %s %s->%s %s %s\n", req.Kind, req.From.ID, req.To.ID, req.Functionality, req.Payload)
	for _, f := range req.Assessment {
		fmt.Fprintf(&s.log, "  ! %s\n", f.Code)
	}
	for _, f := range req.Flows {
		for _, in := range f.Inputs {
			fmt.Fprintf(&s.log, "  flow %s %s %s: %s %s%s\n", f.Step, f.App.ID, f.Functionality, in.Name, in.Literal, in.Source)
		}
	}
	if len(s.person) == 0 {
		s.mu.Unlock()
		return permission.Answer{}, nil
	}
	words := strings.Fields(s.person[0])
	s.person = s.person[1:]
	s.mu.Unlock()
	if words[0] != req.Kind.String()+":" {
		return permission.Answer{}, fmt.Errorf("story: asked %s, and the script answers %s", req.Kind, words[0])
	}
	if words[1] == "revoke" { // during the run, while the dialog is open
		s.revokeAll()
		words[1] = "once"
	}
	var d permission.Decision
	if err := d.UnmarshalText([]byte(words[1])); err != nil {
		return permission.Answer{}, err
	}
	a := req.Answer(d)
	if len(words) > 2 {
		a.Choice = isc.AppID(words[2])
	}
	return a, nil
}

func (s *story) ask(_ context.Context, q hub.Question) (json.RawMessage, error) {
	s.note("  question %s", q.Text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) == 0 || s.answers[0] == "-" {
		s.answers = s.answers[min(1, len(s.answers)):]
		return nil, errors.New("story: no answer")
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	return json.RawMessage(a), nil
}

// Append logs the trail.
func (s *story) Append(_ context.Context, r hub.Record) error {
	switch r.Event {
	case "message":
		s.note("  %s %s", who(r.App), r.Detail)
	case "decision":
		s.note("  %s %s->%s %s: %s by %s %s", r.Detail, r.From, r.App, r.Functionality, r.Decision, r.By, strings.Join(strings.Fields(r.Rule), ""))
	case "step":
		s.note("step %s", r.Detail)
	case "dropped":
		s.note("  dropped %s: %s", who(r.App), r.Reason)
	case "answer":
	default:
		s.note("%s %s %s", r.Event, who(r.App), r.Detail)
	}
	return nil
}

func who(id isc.AppID) string {
	if id == "" {
		return "-"
	}
	return string(id)
}
