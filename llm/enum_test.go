package llm_test

import (
	"encoding"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/llm"
)

func TestEnumsReadBackWhatTheyWriteAndNothingElse(t *testing.T) {
	check := func(v encoding.TextMarshaler, back encoding.TextUnmarshaler) {
		text, err := v.MarshalText()
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(v), string(text))
		require.NoError(t, back.UnmarshalText(text))
		for _, bad := range []string{"", "System ", "nothing", string(text) + "s"} {
			require.Error(t, back.UnmarshalText([]byte(bad)))
		}
	}
	for r := llm.System; r <= llm.ToolResult; r++ {
		var back llm.Role
		check(r, &back)
		require.Equal(t, r, back, "a failed read changes nothing")
	}
	for f := llm.FinishStop; f <= llm.FinishTools; f++ {
		var back llm.Finish
		check(f, &back)
		require.Equal(t, f, back)
	}
	for k := llm.Unknown; k <= llm.OverBudget; k++ {
		var back llm.Kind
		check(k, &back)
		require.Equal(t, k, back)
	}
	for _, invalid := range []encoding.TextMarshaler{llm.Role(0), llm.Role(99), llm.Finish(0), llm.Finish(99), llm.Kind(99)} {
		_, err := invalid.MarshalText()
		require.Error(t, err)
		require.NotEmpty(t, fmt.Sprint(invalid))
	}
}
