package planner_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/planner"
)

// filler are n functionalities of n/5 apps whose words mean nothing.
func filler(n int) []isc.Manifest {
	r := rand.New(rand.NewPCG(1, 2))
	syllables := strings.Fields("ba do gu ka lo me nu po ra so ti va xu ze")
	coin := func() string {
		var b strings.Builder
		for range 4 {
			b.WriteString(syllables[r.IntN(len(syllables))])
		}
		return b.String()
	}
	var out []isc.Manifest
	in, res := isc.MustFormat(`{"type":"object","properties":{"thing":{"type":"string"}},"required":["thing"],"additionalProperties":false}`), isc.MustFormat(fareOut)
	for i := 0; len(out) < n/5; i++ {
		m := isc.Manifest{ID: isc.AppID(fmt.Sprintf("%s-%s", coin(), letters(i))), Name: "App " + letters(i)}
		for j := range 5 {
			m.Functionalities = append(m.Functionalities, isc.Functionality{Name: isc.FunctionalityName(fmt.Sprintf("%s.%s%s%s", coin(), coin(), letters(i), letters(j))), Effect: isc.Read, Request: in, Response: res})
		}
		out = append(out, m)
	}
	return out
}

// letters writes a number without digits, and without letters that look alike.
func letters(n int) string {
	const set = "abcdefghjk"
	out := string(set[n%10])
	for n /= 10; n > 0; n /= 10 {
		out = string(set[n%10]) + out
	}
	return out
}

func shownEntries(tb testing.TB, cat *planner.Catalogue, query string, k int) []string {
	tb.Helper()
	var out []string
	model := llm.Func(func(_ context.Context, req *llm.Request) (*llm.Response, error) {
		last := req.Messages[len(req.Messages)-1].Text
		for line := range strings.SplitSeq(last, "\n") {
			if name, _, ok := strings.Cut(line, "("); ok && strings.HasPrefix(line, "- ") {
				out = append(out, strings.TrimPrefix(name, "- "))
			}
		}
		return &llm.Response{Text: `{"steps":[],"answer":""}`, Finish: llm.FinishStop}, nil
	})
	_, err := newPlanner(tb, planner.Config{LLM: model, Candidates: k}).Plan(tb.Context(), planner.Input{Query: query, Catalogue: cat})
	require.NoError(tb, err)
	return out
}

func TestIndexFindsWhatTheRequestNames(t *testing.T) {
	cat := catalogue(t, planner.CatalogueConfig{Manifests: append(filler(500), metro(), quick(), mail(), notes())})
	for query, want := range map[string][]string{
		"What are the fares of rides to the station?": {"ride.fare"},
		"Delete the mails from Bob":                   {"mail.delete", "mail.list"}, // the list gives the id that deleting needs
		"read my note about milk":                     {"note.read"},
	} {
		got := shownEntries(t, cat, query, 24)
		require.Len(t, got, 24)
		require.Subset(t, got, want, query)
		require.Equal(t, got, shownEntries(t, cat, query, 24), "deterministic")
	}
}

func TestSmallCatalogueIsShownWhole(t *testing.T) {
	cat := rideCatalogue(t)
	require.Len(t, shownEntries(t, cat, "anything", 32), len(cat.Entries()))
}

func TestWhatIsNotShownCannotBePlanned(t *testing.T) {
	cat := catalogue(t, planner.CatalogueConfig{Manifests: append(filler(100), mail())})
	model := &recorder{answers: map[string]func(int, *llm.Request) (string, error){"plan": func(int, *llm.Request) (string, error) {
		return `{"steps":[{"id":"s1","do":"call","functionality":"mail.send","args":{"to":"bob","body":"x"}}],"answer":{"step":"s1","pointer":""}}`, nil
	}}}
	_, err := newPlanner(t, planner.Config{LLM: model, Candidates: 3}).Plan(t.Context(), planner.Input{Query: "zzz", Catalogue: cat})
	require.ErrorContains(t, err, `there is no functionality "mail.send"`)
}

// BenchmarkPlan is the cost of planning beside the model's, over the number of
// entries in the catalogue.
func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			cat := catalogue(b, planner.CatalogueConfig{Manifests: append(filler(n), metro())})
			model := llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
				return &llm.Response{Text: goodPlan, Finish: llm.FinishStop}, nil
			})
			p := newPlanner(b, planner.Config{LLM: model})
			in := planner.Input{Query: "What is the fare of a ride from a to b?", Catalogue: cat}
			if _, err := p.Plan(b.Context(), in); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Plan(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNewCatalogue(b *testing.B) {
	ms := filler(10_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := planner.NewCatalogue(planner.CatalogueConfig{Manifests: ms}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	cat := rideCatalogue(b)
	p := decode(b, goodPlan)
	b.ReportAllocs()
	for b.Loop() {
		if _, problems := p.Validate(cat, planner.ValidateInput{}); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}
