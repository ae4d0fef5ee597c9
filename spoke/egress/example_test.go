package egress_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"

	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/egress"
)

// A program keeps the key of a service, and no app sees it.
func ExampleNew() {
	client, err := egress.New(egress.Config{Hosts: map[string]egress.Host{
		"api.example.com": {Credentials: func(context.Context) (http.Header, error) {
			return http.Header{"Authorization": {"Bearer key-of-the-program"}}, nil
		}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	// It is given to a spoke as spoke.Spec.HTTP, or to all as hub.Config.HTTP.
	_, err = client.Fetch(context.Background(), spoke.HTTPRequest{Method: "GET", URL: "http://169.254.169.254/latest/meta-data/"})
	fmt.Println(errors.Is(err, spoke.ErrRefused))
	fmt.Println(err)
	// Output:
	// true
	// egress: host "": refused: the URL names no host, or one with a port
}
