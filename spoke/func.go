package spoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/isolategpt/isolategpt/isc"
)

// Part is one functionality of an app and what serves it, as [Func],
// [FuncWith] and [Agent] make it. What is wrong with it, [New] says.
type Part struct {
	functionality isc.Functionality
	handler       handler // nil for the agent's
	err           error
}

// handler serves a call whose body is canonical and passed the request format.
type handler func(ctx context.Context, call Call) (json.RawMessage, error)

// Option says more about a functionality.
type Option func(*Part) error

// Reads declares that the functionality changes nothing.
func Reads() Option { return effect(isc.Read) }

// Writes declares that what the functionality changes can be undone. Without
// Reads or Writes it counts as irreversible.
func Writes() Option { return effect(isc.Write) }

func effect(e isc.Effect) Option {
	return func(p *Part) error {
		if p.functionality.Effect != isc.Irreversible {
			return errors.New("the effect is declared twice")
		}
		p.functionality.Effect = e
		return nil
	}
}

// Describe says what the functionality does, in words.
func Describe(text string) Option {
	return func(p *Part) error {
		p.functionality.Description = text
		return nil
	}
}

// WithFormats gives the formats instead of having them inferred; nil leaves one
// to inference. A Go type that has no format of its own (any, json.RawMessage,
// types that write their own JSON) then goes through encoding/json.
func WithFormats(request, response *isc.Format) Option {
	return func(p *Part) error {
		p.functionality.Request, p.functionality.Response = request, response
		return nil
	}
}

// Func makes a functionality of a Go function. Its formats are inferred from In
// and Out:
//
//	struct                    closed object; json names; embedded structs flat
//	field with omitempty,     optional; every other field is required
//	  omitzero or a pointer
//	map[string]T              object with any keys
//	[]T, [n]T                 array; of bytes: base64 string
//	string, bool, floats      string, boolean, number
//	integers                  integer within what the Go type holds
//	json.Number               number, kept as written
//	time.Time                 date-time, or date with the tag format=date
//	url.URL                   uri
//	encoding.TextMarshaler    string
//	  and TextUnmarshaler
//
// Everything else (any, funcs, channels, recursive types, types that write
// their own JSON) is an error of [New] that names the field. In must be a
// struct or a map. A struct tag says more of a field, description last:
//
//	Amount int    `json:"amount" isolate:"min=1,max=500,role=measure"`
//	To     string `json:"to" isolate:"role=destination,format=email"`
//	Size   string `json:"size" isolate:"enum=small|large,description=of the car, not of the party"`
//
// The keys are min and max (of a number, or the length of a string, array or
// map), enum, format, pattern, role and description. On an array or map, all
// but lengths and the description are said of its elements.
//
// fn gets only what passed the request format. Its error's text stays in the
// spoke; see [ErrRefused] for the statuses that errors choose.
func Func[In, Out any](name isc.FunctionalityName, fn func(context.Context, In) (Out, error), opts ...Option) Part {
	if fn == nil {
		return Part{functionality: isc.Functionality{Name: name}, err: errors.New("the function is nil")}
	}
	return FuncWith(name, func(ctx context.Context, _ Hub, in In) (Out, error) { return fn(ctx, in) }, opts...)
}

// FuncWith is [Func] for a function that also asks the hub.
func FuncWith[In, Out any](name isc.FunctionalityName, fn func(context.Context, Hub, In) (Out, error), opts ...Option) Part {
	p := newPart(name, opts)
	if fn == nil {
		p.err = errors.Join(p.err, errors.New("the function is nil"))
		return p
	}
	f := &p.functionality
	if f.Request == nil {
		p.err = errors.Join(p.err, objectOnly(reflect.TypeFor[In]()))
	}
	in, err := resolve(reflect.TypeFor[In](), &f.Request)
	p.err = errors.Join(p.err, err)
	out, err := resolve(reflect.TypeFor[Out](), &f.Response)
	p.err = errors.Join(p.err, err)
	if p.err != nil {
		return p
	}
	p.handler = func(ctx context.Context, call Call) (json.RawMessage, error) {
		var arg In
		if err := in.unmarshal(call, reflect.ValueOf(&arg).Elem()); err != nil {
			return nil, fmt.Errorf("spoke: %s: request: %w", name, err)
		}
		res, err := fn(ctx, call.Hub, arg)
		if err != nil {
			return nil, err
		}
		raw, err := out.marshal(reflect.ValueOf(&res).Elem())
		if err != nil {
			return nil, fmt.Errorf("spoke: %s: response: %w", name, err)
		}
		return raw, nil
	}
	return p
}

// Agent declares a functionality that the app's own model serves, following the
// app's instructions, with the app's other functionalities.
func Agent(name isc.FunctionalityName, request, response *isc.Format, opts ...Option) Part {
	p := newPart(name, opts)
	p.functionality.Agent = true
	if p.functionality.Request == nil {
		p.functionality.Request = request
	}
	if p.functionality.Response == nil {
		p.functionality.Response = response
	}
	if p.functionality.Request == nil || p.functionality.Response == nil {
		p.err = errors.Join(p.err, errors.New("a functionality of the agent needs both formats"))
	}
	return p
}

func newPart(name isc.FunctionalityName, opts []Option) Part {
	p := Part{functionality: isc.Functionality{Name: name}}
	for _, opt := range opts {
		if opt == nil {
			p.err = errors.Join(p.err, errors.New("an option is nil"))
			continue
		}
		p.err = errors.Join(p.err, opt(&p))
	}
	return p
}

// resolve infers *f unless it is given, and finds the type's codec.
func resolve(t reflect.Type, f **isc.Format) (typed, error) {
	inferred, c, err := inferFormat(t)
	switch {
	case *f == nil && err != nil:
		return typed{}, err
	case *f == nil:
		*f = inferred
		return typed{c}, nil
	case err != nil:
		return typed{}, nil //nolint:nilerr // the format is given, so the type needs no codec of its own
	default:
		return typed{c}, nil
	}
}

// typed is the way between a Go type and JSON: its codec, or encoding/json
// where the type has none.
type typed struct{ codec codec }

func (t typed) unmarshal(call Call, into reflect.Value) error {
	if t.codec == nil {
		return json.Unmarshal(call.Body, into.Addr().Interface())
	}
	return t.codec.decode(call.tree, into)
}

func (t typed) marshal(v reflect.Value) (json.RawMessage, error) {
	if t.codec == nil {
		return json.Marshal(v.Interface())
	}
	tree, err := t.codec.encode(v)
	if err != nil {
		return nil, err
	}
	return appendTree(make([]byte, 0, 128), tree)
}
