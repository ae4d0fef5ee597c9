package planner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/planner"
)

// sums is a catalogue of one functionality, and the reply of a model that adds
// up n times, one after another.
func sums(b testing.TB, n int) (*planner.Catalogue, string) {
	b.Helper()
	request := `{"type":"object","properties":{"a":{"type":"integer","minimum":0,"maximum":1000},"b":{"type":"integer","minimum":0,"maximum":1000}},"required":["a","b"],"additionalProperties":false}`
	response := `{"type":"object","properties":{"sum":{"type":"integer","minimum":0,"maximum":2000}},"required":["sum"],"additionalProperties":false}`
	c, err := planner.NewCatalogue(planner.CatalogueConfig{Manifests: []isc.Manifest{{ID: "adder", Functionalities: []isc.Functionality{
		{Name: "sum.a", Request: isc.MustFormat(request), Response: isc.MustFormat(response), Effect: isc.Read},
	}}}})
	if err != nil {
		b.Fatal(err)
	}
	steps := make([]string, n)
	for i := range steps {
		a := "1"
		if i > 0 {
			a = fmt.Sprintf(`{"step":"s%d","pointer":"/sum"}`, i-1)
		}
		steps[i] = fmt.Sprintf(`{"id":"s%d","do":"call","functionality":"sum.a","args":{"a":%s,"b":1}}`, i, a)
	}
	return c, fmt.Sprintf(`{"steps":[%s],"answer":{"template":["The sum is ",{"step":"s%d","pointer":"/sum"}]}}`, strings.Join(steps, ","), n-1)
}

// BenchmarkPlanCalls is the planner's share of a request: its model takes no time.
func BenchmarkPlanCalls(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("calls=%d", n), func(b *testing.B) {
			c, reply := sums(b, n)
			p, err := planner.New(planner.Config{LLM: llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
				return &llm.Response{Text: reply, Finish: llm.FinishStop}, nil
			})})
			if err != nil {
				b.Fatal(err)
			}
			in := planner.Input{Query: "Add these up.", Catalogue: c}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.PlanChecked(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkValidateCalls is the check of a plan that was decoded.
func BenchmarkValidateCalls(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("calls=%d", n), func(b *testing.B) {
			c, reply := sums(b, n)
			p, err := planner.DecodePlan([]byte(reply))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, problems := p.Validate(c, planner.ValidateInput{}); len(problems) > 0 {
					b.Fatal(problems)
				}
			}
		})
	}
}
