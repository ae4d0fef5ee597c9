package isc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// schemaURL is what the compiler calls the schema; nothing is ever loaded.
const schemaURL = "urn:isc:format"

// maxSteps bounds the schemas that are applied in one check. A recursive schema
// with alternatives would otherwise take time exponential in the depth. Where
// schemas are applied deep within others a step counts for more, because the
// library spells out the whole way for each mismatch on it.
const maxSteps = 1 << 18

// stepCost is what one step counts for at a depth of values and a length of
// chains of schemas that are applied to one value.
func stepCost(depth, chain int) int {
	scope := (depth + 1) * (chain + 1)
	return 1 + scope*scope/256
}

// validator is one compiled schema with its count of steps. It serves one check
// at a time.
type validator struct {
	schema *jsonschema.Schema
	steps  int
	most   int
}

type tooManySteps struct{}

// Compile and Validate hook the count into every schema.
func (v *validator) Compile(jsonschema.CompilerContext, map[string]any) (jsonschema.ExtSchema, error) {
	return v, nil
}

// Validate counts: the library looks at each member of an object, and at each
// element of an array, once for every schema that it applies.
func (v *validator) Validate(_ jsonschema.ValidationContext, value any) error {
	v.steps++
	switch value := value.(type) {
	case map[string]any:
		v.steps += len(value)
	case []any:
		v.steps += len(value)
	}
	if v.steps > v.most {
		panic(tooManySteps{})
	}
	return nil
}

// compile sets up both validators, and fails if the schema is none.
func (c *compiled) compile(d *dialect, nodes map[string]*node) error {
	if m, ok := c.tree.(map[string]any); ok {
		m["$schema"] = d.uri
		defer delete(m, "$schema")
	}
	text, err := json.Marshal(c.tree)
	if err != nil {
		return errors.Join(errors.New("isc: format: cannot be written"), err)
	}
	if c.plain, err = compileSchema(text, d, nil); err != nil {
		return err
	}
	c.paths = c.root.paths(map[*node]int{})
	c.chain = longestChain(nodes)
	c.pool.New = func() any {
		v := &validator{}
		var err error
		if v.schema, err = compileSchema(text, d, v); err != nil {
			return (*validator)(nil)
		}
		return v
	}
	return nil
}

// paths is the number of ways down from n, at most maxSteps. No value takes more
// steps than that times its size: a way meets each part of it once. Recursion
// counts as the most.
func (n *node) paths(known map[*node]int) int {
	if p, ok := known[n]; ok {
		return p
	}
	known[n] = maxSteps // stands if we come back here
	sum := 1
	for _, next := range slices.Concat(n.inPlace, n.below) {
		if sum = min(sum+next.paths(known), maxSteps); sum == maxSteps {
			break
		}
	}
	known[n] = sum
	return sum
}

// longestChain is the most schemas that are applied to one value within one
// another. There is no cycle in them.
func longestChain(nodes map[string]*node) int {
	known := map[*node]int{}
	var chain func(n *node) int
	chain = func(n *node) int {
		if c, ok := known[n]; ok {
			return c
		}
		longest := 0
		for _, next := range n.inPlace {
			longest = max(longest, 1+chain(next))
		}
		known[n] = longest
		return longest
	}
	longest := 0
	for _, n := range nodes {
		longest = max(longest, chain(n))
	}
	return longest
}

func compileSchema(text []byte, d *dialect, count *validator) (s *jsonschema.Schema, err error) {
	defer func() {
		if recover() != nil {
			s, err = nil, schemaErr("", "no valid schema")
		}
	}()
	compiler := jsonschema.NewCompiler()
	compiler.Draft, compiler.AssertFormat = d.draft, true
	compiler.LoadURL = func(string) (io.ReadCloser, error) { return nil, errors.New("isc: format: nothing is loaded") }
	for name, check := range formats {
		compiler.Formats[name] = func(v any) bool { s, ok := v.(string); return !ok || check(s) }
	}
	if count != nil {
		compiler.RegisterExtension("steps", nil, count)
	}
	if err := compiler.AddResource(schemaURL, bytes.NewReader(text)); err != nil {
		return nil, schemaErr("", "no valid schema")
	}
	if s, err = compiler.Compile(schemaURL); err != nil {
		return nil, compileErr(err)
	}
	return s, nil
}

// compileErr says where a schema breaks its dialect's rules.
func compileErr(err error) error {
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return schemaErr("", "no valid schema")
	}
	for len(invalid.Causes) > 0 {
		invalid = invalid.Causes[0]
	}
	at, uerr := url.PathUnescape(invalid.InstanceLocation)
	if uerr != nil {
		at = ""
	}
	return schemaErr(at, "no valid schema: breaks %s of the dialect", splitLocation(invalid.AbsoluteKeywordLocation).Keyword)
}
