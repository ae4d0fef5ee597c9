package llm

import "slices"

// Clone gives a deep copy of r, or nil for nil.
func (r *Request) Clone() *Request {
	if r == nil {
		return nil
	}
	c := *r
	c.Messages = slices.Clone(r.Messages)
	for i := range c.Messages {
		c.Messages[i].Calls = cloneCalls(c.Messages[i].Calls)
	}
	c.Tools = slices.Clone(r.Tools)
	for i := range c.Tools {
		c.Tools[i].Parameters = slices.Clone(c.Tools[i].Parameters)
	}
	c.Schema = slices.Clone(r.Schema)
	if r.Temperature != nil {
		c.Temperature = new(*r.Temperature)
	}
	return &c
}

// Clone gives a deep copy of r, or nil for nil.
func (r *Response) Clone() *Response {
	if r == nil {
		return nil
	}
	c := *r
	c.Calls = cloneCalls(r.Calls)
	return &c
}

func cloneCalls(calls []ToolCall) []ToolCall {
	c := slices.Clone(calls)
	for i := range c {
		c[i].Arguments = slices.Clone(c[i].Arguments)
	}
	return c
}
