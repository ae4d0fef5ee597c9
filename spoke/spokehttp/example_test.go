package spokehttp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/spokehttp"
)

type Trip struct {
	To string `json:"to"`
}

type Fare struct {
	Fare float64 `json:"fare"`
}

// A handler asks its service with an ordinary http.Client.
func ExampleTransport() {
	fare := func(ctx context.Context, hub spoke.Hub, _ Trip) (Fare, error) {
		client := &http.Client{Transport: spokehttp.Transport(hub)}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://api.example.com/fare", nil)
		if err != nil {
			return Fare{}, err
		}
		res, err := client.Do(req)
		if err != nil {
			return Fare{}, err
		}
		defer func() { _ = res.Body.Close() }()
		var out Fare
		err = json.NewDecoder(res.Body).Decode(&out)
		return out, err
	}
	taxi, err := spoke.New(isc.Manifest{ID: "taxi", Name: "Taxi", Hosts: []string{"api.example.com"}},
		spoke.FuncWith("ride.fare", fare, spoke.Reads()))
	if err != nil {
		log.Fatal(err)
	}
	// Outside, a program uses egress.New; this one answers itself.
	outside := spoke.FetcherFunc(func(_ context.Context, r spoke.HTTPRequest) (spoke.HTTPResponse, error) {
		fmt.Println(r.Method, r.URL)
		return spoke.HTTPResponse{Status: 200, Body: []byte(`{"fare":12.5}`)}, nil
	})
	i, err := spoke.InProcess().Launch(context.Background(), spoke.Spec{App: taxi, HTTP: outside})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = i.Conn.Close() }()
	task := isc.Task{Kind: isc.TaskCall, Functionality: "ride.fare", Body: json.RawMessage(`{"to":"Main St 1"}`)}
	if err := i.Conn.Send(context.Background(), task); err != nil {
		log.Fatal(err)
	}
	reply, err := i.Conn.Recv(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(reply.(isc.Result).Body))
	// Output:
	// GET https://api.example.com/fare
	// {"fare":12.5}
}
