package isc

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Limits of a schema.
const (
	maxSchemaSize    = 256 << 10 // bytes
	maxSchemas       = 2048      // subschemas
	maxPatternLength = 1024      // bytes
	maxPropertyName  = 128       // bytes
)

// loader turns a schema into nodes, and its tree, in place, into what is safe to
// compile: no annotation, no keyword of another dialect, every reference a plain
// pointer within the document, nothing that cannot be checked.
type loader struct {
	d         *dialect
	root      any
	nodes     map[string]*node  // by pointer
	resources map[string]string // URI to pointer of its root
	anchors   map[string]string // URI#name to pointer
	refs      []reference
	extra     []string // pointers of referenced schemas outside of the usual places
	dynamic   bool
	notes     []Note
}

func newLoader(root any, d *dialect) *loader {
	return &loader{
		d: d, root: root, nodes: map[string]*node{},
		resources: map[string]string{documentURI: ""}, anchors: map[string]string{},
	}
}

func schemaErr(at, format string, args ...any) error {
	return fmt.Errorf("isc: format: %s: %w", showPointer(at), fmt.Errorf(format, args...))
}

// showPointer is a schema pointer for a person: it was written by an app.
func showPointer(at string) string {
	const most = 200
	s := "#" + Visible(at)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// load reads the whole schema and follows its references.
func (l *loader) load() (*node, error) {
	root, err := l.schema("", l.root, documentURI)
	if err != nil {
		return nil, err
	}
	for len(l.refs) > 0 {
		r := l.refs[0]
		l.refs = l.refs[1:]
		if err := l.follow(r); err != nil {
			return nil, err
		}
	}
	if l.dynamic && len(l.resources) > 2 {
		return nil, schemaErr("", "dynamic references over several schemas are not understood; use $ref")
	}
	return root, l.findCycle()
}

func (l *loader) schema(at string, v any, base string) (*node, error) {
	n := newNode(at)
	if len(l.nodes) >= maxSchemas {
		return nil, schemaErr(at, "more than %d schemas", maxSchemas)
	}
	l.nodes[at] = n
	switch v := v.(type) {
	case bool:
		n.never = !v
		return n, nil
	case map[string]any:
		return n, l.object(n, v, base)
	}
	return nil, schemaErr(at, "a schema must be an object or a boolean")
}

func (l *loader) object(n *node, m map[string]any, base string) error {
	if err := l.declaredRole(n, m); err != nil {
		return err
	}
	if s, ok := m["$schema"].(string); ok && n.at != "" {
		if d, known := findDialect(s); !known || d != l.d {
			return schemaErr(n.at, "$schema differs from that of the document")
		}
	}
	delete(m, "$schema")
	if _, isRef := m["$ref"]; isRef && l.d.year < 2019 {
		// Siblings of a $ref mean nothing there.
		for key := range m {
			if key != "$ref" && key != "definitions" && key != "$defs" {
				delete(m, key)
			}
		}
	}
	for key := range m {
		if slices.Contains(annotations, key) || !l.d.has(key) {
			delete(m, key)
		}
	}
	base, err := l.identify(n.at, m, base)
	if err != nil {
		return err
	}
	l.dropUncheckable(n, m)
	n.read(m, l.d)
	if err := l.children(n, m, base); err != nil {
		return err
	}
	for _, keyword := range []string{"$ref", "$recursiveRef", "$dynamicRef"} {
		if _, ok := m[keyword]; ok {
			l.refs = append(l.refs, reference{n, m, base, keyword})
		}
	}
	return nil
}

func (l *loader) declaredRole(n *node, m map[string]any) error {
	v, ok := m[roleKeyword]
	if !ok {
		return nil
	}
	word, _ := v.(string)
	if n.role.UnmarshalText([]byte(word)) != nil {
		return schemaErr(n.at, "%s must be one of payload, destination, record, measure", roleKeyword)
	}
	return nil
}

// dropUncheckable takes out what nobody can check, and says so. The field is
// free text then, since nothing closes it.
func (l *loader) dropUncheckable(n *node, m map[string]any) {
	if f, ok := m["format"].(string); ok && formats[f] == nil {
		l.note(n.at, "format", "unknown, so it is not checked")
		delete(m, "format")
	}
	if p, ok := m["pattern"].(string); ok && compilePattern(p) == nil {
		l.note(n.at, "pattern", "pattern cannot be checked (RE2 has no such pattern, or it is too large)")
		delete(m, "pattern")
	}
	byPattern, _ := m["patternProperties"].(map[string]any)
	for _, p := range sortedKeys(byPattern) {
		if compilePattern(p) == nil {
			l.note(n.at, "patternProperties", "pattern cannot be checked; members that it means are treated as additional")
			delete(byPattern, p)
		}
	}
}

func (l *loader) note(at, keyword, text string) {
	l.notes = append(l.notes, Note{Pointer: at, Keyword: keyword, Text: text})
}

// compilePattern is nil for a pattern that cannot be checked.
func compilePattern(p string) *regexp.Regexp {
	if len(p) > maxPatternLength || patternCost(p) > maxPatternCost {
		return nil
	}
	re, err := regexp.Compile(p)
	if err != nil {
		return nil
	}
	return re
}

// children reads the schemas inside of m.
func (l *loader) children(n *node, m map[string]any, base string) error {
	one := map[string]*node{}
	for _, key := range oneSchema {
		v, ok := m[key]
		if _, isList := v.([]any); !ok || isList && key == "items" {
			continue
		}
		child, err := l.schema(joinPointer(n.at, key), v, base)
		if err != nil {
			return err
		}
		one[key] = child
	}
	lists := map[string][]*node{}
	for _, key := range listOfSchemas {
		list, _ := m[key].([]any)
		for i, v := range list {
			child, err := l.schema(joinPointer(joinPointer(n.at, key), strconv.Itoa(i)), v, base)
			if err != nil {
				return err
			}
			lists[key] = append(lists[key], child)
		}
	}
	named := map[string]map[string]*node{}
	for _, key := range mapOfSchemas {
		members, err := l.members(joinPointer(n.at, key), key, m[key], base)
		if err != nil {
			return err
		}
		named[key] = members
	}
	l.connect(n, one, lists, named)
	return nil
}

func (l *loader) members(at, key string, v any, base string) (map[string]*node, error) {
	m, _ := v.(map[string]any)
	out := map[string]*node{}
	for _, name := range sortedKeys(m) {
		if _, isList := m[name].([]any); isList && key == "dependencies" {
			continue
		}
		if len(name) > maxPropertyName || HasHidden(name) {
			return nil, schemaErr(at, "a name over %d bytes or with hidden characters", maxPropertyName)
		}
		child, err := l.schema(joinPointer(at, name), m[name], base)
		if err != nil {
			return nil, err
		}
		out[name] = child
	}
	return out, nil
}

func (l *loader) connect(n *node, one map[string]*node, lists map[string][]*node, named map[string]map[string]*node) {
	n.additional, n.unevaluated, n.names = one["additionalProperties"], one["unevaluatedProperties"], one["propertyNames"]
	n.unevaluatedItems, n.contains = one["unevaluatedItems"], one["contains"]
	n.properties = named["properties"]
	n.prefix, n.items = lists["prefixItems"], one["items"]
	if lists["items"] != nil { // the older way to write prefixItems
		n.prefix, n.items = lists["items"], one["additionalItems"]
	}
	for _, p := range sortedKeys(named["patternProperties"]) {
		n.patterns = append(n.patterns, patternNode{compilePattern(p), named["patternProperties"][p]})
	}
	n.all = append(n.all, lists["allOf"]...)
	for _, key := range []string{"anyOf", "oneOf"} {
		if lists[key] != nil {
			n.groups = append(n.groups, lists[key])
		}
	}
	for _, key := range []string{"then", "else"} {
		if one[key] != nil && one["if"] != nil {
			n.maybe = append(n.maybe, one[key])
		}
	}
	for _, key := range []string{"dependencies", "dependentSchemas"} {
		for _, name := range sortedKeys(named[key]) {
			n.maybe = append(n.maybe, named[key][name])
		}
	}
	n.inPlace = slices.Concat(n.all, lists["anyOf"], lists["oneOf"], n.maybe)
	for _, key := range []string{"not", "if", "then", "else"} {
		if one[key] != nil {
			n.inPlace = append(n.inPlace, one[key])
		}
	}
	for _, key := range []string{"additionalItems", "additionalProperties", "contains", "items", "propertyNames",
		"unevaluatedItems", "unevaluatedProperties"} {
		if one[key] != nil {
			n.below = append(n.below, one[key])
		}
	}
	n.below = slices.Concat(n.below, lists["items"], lists["prefixItems"])
	n.below = slices.AppendSeq(n.below, maps.Values(named["properties"]))
	n.below = slices.AppendSeq(n.below, maps.Values(named["patternProperties"]))
}
