package spoke

import (
	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/memory"
)

func toWireRequest(r *llm.Request) *wireRequest {
	out := &wireRequest{Schema: r.Schema, MaxTokens: r.MaxTokens, Temperature: r.Temperature, Purpose: r.Purpose,
		Messages: make([]wireMessage, len(r.Messages))}
	for i, m := range r.Messages {
		out.Messages[i] = wireMessage{Role: m.Role, Text: m.Text, Calls: toWireCalls(m.Calls), CallID: m.CallID}
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, wireTool(t))
	}
	return out
}

func (r *wireRequest) request() *llm.Request {
	out := &llm.Request{Schema: r.Schema, MaxTokens: r.MaxTokens, Temperature: r.Temperature, Purpose: r.Purpose,
		Messages: make([]llm.Message, len(r.Messages))}
	for i, m := range r.Messages {
		out.Messages[i] = llm.Message{Role: m.Role, Text: m.Text, Calls: fromWireCalls(m.Calls), CallID: m.CallID}
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, llm.Tool(t))
	}
	return out
}

func toWireCalls(calls []llm.ToolCall) []wireCall {
	var out []wireCall
	for _, c := range calls {
		out = append(out, wireCall(c))
	}
	return out
}

func fromWireCalls(calls []wireCall) []llm.ToolCall {
	var out []llm.ToolCall
	for _, c := range calls {
		out = append(out, llm.ToolCall(c))
	}
	return out
}

func toWireResponse(r *llm.Response) *wireResponse {
	return &wireResponse{Text: r.Text, Calls: toWireCalls(r.Calls), Finish: r.Finish,
		Input: r.Usage.InputTokens, Output: r.Usage.OutputTokens}
}

func (r *wireResponse) response() *llm.Response {
	return &llm.Response{Text: r.Text, Calls: fromWireCalls(r.Calls), Finish: r.Finish,
		Usage: llm.Usage{InputTokens: r.Input, OutputTokens: r.Output}}
}

func toWireRecord(r memory.Record) wireRecord {
	return wireRecord{Kind: r.Kind, Key: r.Key, Value: r.Value, Time: r.Time}
}

func (r wireRecord) record() memory.Record {
	return memory.Record{Kind: r.Kind, Key: r.Key, Value: r.Value, Time: r.Time}
}

func (q wireQuery) query() memory.Query { return memory.Query{Kind: q.Kind, Key: q.Key, Last: q.Last} }
