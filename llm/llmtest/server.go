package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Server speaks OpenAI's chat completions on loopback, streamed or not, and
// does what its exchanges say, one a request. A request that no exchange is
// left for, or that lacks what it has to have, fails the test.
type Server struct {
	// URL is the base URL, with "/v1" at its end.
	URL string

	t    testing.TB
	http *httptest.Server
	quit chan struct{}

	mu     sync.Mutex
	script []Exchange
	bodies [][]byte
}

// NewServer starts a server that ends with the test.
func NewServer(t testing.TB, script ...Exchange) *Server {
	s := &Server{t: t, script: script, quit: make(chan struct{})}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL + "/v1"
	t.Cleanup(func() {
		close(s.quit)
		s.http.CloseClientConnections()
		s.http.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		if n := len(s.script); n > 0 && !s.script[0].Always && !t.Failed() {
			t.Errorf("llmtest: server: %d exchanges were not asked for", n)
		}
	})
	return s
}

// Bodies are the bodies of the requests so far.
func (s *Server) Bodies() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	bodies := make([][]byte, len(s.bodies))
	for i, b := range s.bodies {
		bodies[i] = slices.Clone(b)
	}
	return bodies
}

// asked is what the server reads of a request.
type asked struct {
	Stream   bool `json:"stream"`
	Messages []struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	ToolChoice     any `json:"tool_choice"`
	ResponseFormat struct {
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 8<<20))
	if err != nil {
		return // the client is gone
	}
	var ask asked
	if err := json.Unmarshal(body, &ask); err != nil || !strings.HasSuffix(r.URL.Path, "/v1/chat/completions") {
		s.unexpected(w, "%s %s is no request of the protocol: %v", r.Method, r.URL.Path, err)
		return
	}
	e, err := s.take(body)
	if err != nil {
		s.unexpected(w, "%v", err)
		return
	}
	a := answer{w: w, ask: &ask, quit: s.quit, gone: r.Context().Done()}
	a.give(e)
}

func (s *Server) take(body []byte) (Exchange, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = append(s.bodies, body)
	if len(s.script) == 0 {
		return Exchange{}, fmt.Errorf("no exchange is left for request %d", len(s.bodies))
	}
	e := s.script[0]
	if !e.Always {
		s.script = s.script[1:]
	}
	for _, text := range e.Has {
		if !strings.Contains(string(body), quoted(text)) {
			return e, fmt.Errorf("request %d lacks %q", len(s.bodies), text)
		}
	}
	for _, text := range e.Lacks {
		if strings.Contains(string(body), quoted(text)) {
			return e, fmt.Errorf("request %d has %q", len(s.bodies), text)
		}
	}
	return e, nil
}

// quoted is text as it stands within a JSON string.
func quoted(text string) string {
	b, _ := json.Marshal(text) // a string always marshals
	return strings.Trim(string(b), `"`)
}

func (s *Server) unexpected(w http.ResponseWriter, format string, args ...any) {
	s.t.Errorf("llmtest: server: "+format, args...)
	http.Error(w, `{"error":{"message":"unexpected request"}}`, http.StatusBadRequest)
}
