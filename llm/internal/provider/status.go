package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/isolategpt/isolategpt/llm"
)

// maxRetryAfter bounds what a server may ask for.
const maxRetryAfter = 24 * time.Hour

// Failure is the error for a reply with a status other than 200, or for an
// error object inside of a reply (status 0).
func Failure(status int, header http.Header, body []byte, now time.Time) *llm.Error {
	f := parseFault(body)
	e := &llm.Error{Kind: f.kind(status), Status: status}
	if e.Kind == llm.RateLimited || e.Kind == llm.Unavailable {
		e.RetryAfter = RetryAfter(header, now)
	}
	switch text := Clean(f.message); {
	case text == "" && status == 0:
		e.Err = errors.New("the server reports an error and does not say which")
	case text == "":
		e.Err = fmt.Errorf("status %d", status)
	case status == 0:
		e.Err = fmt.Errorf("the server says: %s", text)
	default:
		e.Err = fmt.Errorf("status %d: %s", status, text)
	}
	return e
}

// RetryAfter reads how long a server wants to be left alone: in seconds, as a
// date, or in milliseconds as OpenAI says it. Nothing sensible is 0.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return bounded(ms * float64(time.Millisecond))
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return bounded(s * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return bounded(float64(at.Sub(now)))
	}
	return 0
}

func bounded(d float64) time.Duration {
	if !(d > 0) { // NaN too
		return 0
	}
	return time.Duration(min(d, float64(maxRetryAfter)))
}

// fault is what an error body says, whatever its form.
type fault struct {
	message string
	codes   []string // code and type, in lower case
	status  int      // a code that is a number
}

func parseFault(body []byte) fault {
	var f fault
	var v any
	if json.Unmarshal(body, &v) != nil {
		f.message = string(body[:min(len(body), 4*maxText)])
		return f
	}
	f.read(v, 0)
	return f
}

// read looks for the message and the codes in the forms that servers use.
func (f *fault) read(v any, depth int) {
	if depth > 4 {
		return
	}
	switch v := v.(type) {
	case string:
		f.say(v)
	case []any:
		if len(v) > 0 {
			f.read(v[0], depth+1)
		}
	case map[string]any:
		for _, key := range []string{"code", "type", "status"} {
			f.code(v[key])
		}
		for _, key := range []string{"error", "message", "msg", "detail", "errors"} {
			f.read(v[key], depth+1)
		}
	}
}

func (f *fault) say(s string) {
	if f.message == "" {
		f.message = s
	}
}

func (f *fault) code(v any) {
	switch v := v.(type) {
	case string:
		f.codes = append(f.codes, strings.ToLower(v))
		if n, err := strconv.Atoi(v); err == nil && f.status == 0 {
			f.status = n
		}
	case float64:
		if f.status == 0 && v >= 100 && v < 600 {
			f.status = int(v)
		}
	}
}

// codeKinds are error codes and types whose meaning is fixed.
var codeKinds = map[string]llm.Kind{
	"context_length_exceeded":      llm.TooLong,
	"exceed_context_size_error":    llm.TooLong,
	"string_above_max_length":      llm.TooLong,
	"content_filter":               llm.Filtered,
	"content_policy_violation":     llm.Filtered,
	"invalid_api_key":              llm.Auth,
	"authentication_error":         llm.Auth,
	"permission_error":             llm.Auth,
	"rate_limit_exceeded":          llm.RateLimited,
	"rate_limit_error":             llm.RateLimited,
	"tokens":                       llm.RateLimited,
	"requests":                     llm.RateLimited,
	"insufficient_quota":           llm.RateLimited,
	"resource_exhausted":           llm.RateLimited,
	"server_error":                 llm.Unavailable,
	"overloaded_error":             llm.Unavailable,
	"unavailable":                  llm.Unavailable,
	"unavailable_error":            llm.Unavailable,
	"service_unavailable":          llm.Unavailable,
	"internal_server_error":        llm.Unavailable,
	"invalid_request_error":        llm.BadRequest,
	"not_supported_error":          llm.BadRequest,
	"responsibleaipolicyviolation": llm.Filtered,
}

// tooLong are phrases of servers that have no code for it. They count only
// where the status says that the request is at fault.
var tooLong = []string{
	"maximum context length", "context size", "context length", "context window", "prompt is too long",
}

// faultyRequest are the statuses with which servers refuse a prompt for its
// length; older llama.cpp servers use 500.
var faultyRequest = []int{http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError}

// kind prefers the specific: the code, then the status. A message decides
// nothing but whether a refused request was too long.
func (f *fault) kind(status int) llm.Kind {
	if status == 0 {
		status = f.status
	}
	general := llm.Unknown
	for _, c := range f.codes {
		switch k := codeKinds[c]; k {
		case llm.TooLong, llm.Filtered:
			return k
		case llm.Unknown:
		default:
			if general == llm.Unknown {
				general = k
			}
		}
	}
	if k := statusKind(status); k != llm.Unknown && k != llm.BadRequest {
		return f.maybeTooLong(k, status)
	}
	if general == llm.Unknown {
		general = statusKind(status)
	}
	return f.maybeTooLong(general, status)
}

func (f *fault) maybeTooLong(k llm.Kind, status int) llm.Kind {
	if !slices.Contains(faultyRequest, status) {
		return k
	}
	m := strings.ToLower(f.message)
	if slices.ContainsFunc(tooLong, func(p string) bool { return strings.Contains(m, p) }) {
		return llm.TooLong
	}
	return k
}

func statusKind(status int) llm.Kind {
	switch {
	case status == 0:
		return llm.Unknown
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return llm.Auth
	case status == http.StatusRequestEntityTooLarge:
		return llm.TooLong
	case status == http.StatusTooManyRequests:
		return llm.RateLimited
	case status == http.StatusRequestTimeout || status >= 500:
		return llm.Unavailable
	case status >= 300:
		return llm.BadRequest
	}
	return llm.Malformed // neither what was asked for nor an error
}
