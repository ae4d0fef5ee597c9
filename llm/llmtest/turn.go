package llmtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/isolategpt/isolategpt/llm"
)

// Turn is one turn of a [Script]: which request it is for, and what it answers.
// Turns are values: their methods return changed copies.
type Turn struct {
	purpose string
	checks  []check
	reply   llm.Response
	err     error
	answer  func(*llm.Request) (*llm.Response, error)
	always  bool
	hang    bool
}

// check is one demand on a request.
type check struct {
	what string
	ok   func(*llm.Request) bool
}

// Say answers with text.
func Say(text string) Turn {
	return Turn{reply: llm.Response{Text: text, Finish: llm.FinishStop}}
}

// JSON answers with one JSON value: a string or bytes are taken as they are,
// anything else is marshalled. It panics on what is no JSON.
func JSON(v any) Turn {
	var raw []byte
	switch v := v.(type) {
	case string:
		raw = []byte(v)
	case []byte:
		raw = v
	case json.RawMessage:
		raw = v
	default:
		var err error
		if raw, err = json.Marshal(v); err != nil {
			panic("llmtest: JSON: " + err.Error())
		}
	}
	if !json.Valid(raw) {
		panic(fmt.Sprintf("llmtest: JSON: not one JSON value: %s", raw))
	}
	return Say(string(raw))
}

// Use answers with a tool call. More calls are added by [Turn.And].
func Use(tool, arguments string) Turn {
	return Turn{reply: llm.Response{Finish: llm.FinishTools}}.And(tool, arguments)
}

// Reply answers with res as it is.
func Reply(res llm.Response) Turn { return Turn{reply: *res.Clone()} }

// Fail answers with an error.
func Fail(err error) Turn { return Turn{err: err} }

// Answer answers with what f makes of the request.
func Answer(f func(*llm.Request) (*llm.Response, error)) Turn { return Turn{answer: f} }

// Hang answers nothing until the request's context ends.
func Hang() Turn { return Turn{hang: true} }

// And adds a tool call. Ids are "call_1" and so on.
func (t Turn) And(tool, arguments string) Turn {
	res := t.reply.Clone()
	res.Calls = append(res.Calls, llm.ToolCall{
		ID: fmt.Sprintf("call_%d", len(res.Calls)+1), Name: tool, Arguments: json.RawMessage(arguments),
	})
	res.Finish = llm.FinishTools
	t.reply = *res
	return t
}

// Using sets the usage that the reply states.
func (t Turn) Using(input, output int) Turn {
	t.reply.Usage = llm.Usage{InputTokens: input, OutputTokens: output}
	return t
}

// For limits the turn to requests with this Request.Purpose. The turns for one
// purpose are a queue of their own, so calls of several purposes may come in
// any order, side by side.
func (t Turn) For(purpose string) Turn { t.purpose = purpose; return t }

// On demands that some message of the request has text in it.
func (t Turn) On(text string) Turn {
	return t.OnFunc(fmt.Sprintf("contains %q", text), func(r *llm.Request) bool { return strings.Contains(Prompt(r), text) })
}

// Without demands that no message of the request has text in it.
func (t Turn) Without(text string) Turn {
	return t.OnFunc(fmt.Sprintf("does not contain %q", text), func(r *llm.Request) bool { return !strings.Contains(Prompt(r), text) })
}

// OnRegexp demands that the messages of the request, as [Prompt] writes them,
// match. It panics on a bad expression.
func (t Turn) OnRegexp(expr string) Turn {
	re := regexp.MustCompile(expr)
	return t.OnFunc("matches "+expr, func(r *llm.Request) bool { return re.MatchString(Prompt(r)) })
}

// OnFunc demands what ok says; what says it in words for the failure.
func (t Turn) OnFunc(what string, ok func(*llm.Request) bool) Turn {
	t.checks = append(t.checks[:len(t.checks):len(t.checks)], check{what, ok})
	return t
}

// Always makes the turn answer any number of requests, none included. What
// stands behind it in its queue is not reached in an ordered script.
func (t Turn) Always() Turn { t.always = true; return t }

// unmet is the first demand that the request does not meet, or "".
func (t *Turn) unmet(req *llm.Request) string {
	for _, c := range t.checks {
		if !c.ok(req) {
			return c.what
		}
	}
	return ""
}

// Prompt writes the messages of a request as one text: each as its role, a
// colon, its text and its calls, with an empty line between.
func Prompt(req *llm.Request) string {
	var b strings.Builder
	for i, m := range req.Messages {
		if i > 0 {
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "%s: %s", m.Role, m.Text)
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "\n%s(%s)", c.Name, c.Arguments)
		}
	}
	return b.String()
}
