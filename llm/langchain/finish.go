package langchain

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/internal/provider"
)

// stopReasons are how the providers say that a reply ended, in lower case.
// Kind Unknown stands for a good end.
var stopReasons = map[string]llm.Kind{
	"stop": llm.Unknown, "end_turn": llm.Unknown, "stop_sequence": llm.Unknown, "tool_calls": llm.Unknown,
	"tool_use": llm.Unknown, "eos_token": llm.Unknown, "complete": llm.Unknown, "finish": llm.Unknown,
	"finishreasonstop": llm.Unknown, "endoftext": llm.Unknown,

	"length": llm.Truncated, "max_tokens": llm.Truncated, "finishreasonmaxtokens": llm.Truncated,
	"model_length": llm.Truncated, "model_context_window_exceeded": llm.Truncated,

	"content_filter": llm.Filtered, "refusal": llm.Filtered, "content_filtered": llm.Filtered,
	"guardrail_intervened": llm.Filtered, "finishreasonsafety": llm.Filtered,
	"finishreasonrecitation": llm.Filtered, "finishreasonblocklist": llm.Filtered,
	"finishreasonprohibitedcontent": llm.Filtered, "finishreasonspii": llm.Filtered,
}

// finished says whether the reply is whole. Providers that state no reason
// exist; but a stream that states none was cut.
func finished(choices []*llms.ContentChoice, streamed bool) error {
	stated := false
	for _, c := range choices {
		if c == nil {
			return provider.Errorf(llm.Malformed, "the provider returned an empty choice")
		}
		reason := strings.ToLower(strings.TrimSpace(c.StopReason))
		if reason == "" {
			continue
		}
		stated = true
		kind, known := stopReasons[reason]
		switch {
		case !known:
			return provider.Errorf(llm.Malformed, "the reply ended in an unknown way: %s", provider.Clean(c.StopReason))
		case kind != llm.Unknown:
			return provider.Errorf(kind, "the reply ended with %s", provider.Clean(c.StopReason))
		}
	}
	if streamed && !stated {
		return provider.Errorf(llm.Truncated, "the stream does not say how it ended")
	}
	return nil
}

// ollamaFinished reads from the wire what langchaingo's ollama provider throws
// away: whether the reply is done, and why.
func (x *exchange) ollamaFinished() error {
	if !x.seen() {
		return provider.Errorf(llm.BadRequest, "whether a reply of langchaingo's ollama provider is whole shows only on the wire: make it with ollama.WithHTTPClient(langchain.Client(nil))")
	}
	var last struct {
		Done   bool   `json:"done"`
		Reason string `json:"done_reason"`
	}
	body := bytes.TrimSpace(x.body())
	line := body[bytes.LastIndexByte(body, '\n')+1:]
	if json.Unmarshal(line, &last) != nil || !last.Done {
		return provider.Errorf(llm.Truncated, "the reply ended before it was done")
	}
	switch last.Reason {
	case "stop", "": // servers before 0.1.39 give no reason
		return nil
	case "length":
		return provider.Errorf(llm.Truncated, "the reply reached the token limit")
	}
	return provider.Errorf(llm.Malformed, "the reply ended in an unknown way: %s", provider.Clean(last.Reason))
}
