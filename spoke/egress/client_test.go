package egress_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/egress"
)

func TestARequestAndItsAnswerPass(t *testing.T) {
	r := start(t, true, func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		w.Header().Set("X-Seen", strings.Join([]string{req.Proto, req.Method, req.Host, req.RequestURI, req.Header.Get("Accept"), string(body)}, " "))
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "hi")
	})
	got, err := r.client(t, nil).Fetch(t.Context(), spoke.HTTPRequest{Method: "PUT", URL: "https://example.com/a%2fb?c=d",
		Header: map[string][]string{"accept": {"text/plain"}}, Body: []byte("body")})
	require.NoError(t, err)
	require.Equal(t, http.StatusTeapot, got.Status)
	require.Equal(t, "hi", string(got.Body))
	require.Equal(t, []string{"HTTP/1.1 PUT example.com /a%2fb?c=d text/plain body"}, got.Header["X-Seen"])
}

func TestNoRedirectIsFollowed(t *testing.T) {
	for _, to := range []string{"http://169.254.169.254/latest/meta-data/", "https://example.com/other", "https://example.net/"} {
		served := 0
		r := start(t, true, func(w http.ResponseWriter, req *http.Request) {
			served++
			http.Redirect(w, req, to, http.StatusFound)
		})
		got, err := r.client(t, nil).Fetch(t.Context(), get("https://example.com/"))
		require.NoError(t, err)
		require.Equal(t, http.StatusFound, got.Status)
		require.Equal(t, []string{to}, got.Header["Location"])
		require.Equal(t, 1, served)
	}
}

func TestHTTPIsOnlyForHostsThatAreNamedForIt(t *testing.T) {
	r := start(t, false, func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.WriteString(w, req.Header.Get("Authorization")+".")
	})
	_, err := r.client(t, nil).Fetch(t.Context(), get("http://example.com/"))
	require.ErrorIs(t, err, spoke.ErrRefused)
	for clear, want := range map[bool]string{false: ".", true: "short."} {
		c := r.client(t, func(_ *egress.Config, h *egress.Host) {
			h.Plain, h.PlainCredentials = true, clear
			h.Credentials = func(context.Context) (http.Header, error) { return http.Header{"Authorization": {"short"}}, nil }
		})
		got, err := c.Fetch(t.Context(), get("http://example.com/"))
		require.NoError(t, err)
		require.Equal(t, want, string(got.Body))
	}
}

func TestCertificatesAreChecked(t *testing.T) {
	r := start(t, true, func(http.ResponseWriter, *http.Request) { t.Error("it was asked") })
	_, err := r.client(t, func(c *egress.Config, _ *egress.Host) { c.RootCAs = nil }).Fetch(t.Context(), get("https://example.com/"))
	require.ErrorContains(t, err, "certificate")
	c := r.client(t, func(c *egress.Config, _ *egress.Host) {
		c.Hosts = map[string]egress.Host{"example.net": {Port: r.port}}
	})
	_, err = c.Fetch(t.Context(), get("https://example.net/"))
	require.ErrorContains(t, err, "certificate")
}

func TestAnswersAreCappedWhileTheyAreRead(t *testing.T) {
	endless := func(w http.ResponseWriter) {
		for chunk := make([]byte, 64<<10); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	for name, h := range map[string]http.HandlerFunc{
		"5 MB":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 5<<20)) },
		"endless": func(w http.ResponseWriter, _ *http.Request) { endless(w) },
		"announced": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9223372036854775807")
			endless(w)
		},
		"header": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 40<<10)) },
		"cut": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "short")
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := start(t, true, h).client(t, nil).Fetch(t.Context(), get("https://example.com/"))
			require.Error(t, err)
			require.NotErrorIs(t, err, spoke.ErrRefused)
		})
	}
	r := start(t, true, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) })
	got, err := r.client(t, nil).Fetch(t.Context(), get("https://example.com/"))
	require.NoError(t, err)
	require.Len(t, got.Body, 1<<20)
}

func TestPackedAnswersAreNotUnpackedOutside(t *testing.T) {
	r := start(t, true, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "packed:"+req.Header.Get("Accept-Encoding"))
	})
	got, err := r.client(t, nil).Fetch(t.Context(), get("https://example.com/"))
	require.NoError(t, err)
	require.Equal(t, "packed:", string(got.Body))
}

func TestASlowServerIsLeft(t *testing.T) {
	for name, early := range map[string]string{"silent": "", "dripping": "x"} {
		t.Run(name, func(t *testing.T) {
			release := make(chan struct{})
			r := start(t, true, func(w http.ResponseWriter, _ *http.Request) {
				if early != "" {
					_, _ = io.WriteString(w, early)
					w.(http.Flusher).Flush()
				}
				<-release
			})
			defer close(release)
			c := r.client(t, func(c *egress.Config, _ *egress.Host) { c.Timeout = 100 * time.Millisecond })
			_, err := c.Fetch(t.Context(), get("https://example.com/"))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = c.Fetch(ctx, get("https://example.com/"))
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}

func TestASpokeSendsNoAuthorityAndIsGivenNone(t *testing.T) {
	var seen http.Header
	r := start(t, true, func(w http.ResponseWriter, req *http.Request) {
		seen = req.Header.Clone()
		seen.Set("Seen-Host", req.Host)
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Alt-Svc", `h3=":443"`)
		w.Header().Set("Content-Type", "text/x")
	})
	got, err := r.client(t, nil).Fetch(t.Context(), spoke.HTTPRequest{Method: "GET", URL: "https://example.com/", Header: map[string][]string{
		"Host": {"evil.net"}, "host": {"evil.net"}, "Cookie": {"a=b"}, "authorization": {"Bearer x"}, "Proxy-Authorization": {"x"},
		"Connection": {"close, X-Drop"}, "X-Drop": {"x"}, "Upgrade": {"websocket"}, "TE": {"trailers"}, "Transfer-Encoding": {"chunked"},
		"Content-Length": {"5"}, "X-Forwarded-For": {"127.0.0.1"}, "X-Keep": {"yes"}, "User-Agent": {"app"}}})
	require.NoError(t, err)
	require.Equal(t, http.Header{"Seen-Host": {"example.com"}, "X-Keep": {"yes"}, "User-Agent": {"app"}}, seen)
	delete(got.Header, "Date")
	require.Equal(t, map[string][]string{"Content-Type": {"text/x"}, "Content-Length": {"0"}}, got.Header)
}

func TestHeadersCannotSmuggle(t *testing.T) {
	r := start(t, true, func(http.ResponseWriter, *http.Request) { t.Error("it was asked") })
	c := r.client(t, nil)
	for _, h := range []map[string][]string{{"X": {"a\r\nHost: evil.net"}}, {"X": {"a\nb"}}, {"X\r\nY": {"a"}}, {"X: y": {"a"}}, {"Host ": {"a"}}, {"": {"a"}}} {
		_, err := c.Fetch(t.Context(), spoke.HTTPRequest{Method: "GET", URL: "https://example.com/", Header: h})
		require.Error(t, err)
	}
}

// No proxy of the environment sees what a spoke sends.
func TestTheEnvironmentNamesNoProxy(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	r := start(t, true, func(http.ResponseWriter, *http.Request) {})
	_, err := r.client(t, nil).Fetch(t.Context(), get("https://example.com/"))
	require.NoError(t, err)
}

const token = "Bearer sk-0123456789"

func bearer(context.Context) (http.Header, error) {
	return http.Header{"Authorization": {token}, "x-api-key": {"k"}}, nil
}

func TestCredentialsGoToTheirHostAlone(t *testing.T) {
	var seen []http.Header
	r := start(t, true, func(_ http.ResponseWriter, req *http.Request) { seen = append(seen, req.Header) })
	c := r.client(t, func(cfg *egress.Config, h *egress.Host) {
		h.Credentials = bearer
		cfg.Hosts = map[string]egress.Host{"www.example.com": {Port: r.port}}
	})
	for _, host := range []string{"example.com", "www.example.com"} {
		_, err := c.Fetch(t.Context(), spoke.HTTPRequest{Method: "GET", URL: "https://" + host + "/",
			Header: map[string][]string{"X_Api_Key": {"mine"}, "X-Api-Key": {"mine"}, "Authorization": {"mine"}}})
		require.NoError(t, err)
	}
	require.Len(t, seen, 2)
	require.Equal(t, []string{token}, seen[0]["Authorization"])
	require.Equal(t, []string{"k"}, seen[0]["X-Api-Key"])
	require.NotContains(t, seen[0], "X_api_key")
	require.NotContains(t, seen[1], "Authorization")
	require.Equal(t, []string{"mine"}, seen[1]["X-Api-Key"])
}

// A server that answers with what it was sent does not show a spoke the key.
func TestCredentialsDoNotComeBack(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"body": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "<"+r.Header.Get("Authorization")+">")
		},
		"header": func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X", r.Header.Get("Authorization")) },
		"token": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Header.Get("Authorization")[7:])
		},
		"packed": func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") == "" {
				_, _ = io.WriteString(w, r.Header.Get("Authorization"))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, true, h).client(t, func(_ *egress.Config, h *egress.Host) { h.Credentials = bearer })
			got, err := c.Fetch(t.Context(), spoke.HTTPRequest{Method: "GET", URL: "https://example.com/",
				Header: map[string][]string{"Accept-Encoding": {"gzip"}}})
			require.ErrorContains(t, err, "repeats a credential")
			require.NotContains(t, err.Error(), "sk-")
			require.Zero(t, got)
		})
	}
}

func TestWithoutItsCredentialsNothingIsSent(t *testing.T) {
	r := start(t, true, func(http.ResponseWriter, *http.Request) { t.Error("it was asked") })
	cause := errors.New("the vault is locked")
	c := r.client(t, func(_ *egress.Config, h *egress.Host) {
		h.Credentials = func(context.Context) (http.Header, error) { return nil, cause }
	})
	_, err := c.Fetch(t.Context(), get("https://example.com/"))
	require.ErrorIs(t, err, cause)
}
