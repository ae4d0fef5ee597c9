package foreign_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/internal/foreign"
)

func TestWhatIsHeldIsBoundedAndLastsUntilTheWord(t *testing.T) {
	for name, tc := range map[string]struct {
		bytes int64
		words []any
		want  string
	}{
		"until the word":     {3<<20 + 1, []any{foreign.Go{Go: true}}, ""},
		"nothing":            {0, []any{foreign.Go{Go: true}}, ""},
		"the parent is gone": {1 << 20, nil, "waiting for the word to go: EOF"},
		"too much":           {1 << 40, []any{foreign.Go{Go: true}}, "the most is"},
		"less than nothing":  {-1, []any{foreign.Go{Go: true}}, "the most is"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			for _, w := range append([]any{foreign.Hold{Bytes: tc.bytes}}, tc.words...) {
				require.NoError(t, foreign.WriteFrame(&b, w))
			}
			g, err := foreign.HoldUntilGo(&b)
			if tc.want == "" {
				require.NoError(t, err)
				require.True(t, g.Go)
				return
			}
			require.ErrorContains(t, err, tc.want)
			require.False(t, g.Go)
		})
	}
	_, err := foreign.HoldUntilGo(bytes.NewReader(nil))
	require.ErrorContains(t, err, "waiting for what to hold")
}
