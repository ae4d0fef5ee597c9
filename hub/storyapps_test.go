package hub_test

import (
	"context"
	"errors"
	"testing"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// storyApps are the apps that transcripts name.
var storyApps = map[string]func() spoke.App{
	"metro_hail":     metro,
	"quick_ride":     quick,
	"mail":           func() spoke.App { return (&postOffice{}).app() },
	"drive":          func() spoke.App { return (&cabinet{}).app() },
	"travel_mate":    travelMate,
	"symptom_solver": symptomSolver,
}

type flight struct {
	To string `json:"to" isolate:"role=destination"`
	On string `json:"on" isolate:"format=date"`
}

type ticket struct {
	Seat  string `json:"seat" isolate:"enum=aisle|window"`
	Guest bool   `json:"guest"`
}

// travelMate needs the traveller's name and books by itself.
func travelMate() spoke.App {
	return must(spoke.New(isc.Manifest{
		ID: "travel_mate", Name: "Travel Mate", Instructions: "You book trips.",
		Needs: []isc.DataField{{Name: "name", Purpose: "the name on the ticket"}},
	},
		spoke.FuncWith("flight.hold", func(ctx context.Context, h spoke.Hub, _ flight) (ticket, error) {
			got, err := h.Need(ctx, isc.DataField{Name: "name", Purpose: "the name on the ticket"})
			if errors.Is(err, spoke.ErrRefused) {
				return ticket{Seat: "aisle", Guest: true}, nil
			}
			return ticket{Seat: "window", Guest: len(got["name"]) == 0}, err
		}, spoke.Reads()),
		spoke.Func("flight.book", func(_ context.Context, _ flight) (ticket, error) { return ticket{Seat: "aisle"}, nil }),
	))
}

// symptomSolver is served by its own model.
func symptomSolver() spoke.App {
	return must(spoke.New(isc.Manifest{ID: "symptom_solver", Name: "Symptom Solver", Instructions: "Be factual."},
		spoke.Agent("symptom.assess",
			isc.MustFormat(`{"type":"object","additionalProperties":false,"required":["complaint"],"properties":{"complaint":{"type":"string"}}}`),
			isc.MustFormat(`{"type":"object","additionalProperties":false,"required":["text"],"properties":{"text":{"type":"string"}}}`),
			spoke.Reads())))
}

// functionalityOf is the definition of a story app's functionality.
func functionalityOf(t *testing.T, name isc.FunctionalityName) isc.Functionality {
	t.Helper()
	for _, app := range storyApps {
		if f, ok := app().Manifest().Find(name); ok {
			return f
		}
	}
	t.Fatalf("no story app has %s", name)
	return isc.Functionality{}
}

// storyMarket is a catalogue of story apps.
type storyMarket []string

func (m storyMarket) List(context.Context) ([]isc.Manifest, error) {
	var out []isc.Manifest
	for _, id := range m {
		out = append(out, storyApps[id]().Manifest())
	}
	return out, nil
}

func (m storyMarket) Open(_ context.Context, id isc.AppID) (spoke.App, error) {
	app, ok := storyApps[string(id)]
	if !ok {
		return nil, errors.New("story: not in the market")
	}
	return app(), nil
}
