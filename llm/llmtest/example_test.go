package llmtest_test

import (
	"context"
	"fmt"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/llmtest"
)

func ExampleNewScript() {
	// A test passes its t, which then fails on any prompt that is not expected.
	script := llmtest.NewScript(nil,
		llmtest.JSON(`{"app":"metro"}`).For("plan").On("a ride"),
		llmtest.Say("Your ride is booked.").For("agent"),
	)
	for _, purpose := range []string{"agent", "plan", "plan"} {
		res, err := script.Generate(context.Background(), &llm.Request{
			Purpose:  purpose,
			Messages: []llm.Message{{Role: llm.User, Text: "Book a ride."}},
		})
		if err != nil {
			fmt.Println(llm.KindOf(err))
			continue
		}
		fmt.Println(res.Text)
	}
	// Output:
	// Your ride is booked.
	// {"app":"metro"}
	// bad request
}
