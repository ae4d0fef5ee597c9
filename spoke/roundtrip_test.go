package spoke_test

import (
	"context"
	"encoding/json"
	"math"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

type leaf struct {
	Int    int64             `json:"int"`
	Uint   uint64            `json:"uint"`
	Small  int8              `json:"small,omitempty"`
	Float  float64           `json:"float"`
	Single float32           `json:"single"`
	Bool   bool              `json:"bool"`
	Text   string            `json:"text"`
	Number json.Number       `json:"number"`
	Time   time.Time         `json:"time"`
	Day    time.Time         `json:"day" isolate:"format=date"`
	Link   url.URL           `json:"link"`
	Blob   []byte            `json:"blob"`
	Map    map[string]string `json:"map"`
}

type tree struct {
	leaf
	One  *leaf           `json:"one"`
	Many []leaf          `json:"many"`
	Some map[string]leaf `json:"some"`
	Pair [2]bool         `json:"pair"`
}

var (
	keys  = rapid.StringMatching(`[a-z][a-z0-9_]{0,8}`)
	times = rapid.Custom(func(t *rapid.T) time.Time {
		zone := time.FixedZone("", rapid.IntRange(-12*60, 14*60).Draw(t, "zone")*60)
		return time.Unix(rapid.Int64Range(-2e9, 4e9).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).In(zone)
	})
	leaves = rapid.Custom(func(t *rapid.T) leaf {
		d := times.Draw(t, "day")
		return leaf{
			Int: rapid.Int64().Draw(t, "int"), Uint: rapid.Uint64().Draw(t, "uint"), Small: rapid.Int8().Draw(t, "small"),
			Float:  rapid.Float64Range(-1e15, 1e15).Draw(t, "float"),
			Single: rapid.Float32Range(-1e15, 1e15).Draw(t, "single"),
			Bool:   rapid.Bool().Draw(t, "bool"), Text: rapid.String().Draw(t, "text"),
			Number: json.Number(rapid.StringMatching(`-?(0|[1-9][0-9]{0,9})(\.[0-9]{1,5})?`).Draw(t, "number")),
			Time:   times.Draw(t, "time"), Day: time.Date(d.Year(), d.Month(), d.Day(), 0, 0, 0, 0, time.UTC),
			Link: url.URL{Scheme: "https", Host: "example.com", Path: "/" + rapid.String().Draw(t, "path")},
			Blob: rapid.SliceOf(rapid.Byte()).Draw(t, "blob"),
			Map:  rapid.MapOf(keys, rapid.String()).Draw(t, "map"),
		}
	})
	trees = rapid.Custom(func(t *rapid.T) tree {
		return tree{
			leaf: leaves.Draw(t, "leaf"), One: rapid.Ptr(leaves, true).Draw(t, "one"),
			Many: rapid.SliceOfN(leaves, 0, 3).Draw(t, "many"),
			Some: rapid.MapOfN(keys, leaves, 0, 3).Draw(t, "some"),
			Pair: [2]bool{rapid.Bool().Draw(t, "a"), rapid.Bool().Draw(t, "b")},
		}
	})
)

// Whatever a function returns passes the format that was inferred for it, and
// whoever takes it as input gets the same value.
func TestInferredFormatsHoldTheirValues(t *testing.T) {
	var give, got tree
	app, err := spoke.New(isc.Manifest{ID: "test", Name: "Test"},
		spoke.Func("give", func(context.Context, none) (tree, error) { return give, nil }),
		spoke.Func("take", func(_ context.Context, in tree) (none, error) { got = in; return none{}, nil }))
	require.NoError(t, err)
	f, _ := app.Manifest().Find("give")
	rapid.Check(t, func(rt *rapid.T) {
		give = trees.Draw(rt, "value")
		raw, err := app.Handle(t.Context(), spoke.Call{Functionality: "give", Body: json.RawMessage(`{}`)})
		require.NoError(rt, err)
		canonical, err := f.Response.Check(raw)
		require.NoError(rt, err, "%s", raw)
		_, err = app.Handle(t.Context(), spoke.Call{Functionality: "take", Body: canonical})
		require.NoError(rt, err, "%s", canonical)
		again := got
		give = again
		raw, err = app.Handle(t.Context(), spoke.Call{Functionality: "give", Body: json.RawMessage(`{}`)})
		require.NoError(rt, err)
		twice, err := f.Response.Check(raw)
		require.NoError(rt, err)
		require.Equal(rt, string(canonical), string(twice))
	})
}

func TestNumbersThatAreNoneAreErrors(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(1)} {
		app, err := spoke.New(isc.Manifest{ID: "test", Name: "Test"},
			spoke.Func("do", func(context.Context, none) (float64, error) { return f, nil }))
		require.NoError(t, err)
		_, err = app.Handle(t.Context(), spoke.Call{Functionality: "do", Body: json.RawMessage(`{}`)})
		require.Error(t, err)
	}
}

// Whatever passes the inferred format decodes, or is refused with an error.
func FuzzInferredFormat(f *testing.F) {
	calls := 0
	app, err := spoke.New(isc.Manifest{ID: "test", Name: "Test"},
		spoke.Func("do", func(_ context.Context, in tree) (tree, error) { calls++; return in, nil }))
	if err != nil {
		f.Fatal(err)
	}
	do, _ := app.Manifest().Find("do")
	one := `"int":1,"uint":2,"float":1.5,"single":2,"bool":true,"text":"x","number":1.50,"time":"2024-05-06T07:08:09z","day":"2024-05-06",` +
		`"link":"https://example.com/?q","blob":"AQ==","map":{"a":"b"}`
	f.Add([]byte(`{` + one + `,"many":[],"some":{},"pair":[true,false]}`))
	f.Add([]byte(`{` + one + `,"many":[{` + one + `}],"some":{"k":{` + one + `}},"pair":[true,false],"one":{` + one + `}}`))
	f.Add([]byte(`{"int":1e2000000}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		before := calls
		out, err := app.Handle(context.Background(), spoke.Call{Functionality: "do", Body: body})
		_, misfit := do.Request.Check(body)
		if misfit != nil && calls != before {
			t.Fatalf("the handler saw what does not fit: %v", misfit)
		}
		if err == nil {
			if _, err := do.Response.Check(out); err != nil {
				t.Fatalf("what came out does not fit: %v\n%s", err, out)
			}
		}
	})
}
