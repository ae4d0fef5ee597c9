package llmtest

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/isolategpt/isolategpt/llm"
)

func (k *kit) text(t *testing.T) {
	m := k.newModel(t, Exchange{
		Text: "Rome is the capital.", Usage: llm.Usage{InputTokens: 11, OutputTokens: 5},
		Has: []string{"Which city?", "ünïcode \"quoted\""}, Lacks: []string{"purpose-never-sent"},
	})
	req := saying("Which city?\nünïcode \"quoted\"")
	req.Purpose = "purpose-never-sent"
	req.MaxTokens = 100
	req.Temperature = new(0.0)
	res := k.must(t, m, req)
	if res.Text != "Rome is the capital." || res.Finish != llm.FinishStop || len(res.Calls) > 0 {
		t.Errorf("got %+v", res)
	}
	if res.Usage != (llm.Usage{InputTokens: 11, OutputTokens: 5}) {
		t.Errorf("Usage is %+v", res.Usage)
	}
}

func (k *kit) history(t *testing.T) {
	m := k.newModel(t, Exchange{Text: "fine", Has: []string{"be brief", "first question", "first answer", "second question"}})
	res := k.must(t, m, &llm.Request{Messages: []llm.Message{
		{Role: llm.System, Text: "be brief"},
		{Role: llm.User, Text: "first question"},
		{Role: llm.Assistant, Text: "first answer"},
		{Role: llm.User, Text: "second question"},
	}})
	if res.Text != "fine" {
		t.Errorf("got %+v", res)
	}
}

// schema replies have to come back in the asker's own terms, however they were
// asked for.
func (k *kit) schema(t *testing.T) {
	for _, c := range []struct{ name, schema, reply string }{
		{"object", `{"type":"object","properties":{"city":{"type":"string"},"n":{"type":"integer"}},"required":["city","n"],"additionalProperties":false}`,
			`{"city":"Rome","n":3}`},
		{"absent optional property", `{"type":"object","properties":{"city":{"type":"string","pattern":"^R"},"zip":{"type":"string","format":"x"}},"required":["city"]}`,
			`{"city":"Rome"}`},
		{"array at the root", `{"type":"array","items":{"enum":["a","b"]},"maxItems":3}`, `["a","b"]`},
		{"alternatives at the root", `{"anyOf":[{"type":"object","properties":{"k":{"const":"x"}},"required":["k"]},{"type":"integer"}]}`, `{"k":"x"}`},
		{"recursion", `{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/T"}}},"required":["kids"]}}}`,
			`{"kids":[{"kids":[]}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := k.newModel(t, Exchange{JSON: c.reply})
			req := saying("Which city?")
			req.Schema = json.RawMessage(c.schema)
			res := k.must(t, m, req)
			got, err := llm.Extract(res.Text)
			if err != nil || !equalJSON(string(got), c.reply) {
				t.Errorf("want %s, got %q (%v)", c.reply, res.Text, err)
			}
			if res.Finish != llm.FinishStop || len(res.Calls) > 0 {
				t.Errorf("got %+v", res)
			}
		})
	}
	t.Run("prose is no value", func(t *testing.T) {
		m := k.newModel(t, Exchange{Text: "I would say Rome."})
		req := saying("Which city?")
		req.Schema = json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)
		res, err := k.ask(within(t), t, m, req)
		if err != nil {
			wantKind(t, err, llm.Malformed)
			return
		}
		if got, err := llm.Extract(res.Text); err == nil {
			t.Errorf("prose became the value %s", got)
		}
	})
}

func equalJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

func weather() llm.Tool {
	return llm.Tool{
		Name: "weather.get", Description: "The weather of a city.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"day":{"type":"string"}},"required":["city"],"additionalProperties":false}`),
	}
}

func (k *kit) tools(t *testing.T) {
	if !llm.CapabilitiesOf(k.newModel(t, Exchange{Text: "-", Always: true})).Tools {
		t.Run("are refused", func(t *testing.T) {
			req := saying("Is it raining?")
			req.Tools = []llm.Tool{weather()}
			_, err := k.ask(within(t), t, k.newModel(t, Exchange{Text: "-", Always: true}), req)
			wantKind(t, err, llm.BadRequest)
		})
		return
	}
	t.Run("one call", k.oneCall)
	t.Run("parallel calls", k.parallelCalls)
	t.Run("no call", k.noCall)
	t.Run("results", k.results)
	t.Run("with a schema", k.toolsAndSchema)
	t.Run("arguments that are no JSON", k.badArguments)
}

func (k *kit) oneCall(t *testing.T) {
	m := k.newModel(t, Exchange{
		Calls: []llm.ToolCall{{ID: "c1", Name: "weather.get", Arguments: json.RawMessage(`{"city":"Rome","day":"today"}`)}},
		Has:   []string{"The weather of a city."},
	})
	req := saying("Is it raining?")
	req.Tools = []llm.Tool{weather()}
	res := k.must(t, m, req)
	if res.Finish != llm.FinishTools || len(res.Calls) != 1 {
		t.Fatalf("got %+v", res)
	}
	c := res.Calls[0]
	if c.ID != "c1" || c.Name != "weather.get" || !equalJSON(string(c.Arguments), `{"city":"Rome","day":"today"}`) {
		t.Errorf("got %s %s %s", c.ID, c.Name, c.Arguments)
	}
}

func (k *kit) parallelCalls(t *testing.T) {
	m := k.newModel(t, Exchange{Calls: []llm.ToolCall{
		{ID: "a", Name: "weather.get", Arguments: json.RawMessage(`{"city":"Rome","day":"today"}`)},
		{ID: "b", Name: "weather.get", Arguments: json.RawMessage(`{"city":"Oslo","day":"tomorrow"}`)},
		{ID: "c", Name: "clock", Arguments: json.RawMessage(`{}`)},
	}})
	req := saying("Where is it raining?")
	req.Tools = []llm.Tool{weather(), {Name: "clock"}}
	res := k.must(t, m, req)
	if len(res.Calls) != 3 || res.Calls[0].ID != "a" || res.Calls[1].ID != "b" || res.Calls[2].Name != "clock" {
		t.Fatalf("got %+v", res.Calls)
	}
	if !equalJSON(string(res.Calls[0].Arguments), `{"city":"Rome","day":"today"}`) ||
		!equalJSON(string(res.Calls[1].Arguments), `{"city":"Oslo","day":"tomorrow"}`) {
		t.Errorf("the arguments are mixed up: %s, %s", res.Calls[0].Arguments, res.Calls[1].Arguments)
	}
}

func (k *kit) noCall(t *testing.T) {
	m := k.newModel(t, Exchange{Text: "No idea at all."})
	req := saying("Is it raining?")
	req.Tools = []llm.Tool{weather()}
	if res := k.must(t, m, req); res.Text != "No idea at all." || len(res.Calls) > 0 || res.Finish != llm.FinishStop {
		t.Errorf("got %+v", res)
	}
}

func (k *kit) results(t *testing.T) {
	m := k.newModel(t, Exchange{Text: "It rains in Rome.", Has: []string{"it pours", "it is dry", "id-a", "id-b"}})
	req := &llm.Request{
		Messages: []llm.Message{
			{Role: llm.User, Text: "Where is it raining?"},
			{Role: llm.Assistant, Calls: []llm.ToolCall{
				{ID: "id-a", Name: "weather.get", Arguments: json.RawMessage(`{"city":"Rome"}`)},
				{ID: "id-b", Name: "weather.get", Arguments: json.RawMessage(`{"city":"Oslo"}`)},
			}},
			{Role: llm.ToolResult, CallID: "id-a", Text: "it pours"},
			{Role: llm.ToolResult, CallID: "id-b", Text: "it is dry"},
		},
		Tools: []llm.Tool{weather()},
	}
	if res := k.must(t, m, req); res.Text != "It rains in Rome." {
		t.Errorf("got %+v", res)
	}
}

func (k *kit) toolsAndSchema(t *testing.T) {
	m := k.newModel(t,
		Exchange{Calls: []llm.ToolCall{{ID: "a", Name: "weather.get", Arguments: json.RawMessage(`{"city":"Rome"}`)}}},
		Exchange{JSON: `{"wet":true}`},
	)
	req := saying("Is it raining?")
	req.Tools = []llm.Tool{weather()}
	req.Schema = json.RawMessage(`{"type":"object","properties":{"wet":{"type":"boolean"}},"required":["wet"]}`)
	if res := k.must(t, m, req); len(res.Calls) != 1 || res.Calls[0].Name != "weather.get" {
		t.Errorf("got %+v", res)
	}
	res := k.must(t, m, req)
	if got, err := llm.Extract(res.Text); err != nil || !equalJSON(string(got), `{"wet":true}`) || len(res.Calls) > 0 {
		t.Errorf("got %+v (%v)", res, err)
	}
}

func (k *kit) badArguments(t *testing.T) {
	for _, arguments := range []string{``, `{"city":"Ro`, `{"city":"Rome"}{"city":"Oslo"}`, `Rome`} {
		m := k.newModel(t, Exchange{Calls: []llm.ToolCall{{ID: "a", Name: "weather.get", Arguments: json.RawMessage(arguments)}}})
		req := saying("Is it raining?")
		req.Tools = []llm.Tool{weather()}
		_, err := k.ask(within(t), t, llm.Safe(m), req)
		wantKind(t, err, llm.Malformed)
	}
}
