package egress

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/spoke"
)

// Each word of a credential is one, wherever it stands in it.
func TestEachWordOfACredentialIsRecognised(t *testing.T) {
	for name, c := range map[string]struct {
		added, body string
		want        bool
	}{
		"last":            {"Bearer sk-12345678", "its sk-12345678.", true},
		"first of two":    {"sk-12345678 sk-abcdefgh", "its sk-12345678.", true},
		"before a suffix": {"sk-12345678 v2", "its sk-12345678.", true},
		"of a parameter":  {`Token id=7, key="sk-12345678"`, "its sk-12345678.", true},
		"with a padding":  {"Basic dXNlcjpwYXNz==", "dXNlcjpwYXNz==", true},
		"another":         {"Bearer sk-12345678", "its sk-12345679.", false},
		"scheme":          {"Bearer sk-12345678", "Bearer", false},
		"name alone":      {`Digest username="sk-12345678"`, "its username", false},
		"short":           {"Bearer 1234567", "1234567", false},
	} {
		t.Run(name, func(t *testing.T) {
			added := []string{"nothing", c.added}
			require.Equal(t, c.want, repeats(spoke.HTTPResponse{Body: []byte(c.body)}, added))
			require.Equal(t, c.want, repeats(spoke.HTTPResponse{Header: map[string][]string{"X": {"a", c.body}}}, added))
		})
	}
}
