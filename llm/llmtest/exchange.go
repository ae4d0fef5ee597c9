package llmtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/isolategpt/isolategpt/llm"
)

// Exchange is what a model's server does with one request, in terms that hold
// for any protocol. Fault comes first; without one the reply is Calls, JSON,
// Echo or Text, the first that is set.
type Exchange struct {
	Text string
	// JSON answers a request with a schema. It is what the asker is to get: a
	// server that was sent a projection writes it in the projection's form.
	JSON  string
	Calls []llm.ToolCall
	Echo  bool // the reply is the last user message
	Usage llm.Usage

	Fault      Fault
	RetryAfter time.Duration // with RateLimit and Down, in whole seconds

	Has    []string // must occur in what is sent
	Lacks  []string // must not
	Always bool     // serves any number of requests, and is the last
}

// Fault is what a server does wrong. The zero value is nothing.
type Fault uint8

// The faults of servers.
const (
	NoFault     Fault = iota
	RateLimit         // too many requests
	NoAuth            // the key is wrong
	PromptLong        // the prompt does not fit
	Filter            // the content is refused
	Down              // the server is down for now
	Garbage           // what comes is not of the protocol
	Endless           // the reply does not end
	CutOff            // the connection breaks off amid the reply
	TokenLimit        // the reply reached the token limit
	ErrorWithin       // an error comes where a part of the reply is due
	Silence           // nothing comes
	endOfFaults
)

var faultNames = [...]string{
	"no fault", "rate limit", "no auth", "prompt too long", "filter", "down", "garbage", "endless",
	"cut off", "token limit", "error within", "silence",
}

// String names the fault.
func (f Fault) String() string {
	if f < endOfFaults {
		return faultNames[f]
	}
	return fmt.Sprintf("Fault(%d)", uint8(f))
}

// faultKinds are the kinds of error that a fault has to become.
var faultKinds = map[Fault][]llm.Kind{
	RateLimit:   {llm.RateLimited},
	NoAuth:      {llm.Auth},
	PromptLong:  {llm.TooLong},
	Filter:      {llm.Filtered},
	Down:        {llm.Unavailable},
	Garbage:     {llm.Malformed},
	Endless:     {llm.Malformed},
	CutOff:      {llm.Truncated},
	TokenLimit:  {llm.Truncated},
	ErrorWithin: {llm.Unavailable},
}

// ScriptOf makes a script of the exchanges, so that [TestLLM] can test the
// script itself.
func ScriptOf(t testing.TB, exchanges ...Exchange) *Script {
	s := NewScript(t)
	for _, e := range exchanges {
		turn := e.turn()
		for _, text := range e.Has {
			turn = turn.OnFunc("has "+text, func(r *llm.Request) bool { return strings.Contains(asSent(r), quoted(text)) })
		}
		for _, text := range e.Lacks {
			turn = turn.OnFunc("lacks "+text, func(r *llm.Request) bool { return !strings.Contains(asSent(r), quoted(text)) })
		}
		if e.Always {
			turn = turn.Always()
		}
		s.Add(turn)
	}
	return s
}

// asSent is what a server would be sent of a request.
func asSent(req *llm.Request) string {
	req = req.Clone()
	req.Purpose = ""
	b, err := json.Marshal(req)
	if err != nil {
		return "" // lacks everything
	}
	return string(b)
}

func (e Exchange) turn() Turn {
	if e.Fault == Silence {
		return Hang()
	}
	if kinds := faultKinds[e.Fault]; kinds != nil {
		return Fail(&llm.Error{Kind: kinds[0], RetryAfter: e.RetryAfter, Err: fmt.Errorf("llmtest: %s", e.Fault)})
	}
	if e.Echo {
		return Answer(func(req *llm.Request) (*llm.Response, error) {
			return &llm.Response{Text: lastUserText(req.Messages), Finish: llm.FinishStop}, nil
		})
	}
	res := llm.Response{Text: e.Text, Calls: e.Calls, Finish: llm.FinishStop, Usage: e.Usage}
	switch {
	case len(e.Calls) > 0:
		res.Finish = llm.FinishTools
	case e.JSON != "":
		res.Text = e.JSON
	}
	return Reply(res)
}

func lastUserText(messages []llm.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == llm.User {
			return messages[i].Text
		}
	}
	return ""
}

// pieces cuts a text after each space, as a server that streams does.
func pieces(text string) []string {
	return strings.SplitAfter(text, " ")
}
