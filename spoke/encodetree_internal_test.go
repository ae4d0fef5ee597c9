package spoke

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// tree draws what codecs encode.
func tree() *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return rapid.String().Draw(t, "string")
		case 1:
			return json.Number(rapid.SampledFrom([]string{"0", "-1.5", "3e7", "12345678901234567890"}).Draw(t, "number"))
		case 2:
			return rapid.Bool().Draw(t, "bool")
		case 3:
			return rapid.SliceOfN(rapid.Deferred(tree), 0, 3).Draw(t, "list")
		case 4:
			return rapid.MapOfN(rapid.String(), rapid.Deferred(tree), 0, 3).Draw(t, "members")
		default:
			return nil
		}
	})
}

func TestTreesAreWrittenAsEncodingJSONWritesThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := tree().Draw(t, "tree")
		want, err := json.Marshal(v)
		require.NoError(t, err)
		got, err := appendTree(nil, v)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	})
}

func TestABadNumberIsNotWritten(t *testing.T) {
	for _, n := range []json.Number{"NaN", "0x1", "1 2"} {
		_, err := appendTree(nil, []any{n})
		require.Error(t, err, n)
	}
}
