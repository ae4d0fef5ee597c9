package isc_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
)

func TestMembersAndElementsGoThroughCanonicalBytes(t *testing.T) {
	doc, err := isc.Canonical([]byte(`{"b":[1,"x,]}",{"c":null}, [] ],"a":{},"q\"\\":"\u0001\"","":-1.5e3}`))
	require.NoError(t, err)
	var keys []string
	for key, value := range isc.Members(doc) {
		keys = append(keys, key+"="+string(value))
	}
	require.Equal(t, []string{`=-1.5e3`, `a={}`, `b=[1,"x,]}",{"c":null},[]]`, `q"\="\u0001\""`}, keys)

	list, ok := isc.Get(doc, "/b")
	require.True(t, ok)
	require.Equal(t, []string{`1`, `"x,]}"`, `{"c":null}`, `[]`}, slices.Collect(isc.Elements(string(list))))

	for _, other := range []string{``, `{}`, `[]`, `1`, `"a"`, `null`, `[1]`} {
		require.Empty(t, maps.Collect(isc.Members(other)), other)
	}
	require.Empty(t, slices.Collect(isc.Elements(`{"a":1}`)))
}

func TestALoopOverMembersMayEndEarly(t *testing.T) {
	n := 0
	for range isc.Members(`{"a":1,"b":2}`) {
		n++
		break
	}
	for range isc.Elements(`[1,2]`) {
		n++
		break
	}
	require.Equal(t, 2, n)
}

func TestCheckTreeGivesTheValueThatWasChecked(t *testing.T) {
	f := isc.MustFormat(`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"array"}},"required":["a"]}`)
	body, tree, err := f.CheckTree([]byte(`{"b":["x\n",true,null], "a":1.0}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"a":1.0,"b":["x\n",true,null]}`, string(body))
	require.Equal(t, map[string]any{"a": json.Number("1.0"), "b": []any{"x\n", true, nil}}, tree)

	body, tree, err = f.CheckTree([]byte(`{"a":"x"}`))
	require.ErrorIs(t, err, isc.ErrMismatch)
	require.Nil(t, body)
	require.Nil(t, tree)
	_, _, err = (*isc.Format)(nil).CheckTree([]byte(`1`))
	require.Error(t, err)
}

// FuzzWalk holds that canonical bytes are taken apart as encoding/json does, and
// that other bytes do no harm.
func FuzzWalk(f *testing.F) {
	for _, seed := range []string{`{"a":{"b":[1,2]},"c":"\"}"}`, `[[],{},"]"]`, `{"a"`, `{"a":`, `[1,`, `{,}`, `"`, `{"\`, `]`, `{]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for range isc.Members(raw) {
			continue
		}
		for range isc.Elements(raw) {
			continue
		}
		doc, err := isc.Canonical(raw)
		if err != nil {
			return
		}
		var members map[string]json.RawMessage
		if doc[0] == '{' {
			require.NoError(t, json.Unmarshal(doc, &members))
			got := map[string]json.RawMessage{}
			for key, value := range isc.Members(doc) {
				got[key] = value
			}
			require.Equal(t, members, got)
		}
		var list []json.RawMessage
		if doc[0] == '[' {
			require.NoError(t, json.Unmarshal(doc, &list))
			got := []json.RawMessage{}
			for value := range isc.Elements(doc) {
				got = append(got, value)
			}
			require.Equal(t, list, got)
		}
	})
}
