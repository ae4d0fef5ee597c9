package isc

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// ErrMismatch says that a value is sound JSON but does not fit its format.
var ErrMismatch = errors.New("isc: does not fit the format")

// MismatchError is an [ErrMismatch] with the place in the schema that the value
// does not fit. Nothing in it comes from the value.
type MismatchError struct {
	Pointer string // JSON Pointer in the schema; the app wrote the names in it
	Keyword string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("isc: does not fit the format: %s: %s", showPointer(e.Pointer), Visible(e.Keyword))
}

// Is makes errors.Is(err, ErrMismatch) true.
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }

// Check decodes body strictly, checks it against the format and returns its
// canonical bytes (see [Canonical]), which are the caller's. The error is a
// [*MalformedError] or a [*MismatchError] and holds nothing of body.
func (f *Format) Check(body []byte) ([]byte, error) {
	canonical, _, err := f.CheckTree(body)
	return canonical, err
}

// CheckTree is [Format.Check] that also gives the value itself, so that nobody
// needs to decode it again: nil, bool, string, [json.Number], []any and
// map[string]any. It is the caller's.
func (f *Format) CheckTree(body []byte) (canonical []byte, tree any, err error) {
	if f.isNone() {
		return nil, nil, &MismatchError{Keyword: "no format"}
	}
	got, err := decode(body, f.c.limits, true)
	if err != nil {
		return nil, nil, err
	}
	if err := f.c.validate(got); err != nil {
		return nil, nil, err
	}
	return got.canonical, got.tree, nil
}

// validate guards the library: its panics are mismatches.
func (c *compiled) validate(got decoded) (err error) {
	defer func() {
		if recover() != nil {
			err = &MismatchError{Keyword: "too much to check"}
		}
	}()
	most := maxSteps / stepCost(got.depth, c.chain)
	if int64(got.nodes)*int64(c.paths) < int64(most) {
		err = c.plain.Validate(got.tree)
	} else {
		err = c.validateCounting(got.tree, most)
	}
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return &MismatchError{Keyword: "cannot be checked"}
	}
	return mismatchOf(invalid)
}

func (c *compiled) validateCounting(tree any, most int) error {
	v, _ := c.pool.Get().(*validator)
	if v == nil {
		return errors.New("isc: format: cannot be compiled again")
	}
	v.steps, v.most = 0, most
	err := v.schema.Validate(tree) // where that panics, v is not put back
	c.pool.Put(v)
	return err
}

// mismatchOf is the first of the library's causes by place; the library finds
// them in no order.
func mismatchOf(e *jsonschema.ValidationError) *MismatchError {
	var first *MismatchError
	stack := []*jsonschema.ValidationError{e}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], top.Causes...)
		if len(top.Causes) > 0 {
			continue
		}
		m := splitLocation(top.AbsoluteKeywordLocation)
		if first == nil || m.Pointer+"/"+m.Keyword < first.Pointer+"/"+first.Keyword {
			first = m
		}
	}
	return first
}

// splitLocation is the pointer and the keyword of a library's location.
func splitLocation(location string) *MismatchError {
	_, fragment, _ := strings.Cut(location, "#")
	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	i := strings.LastIndexByte(fragment, '/')
	if i < 0 {
		return &MismatchError{Keyword: "schema"}
	}
	return &MismatchError{Pointer: fragment[:i], Keyword: fragment[i+1:]}
}
