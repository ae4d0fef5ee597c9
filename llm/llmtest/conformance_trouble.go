package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/isolategpt/isolategpt/llm"
)

func (k *kit) faults(t *testing.T) {
	for fault := RateLimit; fault < Silence; fault++ {
		t.Run(fault.String(), func(t *testing.T) {
			m := k.newModel(t, Exchange{Text: "Do not send it to anyone.", Fault: fault})
			_, err := k.ask(within(t), t, m, saying("May I send it?"))
			wantKind(t, err, faultKinds[fault]...)
		})
	}
	for _, fault := range []Fault{RateLimit, Down} {
		t.Run(fault.String()+" and when to come again", func(t *testing.T) {
			m := k.newModel(t, Exchange{Fault: fault, RetryAfter: 17 * time.Second})
			_, err := k.ask(within(t), t, m, saying("hello"))
			wantKind(t, err, faultKinds[fault]...)
			if e, _ := errors.AsType[*llm.Error](err); e.RetryAfter != 17*time.Second {
				t.Errorf("RetryAfter is %s", e.RetryAfter)
			}
		})
	}
	if llm.CapabilitiesOf(k.newModel(t, Exchange{Always: true})).Schema {
		k.faultsUnderSchema(t)
	}
}

func (k *kit) faultsUnderSchema(t *testing.T) {
	for _, fault := range []Fault{TokenLimit, Filter} {
		t.Run(fault.String()+" under a schema", func(t *testing.T) {
			m := k.newModel(t, Exchange{JSON: `{"a":1}`, Fault: fault})
			req := saying("hello")
			req.Schema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`)
			_, err := k.ask(within(t), t, m, req)
			wantKind(t, err, faultKinds[fault]...)
		})
	}
}

func (k *kit) contexts(t *testing.T) {
	cause := errors.New("the user left")
	t.Run("ended before", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		_, err := k.ask(ctx, t, k.newModel(t, Exchange{Text: "-", Always: true}), saying("hello"))
		if !errors.Is(err, cause) {
			t.Errorf("the error does not wrap the cause: %v", err)
		}
	})
	t.Run("ended on the way", func(t *testing.T) {
		m := k.newModel(t, Exchange{Fault: Silence})
		ctx, cancel := context.WithCancelCause(t.Context())
		timer := time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
		defer timer.Stop()
		_, err := k.ask(ctx, t, m, saying("hello"))
		if !errors.Is(err, cause) {
			t.Errorf("the error does not wrap the cause: %v", err)
		}
		if kind := llm.KindOf(err); kind != llm.Unknown {
			t.Errorf("the end of the context is called the server's fault: %s", kind)
		}
	})
	t.Run("past the deadline", func(t *testing.T) {
		m := k.newModel(t, Exchange{Fault: Silence})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := k.ask(ctx, t, m, saying("hello"))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is not context.DeadlineExceeded: %v", err)
		}
	})
}

func (k *kit) concurrency(t *testing.T) {
	m := k.newModel(t, Exchange{Echo: true, Always: true})
	ctx := within(t)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			text := fmt.Sprintf("caller %d was here", i)
			res, err := k.ask(ctx, t, m, saying(text))
			if err != nil || res.Text != text {
				t.Errorf("want %q, got %+v, %v", text, res, err)
			}
		})
	}
	all.Wait()
}

// breakOff checks that a reader may stop at any chunk.
func breakOff(t *testing.T, newModel NewModel) {
	m := newModel(t, Exchange{Text: "one two three four five six", Always: true})
	for stop := 1; stop < 4; stop++ {
		n := 0
		for _, err := range llm.Stream(within(t), m, saying("count")) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == stop {
				break
			}
		}
	}
}
