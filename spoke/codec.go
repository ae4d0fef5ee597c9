package spoke

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// codec moves values of one Go type to and from the tree of a JSON value: maps,
// slices, strings, booleans and [json.Number]. It is used instead of
// encoding/json because that writes null for an empty list, cannot write a URL
// as one, and takes any case of a key.
type codec interface {
	encode(v reflect.Value) (any, error)
	decode(tree any, into reflect.Value) error
}

// errShape: the tree is not of the kind that the Go type wants. The format was
// checked before, so it means that a given format and the type disagree.
var errShape = errors.New("the value does not fit the Go type")

type (
	boolCodec    struct{}
	intCodec     struct{}
	floatCodec   struct{}
	numberCodec  struct{}
	stringCodec  struct{}
	textCodec    struct{}
	bytesCodec   struct{}
	urlCodec     struct{}
	timeCodec    struct{ layout string }
	listCodec    struct{ elem codec }
	mapCodec     struct{ elem codec }
	pointerCodec struct{ elem codec }
	structCodec  struct{ fields []structField }
	structField  struct {
		name     string
		index    []int
		optional bool
		codec    codec
	}
)

func (boolCodec) encode(v reflect.Value) (any, error) { return v.Bool(), nil }
func (boolCodec) decode(tree any, into reflect.Value) error {
	b, ok := tree.(bool)
	if !ok {
		return errShape
	}
	into.SetBool(b)
	return nil
}

func (intCodec) encode(v reflect.Value) (any, error) {
	if v.CanUint() {
		return json.Number(strconv.FormatUint(v.Uint(), 10)), nil
	}
	return json.Number(strconv.FormatInt(v.Int(), 10)), nil
}

func (intCodec) decode(tree any, into reflect.Value) error {
	n, ok := tree.(json.Number)
	if !ok {
		return errShape
	}
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil && !into.CanUint() && !into.OverflowInt(i) {
		into.SetInt(i)
		return nil
	}
	whole, ok := wholeNumber(string(n))
	switch {
	case !ok:
		return errShape
	case into.CanUint():
		if !whole.IsUint64() || into.OverflowUint(whole.Uint64()) {
			return errShape
		}
		into.SetUint(whole.Uint64())
	default:
		if !whole.IsInt64() || into.OverflowInt(whole.Int64()) {
			return errShape
		}
		into.SetInt(whole.Int64())
	}
	return nil
}

// wholeNumber reads 3, 3.0 and 0.3e1, which are all integers to JSON Schema.
func wholeNumber(s string) (*big.Int, bool) {
	if !strings.ContainsAny(s, ".eE") {
		if len(s) > 20 {
			return nil, false
		}
		return new(big.Int).SetString(s, 10)
	}
	// The size is looked at first, so that no exponent can make a huge number.
	if f, err := strconv.ParseFloat(s, 64); err != nil || math.Abs(f) > 1<<65 || f != math.Trunc(f) {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || !r.IsInt() {
		return nil, false
	}
	return r.Num(), true
}

func (floatCodec) encode(v reflect.Value) (any, error) {
	f := v.Float()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%v is no JSON number", f)
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, v.Type().Bits())), nil
}

func (floatCodec) decode(tree any, into reflect.Value) error {
	n, ok := tree.(json.Number)
	if !ok {
		return errShape
	}
	f, err := strconv.ParseFloat(string(n), into.Type().Bits())
	if err != nil {
		return errShape
	}
	into.SetFloat(f)
	return nil
}

func (numberCodec) encode(v reflect.Value) (any, error) {
	s := v.String()
	if s == "" {
		s = "0"
	}
	if !isNumber(s) {
		return nil, errors.New("a json.Number is no number")
	}
	return json.Number(s), nil
}

func (numberCodec) decode(tree any, into reflect.Value) error {
	n, ok := tree.(json.Number)
	if !ok {
		return errShape
	}
	into.SetString(string(n))
	return nil
}

func (stringCodec) encode(v reflect.Value) (any, error) {
	// encoding/json would put a replacement character silently.
	if !utf8.ValidString(v.String()) {
		return nil, errors.New("a string is not valid UTF-8")
	}
	return v.String(), nil
}

func (stringCodec) decode(tree any, into reflect.Value) error {
	s, ok := tree.(string)
	if !ok {
		return errShape
	}
	into.SetString(s)
	return nil
}

func (textCodec) encode(v reflect.Value) (any, error) {
	m, ok := reflect.TypeAssert[encoding.TextMarshaler](v)
	if !ok {
		return nil, errShape
	}
	text, err := m.MarshalText()
	if err == nil && !utf8.Valid(text) {
		err = errors.New("a text is not valid UTF-8")
	}
	return string(text), err
}

func (textCodec) decode(tree any, into reflect.Value) error {
	s, ok := tree.(string)
	if !ok {
		return errShape
	}
	m, ok := reflect.TypeAssert[encoding.TextUnmarshaler](into.Addr())
	if !ok {
		return errShape
	}
	return m.UnmarshalText([]byte(s))
}

func (bytesCodec) encode(v reflect.Value) (any, error) {
	return base64.StdEncoding.EncodeToString(v.Bytes()), nil
}

func (bytesCodec) decode(tree any, into reflect.Value) error {
	s, ok := tree.(string)
	if !ok {
		return errShape
	}
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil {
		return errShape
	}
	into.SetBytes(b)
	return nil
}

func (urlCodec) encode(v reflect.Value) (any, error) {
	u, ok := reflect.TypeAssert[url.URL](v)
	if !ok {
		return nil, errShape
	}
	return u.String(), nil
}

func (urlCodec) decode(tree any, into reflect.Value) error {
	s, ok := tree.(string)
	if !ok {
		return errShape
	}
	u, err := url.Parse(s)
	if err != nil {
		return errShape
	}
	into.Set(reflect.ValueOf(*u))
	return nil
}

func (c timeCodec) encode(v reflect.Value) (any, error) {
	t, ok := reflect.TypeAssert[time.Time](v)
	if !ok {
		return nil, errShape
	}
	// An offset with seconds has no RFC 3339 form.
	if _, offset := t.Zone(); offset%60 != 0 {
		t = t.UTC()
	}
	if y := t.Year(); y < 0 || y > 9999 {
		return nil, errors.New("a year is not within 0 and 9999")
	}
	return t.Format(c.layout), nil
}

func (c timeCodec) decode(tree any, into reflect.Value) error {
	s, ok := tree.(string)
	if !ok {
		return errShape
	}
	// RFC 3339 takes small letters, and so do format checks; Go does not.
	t, err := time.Parse(c.layout, strings.ToUpper(s))
	if err != nil {
		return errShape
	}
	into.Set(reflect.ValueOf(t))
	return nil
}
