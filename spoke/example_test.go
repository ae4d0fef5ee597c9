package spoke_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

type Trip struct {
	To     string `json:"to" isolate:"role=destination"`
	Riders int    `json:"riders" isolate:"min=1,max=6"`
}

type Fare struct {
	Fare float64 `json:"fare" isolate:"min=0"`
}

func fare(_ context.Context, t Trip) (Fare, error) {
	return Fare{Fare: 12.5 * float64(t.Riders)}, nil
}

func taxi() (spoke.App, error) {
	return spoke.New(isc.Manifest{ID: "taxi", Name: "Taxi"},
		spoke.Func("ride.fare", fare, spoke.Reads(), spoke.Describe("the fare of a ride")))
}

// An app of one Go function, run in this program.
func Example() {
	app, err := taxi()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	instance, err := spoke.InProcess().Launch(ctx, spoke.Spec{App: app})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = instance.Conn.Close() }()
	// What follows is the hub's work.
	for _, body := range []string{`{"to":"Main St 1","riders":2}`, `{"to":"Main St 1","riders":7}`} {
		err = instance.Conn.Send(ctx, isc.Task{Kind: isc.TaskCall, Functionality: "ride.fare", Body: json.RawMessage(body)})
		if err != nil {
			fmt.Println(err)
			return
		}
		m, err := instance.Conn.Recv(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		r := m.(isc.Result)
		fmt.Println(r.Status == isc.StatusDone, string(r.Body))
	}
	// Output:
	// true {"fare":25}
	// false
}

// The format of a function's input, as planners and other apps see it.
func ExampleFunc() {
	app, err := taxi()
	if err != nil {
		fmt.Println(err)
		return
	}
	f, _ := app.Manifest().Find("ride.fare")
	_, err = f.Request.Check([]byte(`{"to":"Main St 1","riders":2,"note":"hello"}`))
	fmt.Println(f.Effect, err != nil)
	// Output: read true
}

// A function that asks another app, and goes on where that is refused.
func ExampleFuncWith() {
	book := func(ctx context.Context, hub spoke.Hub, t Trip) (Fare, error) {
		_, err := hub.Use(ctx, "calendar.add", json.RawMessage(`{"title":"ride"}`))
		if err != nil && !errors.Is(err, spoke.ErrRefused) {
			return Fare{}, err
		}
		return fare(ctx, t)
	}
	app, err := spoke.New(isc.Manifest{ID: "taxi", Name: "Taxi", Wants: []isc.FunctionalityName{"calendar.add"}},
		spoke.FuncWith("ride.book", book))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(app.Manifest().Functionalities[0].Effect)
	// Output: irreversible
}

// A program that launches spokes as processes of itself calls Main before
// anything else: in the processes that Process starts it never returns.
func ExampleMain() {
	app, err := taxi()
	if err != nil {
		fmt.Println(err)
		return
	}
	spoke.Main(app)
	// From here on this is the ordinary program:
	launcher := spoke.Process(spoke.ProcessConfig{})
	_ = launcher
	fmt.Println("not a spoke")
	// Output: not a spoke
}
