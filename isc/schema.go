package isc

import (
	"encoding/json"
	"regexp"
)

// node is one schema of a format, as far as [Format.Closed], [Format.At] and the
// search for cycles need it. Whatever a node leaves out only makes it allow more.
type node struct {
	at    string // JSON Pointer in the schema
	never bool   // the schema false
	types Types  // zero: any

	values    []any // enum or const
	hasValues bool

	lower, upper bool
	maxLength    int // -1: none
	pattern      string
	format       string // asserted
	maxItems     int    // -1: none

	properties  map[string]*node
	patterns    []patternNode
	additional  *node
	unevaluated *node // unevaluatedProperties
	names       *node // propertyNames
	required    []string

	prefix           []*node
	items            *node // elements beyond prefix
	unevaluatedItems *node
	contains         *node

	all     []*node   // $ref, allOf: the value must fit them too
	groups  [][]*node // anyOf, oneOf: it must fit one of each
	maybe   []*node   // then, else, dependentSchemas: it may have to fit them
	inPlace []*node   // all schemas that are applied to the same value
	below   []*node   // all that are applied to its parts
	role    Role      // declared
}

type patternNode struct {
	re *regexp.Regexp
	*node
}

func newNode(at string) *node { return &node{at: at, maxLength: -1, maxItems: -1} }

var typeNames = map[string]Types{
	"null": TypeNull, "boolean": TypeBoolean, "integer": TypeInteger, "number": TypeNumber | TypeInteger,
	"string": TypeString, "array": TypeArray, "object": TypeObject,
}

// read takes over the keywords of m that hold no schema. Values of the wrong
// kind are skipped: compiling refuses them.
func (n *node) read(m map[string]any, d *dialect) {
	switch t := m["type"].(type) {
	case string:
		n.types = typeNames[t]
	case []any:
		for _, one := range t {
			name, _ := one.(string)
			n.types |= typeNames[name]
		}
	}
	if list, ok := m["enum"].([]any); ok {
		n.values, n.hasValues = list, true
	}
	if v, ok := m["const"]; ok && d.has("const") {
		n.values, n.hasValues = []any{v}, true
	}
	n.lower = isNumber(m["minimum"]) || isNumber(m["exclusiveMinimum"])
	n.upper = isNumber(m["maximum"]) || isNumber(m["exclusiveMaximum"])
	n.maxLength, n.maxItems = intOf(m["maxLength"]), intOf(m["maxItems"])
	n.pattern, _ = m["pattern"].(string)
	n.format, _ = m["format"].(string)
	required, _ := m["required"].([]any)
	for _, r := range required {
		if s, ok := r.(string); ok {
			n.required = append(n.required, s)
		}
	}
}

func isNumber(v any) bool { _, ok := v.(json.Number); return ok }

// intOf is a small count, or -1 for what is none.
func intOf(v any) int {
	num, _ := v.(json.Number)
	f, err := num.Float64()
	if err != nil || f < 0 || f > 1<<30 || f != float64(int(f)) {
		return -1
	}
	return int(f)
}
