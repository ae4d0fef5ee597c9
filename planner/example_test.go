package planner_test

import (
	"context"
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/planner"
)

func Example() {
	catalogue, err := planner.NewCatalogue(planner.CatalogueConfig{Manifests: []isc.Manifest{metro(), quick()}})
	if err != nil {
		fmt.Println(err)
		return
	}
	model := llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
		return &llm.Response{Finish: llm.FinishStop, Text: `{"steps":[
			{"id":"s1","do":"call","functionality":"ride.fare","app":"metro-hail","args":{"from":"home","to":"work"}},
			{"id":"s2","do":"call","functionality":"ride.fare","app":"quick-ride","args":{"from":"home","to":"work"}}],
			"answer":[{"step":"s1","pointer":"/fare"},{"step":"s2","pointer":"/fare"}]}`}, nil
	})
	p, err := planner.New(planner.Config{LLM: model})
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := p.Plan(context.Background(), planner.Input{Query: "Fares from home to work?", Catalogue: catalogue})
	if err != nil {
		fmt.Println(err)
		return
	}
	checked, problems := plan.Validate(catalogue, planner.ValidateInput{})
	fmt.Println(len(problems), checked.Order(), checked.Primary(), checked.Changes())
	// Output: 0 [s1 s2] [metro-hail quick-ride] []
}

func ExamplePlan_Validate() {
	catalogue, err := planner.NewCatalogue(planner.CatalogueConfig{Manifests: []isc.Manifest{metro()}})
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := planner.DecodePlan([]byte(`{"steps":[{"id":"s1","do":"call","functionality":"ride.fare","args":{"from":"home"}}],
		"answer":{"step":"s1","pointer":"/price"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, problems := plan.Validate(catalogue, planner.ValidateInput{})
	for _, p := range problems {
		fmt.Println(p)
	}
	// Output:
	// step s1 /args: ride.fare needs "to"
	// plan /answer: the result of s1 has no "/price"
}
