package permission_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

func ExampleGate() {
	gate, err := permission.NewGate(permission.Config{
		Prompter: permission.PrompterFunc(func(_ context.Context, r permission.Request) (permission.Answer, error) {
			fmt.Printf("%s -> %s: %s, offered %v\n", r.From.ID, r.To.ID, r.Payload, r.Offered)
			return r.Answer(permission.AllowSession), nil
		}),
		Store:  permission.InMemoryStore(),
		Policy: permission.Balanced(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	session := gate.Session("alice")
	defer session.Close()
	q := permission.Question{
		Kind: permission.Collaborate, From: permission.Party{ID: "app.travel"}, To: permission.Party{ID: "app.mail"},
		Functionality: "search_mail", Effect: isc.Read, Pin: isc.DigestOf([]byte("the manifest")),
		Payload: json.RawMessage(`{"q":"hotel"}`), Label: isc.UserLabel(), Plan: permission.InPlan,
	}
	for range 2 {
		v := session.Run(permission.RunConfig{}).Check(context.Background(), q)
		fmt.Println(v.Allowed(), v.By)
	}
	// Output:
	// app.travel -> app.mail: {"q":"hotel"}, offered [deny once session permanent]
	// true user
	// true grant
}

func ExampleLayers() {
	policy, err := permission.Layers(permission.Balanced(),
		permission.Layer{Name: "organisation", Rules: []permission.Rule{
			{ID: "no-transfers", Effect: permission.RuleDeny, To: "app.bank", Functionality: "transfer"},
		}},
		permission.Layer{Name: "user", Rules: []permission.Rule{
			{ID: "shop-pays", Effect: permission.RuleAllow, From: "app.shop", To: "app.bank", Functionality: "*"},
		}},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range []isc.FunctionalityName{"transfer", "balance"} {
		r := permission.Explain(policy, permission.Question{
			Kind: permission.Collaborate, From: permission.Party{ID: "app.shop"}, To: permission.Party{ID: "app.bank"}, Functionality: f,
		})
		fmt.Println(f, r.Effect, r.Rule, r.Layer)
	}
	// Output:
	// transfer deny no-transfers organisation
	// balance allow shop-pays user
}
