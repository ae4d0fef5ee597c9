package llmtest

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isolategpt/isolategpt/llm"
)

// NewModel makes the model under test in front of a server that does what the
// exchanges say. For a protocol that [Server] speaks it starts one:
//
//	func(t *testing.T, script ...llmtest.Exchange) llm.LLM {
//		server := llmtest.NewServer(t, script...)
//		m, err := openai.New(openai.Config{BaseURL: server.URL, Model: "test", Tools: true})
//		...
//		return m
//	}
type NewModel func(t *testing.T, script ...Exchange) llm.LLM

// TestLLM checks that a model keeps the promises of [llm.LLM], [llm.Capable]
// and [llm.Streamer]: asked for whole replies and for streams, with schemas,
// with tools where it states them, with a server that misbehaves in each way
// that [Fault] names, with contexts that end, and many at once. A model without
// tools has to refuse them.
//
// Run it under -race.
func TestLLM(t *testing.T, newModel NewModel) {
	before := runtime.NumGoroutine()
	for _, way := range []way{{"generate", generate}, {"stream", stream}} {
		t.Run(way.name, func(t *testing.T) {
			k := &kit{newModel: newModel, ask: way.ask}
			t.Run("text", k.text)
			t.Run("history", k.history)
			t.Run("schema", k.schema)
			t.Run("tools", k.tools)
			t.Run("faults", k.faults)
			t.Run("contexts", k.contexts)
			t.Run("concurrency", k.concurrency)
		})
	}
	t.Run("break off", func(t *testing.T) { breakOff(t, newModel) })
	settle(t, before)
}

// asker is one of the two ways to ask.
type asker func(ctx context.Context, t *testing.T, m llm.LLM, req *llm.Request) (*llm.Response, error)

type way struct {
	name string
	ask  asker
}

type kit struct {
	newModel NewModel
	ask      asker
}

// generate asks for a whole reply, and checks what holds of any.
func generate(ctx context.Context, t *testing.T, m llm.LLM, req *llm.Request) (*llm.Response, error) {
	t.Helper()
	before := req.Clone()
	res, err := m.Generate(ctx, req)
	checkKept(t, before, req, res, err)
	return res, err
}

// stream asks for a stream, and checks how it goes and ends.
func stream(ctx context.Context, t *testing.T, m llm.LLM, req *llm.Request) (res *llm.Response, err error) {
	t.Helper()
	before := req.Clone()
	var text strings.Builder
	ended := false
	for c, e := range llm.Stream(ctx, m, req) {
		if ended {
			t.Errorf("the stream goes on after its end with %+v, %v", c, e)
		}
		text.WriteString(c.Text)
		switch {
		case e != nil && c != llm.Chunk{}:
			t.Errorf("an error comes with a chunk: %+v, %v", c, e)
		case e == nil && c.Response == nil && c.Text == "":
			t.Error("a chunk has nothing in it")
		}
		res, err, ended = c.Response, e, e != nil || c.Response != nil
	}
	if !ended {
		t.Error("the stream ends with neither a response nor an error")
	}
	if err == nil && res != nil && text.String() != res.Text {
		t.Errorf("the chunks make %q and the response says %q", text.String(), res.Text)
	}
	checkKept(t, before, req, res, err)
	return res, err
}

func checkKept(t *testing.T, before, after *llm.Request, res *llm.Response, err error) {
	t.Helper()
	if !reflect.DeepEqual(before, after.Clone()) {
		t.Errorf("the request was changed:\nbefore %+v\nafter  %+v", before, after)
	}
	switch {
	case (res == nil) == (err == nil):
		t.Errorf("want a response or an error, got %+v and %v", res, err)
	case res != nil && res.Finish != llm.FinishStop && res.Finish != llm.FinishTools:
		t.Errorf("Response.Finish is %s", res.Finish)
	}
}

// must asks and expects a reply.
func (k *kit) must(t *testing.T, m llm.LLM, req *llm.Request) *llm.Response {
	t.Helper()
	res, err := k.ask(within(t), t, m, req)
	if err != nil {
		t.Fatalf("the request failed: %v", err)
	}
	return res
}

// within bounds a test that could hang.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func saying(text string) *llm.Request {
	return &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}}
}

// wantKind expects an *llm.Error of one of the kinds.
func wantKind(t *testing.T, err error, kinds ...llm.Kind) {
	t.Helper()
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		t.Fatalf("want an *llm.Error of kind %v, got %T: %v", kinds, err, err)
	}
	if !slices.Contains(kinds, e.Kind) {
		t.Fatalf("want kind %v, got %s: %v", kinds, e.Kind, err)
	}
}

// settle waits for goroutines to end.
func settle(t *testing.T, before int) {
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
}
