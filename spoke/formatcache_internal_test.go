package spoke

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFormatIsCompiledOncePerSchema(t *testing.T) {
	var c formatCache
	first, err := c.parse([]byte(`{"type":"string"}`))
	require.NoError(t, err)
	again, err := c.parse([]byte(`{"type":"string"}`))
	require.NoError(t, err)
	require.Same(t, first, again)

	other, err := c.parse([]byte(`{"type": "string"}`))
	require.NoError(t, err)
	require.NotSame(t, first, other, "it is keyed by the exact bytes")
}

func TestABadSchemaIsNeverKept(t *testing.T) {
	var c formatCache
	for range 2 {
		_, err := c.parse([]byte(`{"type":`))
		require.Error(t, err)
	}
	require.Empty(t, c.known)
}

func TestTheFormatCacheIsBounded(t *testing.T) {
	var c formatCache
	long := strings.Repeat("x", 40<<10)
	for i := range 3 * maxFormats {
		_, err := c.parse(fmt.Appendf(nil, `{"type":"string","description":"%d %s"}`, i, long))
		require.NoError(t, err)
		require.LessOrEqual(t, len(c.known), maxFormats)
		require.LessOrEqual(t, c.bytes, maxFormatBytes)
	}
}

func TestNoFormatCacheParsesAllTheSame(t *testing.T) {
	var c *formatCache
	f, err := c.parse([]byte(`{"type":"string"}`))
	require.NoError(t, err)
	_, err = f.Check([]byte(`"a"`))
	require.NoError(t, err)
}
