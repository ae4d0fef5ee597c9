package spoke_test

import (
	"context"
	"encoding/json"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// formats are those that Func infers.
func formats[In, Out any](t *testing.T, opts ...spoke.Option) isc.Functionality {
	t.Helper()
	app, err := build[In, Out](opts...)
	require.NoError(t, err)
	f, ok := app.Manifest().Find("do")
	require.True(t, ok)
	return f
}

func build[In, Out any](opts ...spoke.Option) (spoke.App, error) {
	return spoke.New(isc.Manifest{ID: "test", Name: "Test"},
		spoke.Func("do", func(context.Context, In) (Out, error) { panic("not called") }, opts...))
}

type none struct{}

type base struct {
	ID int8 `json:"id"`
}

func TestFuncInfersFormats(t *testing.T) {
	type inner struct {
		Names []string `json:"names" isolate:"min=1,max=3"`
	}
	type everything struct {
		base
		To      string            `json:"to" isolate:"role=destination,format=email,description=who gets it, and when"`
		Amount  uint16            `json:"amount" isolate:"min=1,max=500,role=measure"`
		Rate    float64           `json:"rate" isolate:"min=0.5"`
		Exact   json.Number       `json:"exact"`
		Kind    string            `json:"kind" isolate:"enum=small|large"`
		Code    string            `json:"code" isolate:"pattern=^[A-Z]{3}$"`
		When    time.Time         `json:"when"`
		Day     time.Time         `json:"day" isolate:"format=date"`
		Link    url.URL           `json:"link"`
		Addr    netip.Addr        `json:"addr"`
		On      bool              `json:"on"`
		Maybe   *inner            `json:"maybe"`
		Note    string            `json:"note,omitempty"`
		More    map[string]inner  `json:"more"`
		Triple  [3]bool           `json:"triple"`
		Blob    []byte            `json:"blob,omitempty"`
		Skipped chan int          `json:"-"`
		hidden  func()            //nolint:unused // unexported fields are left out
		Labels  map[string]string `json:"labels,omitempty"`
	}
	f := formats[everything, []int32](t, spoke.Reads(), spoke.Describe("does it"))
	require.Equal(t, isc.Read, f.Effect)
	require.Equal(t, "does it", f.Description)
	inside := `{"type":"object","properties":{"names":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string"}}},"required":["names"],"additionalProperties":false}`
	require.JSONEq(t, `{"type":"object","additionalProperties":false,"properties":{
		"id":{"type":"integer","minimum":-128,"maximum":127},
		"to":{"type":"string","format":"email","x-isolate-role":"destination","description":"who gets it, and when"},
		"amount":{"type":"integer","minimum":1,"maximum":500,"x-isolate-role":"measure"},
		"rate":{"type":"number","minimum":0.5},
		"exact":{"type":"number"},
		"kind":{"type":"string","enum":["small","large"]},
		"code":{"type":"string","pattern":"^[A-Z]{3}$"},
		"when":{"type":"string","format":"date-time"},
		"day":{"type":"string","format":"date"},
		"link":{"type":"string","format":"uri"},
		"addr":{"type":"string"},
		"on":{"type":"boolean"},
		"maybe":`+inside+`,
		"note":{"type":"string"},
		"more":{"type":"object","properties":{},"additionalProperties":`+inside+`},
		"triple":{"type":"array","minItems":3,"maxItems":3,"items":{"type":"boolean"}},
		"blob":{"type":"string","pattern":"^[A-Za-z0-9+/]*={0,2}$"},
		"labels":{"type":"object","properties":{},"additionalProperties":{"type":"string"}}
	},"required":["id","to","amount","rate","exact","kind","code","when","day","link","addr","on","more","triple"]}`,
		string(f.Request.Schema()))
	require.JSONEq(t, `{"type":"array","items":{"type":"integer","minimum":-2147483648,"maximum":2147483647}}`, string(f.Response.Schema()))
}

func TestFuncWritesPropertiesAlways(t *testing.T) {
	f := formats[none, none](t)
	require.JSONEq(t, `{"type":"object","properties":{},"additionalProperties":false}`, string(f.Request.Schema()))
}

func TestUndeclaredEffectIsIrreversible(t *testing.T) {
	require.Equal(t, isc.Irreversible, formats[none, none](t).Effect)
	require.Equal(t, isc.Write, formats[none, none](t, spoke.Writes()).Effect)
}

type twice struct {
	base
	Own int `json:"id"`
}

func TestFuncNamesTheFieldThatHasNoFormat(t *testing.T) {
	type loop struct {
		Next []loop `json:"next"`
	}
	type inner struct{ Bad chan int }
	tests := map[string]struct {
		build func(...spoke.Option) (spoke.App, error)
		want  string
	}{
		"channel":     {build[struct{ A inner }, none], ".A.Bad: "},
		"func":        {build[struct{ F func() }, none], ".F: "},
		"any":         {build[struct{ X any }, none], ".X: "},
		"raw":         {build[struct{ X json.RawMessage }, none], ".X: "},
		"any element": {build[struct{ X map[string][]any }, none], ".X{}[]: "},
		"recursive":   {build[loop, none], "loop.Next[]: "},
		"complex":     {build[none, struct{ C complex64 }], ".C: "},
		"int keys":    {build[struct{ M map[int]string }, none], ".M: "},
		"twice":       {build[twice, none], ".Own: two fields"},
		"case twice":  {build[struct{ Ab, AB int }, none], ".AB: two fields"},
		"quoted": {build[struct {
			A int `json:",string"`
		}, none], ".A: "},
		"tag key": {build[struct {
			A int `isolate:"least=1"`
		}, none], ".A: tag key"},
		"tag bound": {build[struct {
			A int `isolate:"min=few"`
		}, none], ".A: bound"},
		"tag misfit": {build[struct {
			A bool `isolate:"min=1"`
		}, none], ".A: tag has an item"},
		"time format": {build[struct {
			A time.Time `isolate:"format=email"`
		}, none], ".A: a time"},
		"no names": {build[string, none], "must be a struct or a map"},
		"twice effect": {func(...spoke.Option) (spoke.App, error) {
			return build[none, none](spoke.Reads(), spoke.Writes())
		}, "declared twice"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tt.build()
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, "do: ")
		})
	}
}

func TestNewReportsEverythingAtOnce(t *testing.T) {
	ok := func(context.Context, none) (none, error) { return none{}, nil }
	_, err := spoke.New(isc.Manifest{ID: "test", Name: "Test", Functionalities: []isc.Functionality{{Name: "nobody"}}},
		spoke.Func("a", ok), spoke.Func("a", ok),
		spoke.Func[none, none]("b", nil),
		spoke.Func("c", func(context.Context, struct{ X any }) (none, error) { return none{}, nil }),
		spoke.Agent("d", nil, nil), spoke.Part{})
	for _, want := range []string{"nobody: nothing serves it", "a: two functionalities", "b: the function is nil", ".X: ", "d: ", ": a part must come from"} {
		require.ErrorContains(t, err, want)
	}
}

func TestNewKeepsItsManifest(t *testing.T) {
	m := isc.Manifest{ID: "test", Name: "Test", Hosts: []string{"example.com"}}
	app, err := spoke.New(m, spoke.Func("do", func(context.Context, none) (none, error) { return none{}, nil }))
	require.NoError(t, err)
	m.Hosts[0] = "evil.example"
	app.Manifest().Functionalities[0].Name = "other"
	app.Manifest().Hosts[0] = "evil.example"
	got := app.Manifest()
	require.Equal(t, "example.com", got.Hosts[0])
	require.Equal(t, isc.FunctionalityName("do"), got.Functionalities[0].Name)
}

func TestHandleDecodesOnlyWhatPassedTheFormat(t *testing.T) {
	type request struct {
		Amount int `json:"amount" isolate:"max=500"`
	}
	called := 0
	app, err := spoke.New(isc.Manifest{ID: "test", Name: "Test"},
		spoke.Func("do", func(_ context.Context, r request) (int, error) { called++; return r.Amount, nil }))
	require.NoError(t, err)
	for _, body := range []string{``, `{}`, `{"amount":1,"Amount":9}`, `{"Amount":1}`, `{"amount":1,"amount":9}`, `{"amount":1,"\u0061mount":9}`,
		`{"amount":501}`, `{"amount":"1"}`, `{"amount":1.5}`, `{"amount":1} {}`, `{"amount":1e2000000}`, `null`} {
		_, err := app.Handle(t.Context(), spoke.Call{Functionality: "do", Body: json.RawMessage(body)})
		require.Error(t, err, body)
	}
	require.Zero(t, called)
	for body, want := range map[string]string{`{"amount":7}`: "7", ` { "amount" : 5e1 } `: "50", `{"amount":3.0}`: "3"} {
		out, err := app.Handle(t.Context(), spoke.Call{Functionality: "do", Body: json.RawMessage(body)})
		require.NoError(t, err, body)
		require.Equal(t, want, string(out))
	}
	_, err = app.Handle(t.Context(), spoke.Call{Functionality: "undo", Body: json.RawMessage(`{}`)})
	require.Error(t, err)
}

func TestEncodingHasNoNullAndNoReplacement(t *testing.T) {
	type response struct {
		List []string          `json:"list"`
		Map  map[string]string `json:"map"`
		Link url.URL           `json:"link"`
	}
	f := func(r response) (json.RawMessage, error) {
		app, err := spoke.New(isc.Manifest{ID: "test", Name: "Test"},
			spoke.Func("do", func(context.Context, none) (response, error) { return r, nil }))
		require.NoError(t, err)
		return app.Handle(t.Context(), spoke.Call{Functionality: "do", Body: json.RawMessage(`{}`)})
	}
	out, err := f(response{Link: url.URL{Scheme: "https", Host: "example.com", Path: "/a"}})
	require.NoError(t, err)
	require.JSONEq(t, `{"list":[],"map":{},"link":"https://example.com/a"}`, string(out))
	_, err = f(response{List: []string{"\xff"}})
	require.ErrorContains(t, err, "UTF-8")
}

func TestAnOpenFormatGivesNoUnknownMember(t *testing.T) {
	type request struct {
		X int `json:"x"`
	}
	open := isc.MustFormat(`{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}`)
	app, err := spoke.New(isc.Manifest{ID: "test", Name: "Test"},
		spoke.Func("do", func(_ context.Context, in request) (int, error) { return in.X, nil }, spoke.WithFormats(open, nil)))
	require.NoError(t, err)
	for body, fails := range map[string]bool{`{"x":1}`: false, `{"x":1,"y":2}`: true} {
		_, err := app.Handle(t.Context(), spoke.Call{Functionality: "do", Body: json.RawMessage(body)})
		require.Equal(t, fails, err != nil, body)
	}
}

func TestGivenFormatsWin(t *testing.T) {
	request := isc.MustFormat(`{"type":"object","properties":{"x":{"type":"integer","maximum":3}},"required":["x"],"additionalProperties":false}`)
	app, err := spoke.New(isc.Manifest{ID: "test", Name: "Test"},
		spoke.Func("do", func(_ context.Context, in json.RawMessage) (string, error) { return string(in), nil }, spoke.WithFormats(request, nil)))
	require.NoError(t, err)
	out, err := app.Handle(t.Context(), spoke.Call{Functionality: "do", Body: json.RawMessage(`{ "x": 2 }`)})
	require.NoError(t, err)
	require.Equal(t, `"{\"x\":2}"`, string(out))
	_, err = app.Handle(t.Context(), spoke.Call{Functionality: "do", Body: json.RawMessage(`{"x":4}`)})
	require.Error(t, err)
}
