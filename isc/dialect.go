package isc

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// dialect is one version of JSON Schema. A schema keeps the meaning of its own;
// all are checked with formats asserted.
type dialect struct {
	year  int // 4, 6, 7, 2019, 2020
	uri   string
	draft *jsonschema.Draft
	id    string // the keyword that names a schema
}

var dialects = map[string]*dialect{
	"json-schema.org/draft-04/schema":      {4, "http://json-schema.org/draft-04/schema#", jsonschema.Draft4, "id"},
	"json-schema.org/draft-06/schema":      {6, "http://json-schema.org/draft-06/schema#", jsonschema.Draft6, "$id"},
	"json-schema.org/draft-07/schema":      {7, "http://json-schema.org/draft-07/schema#", jsonschema.Draft7, "$id"},
	"json-schema.org/draft/2019-09/schema": {2019, "https://json-schema.org/draft/2019-09/schema", jsonschema.Draft2019, "$id"},
	"json-schema.org/draft/2020-12/schema": {2020, "https://json-schema.org/draft/2020-12/schema", jsonschema.Draft2020, "$id"},
}

// findDialect understands http and https, with and without an empty fragment.
func findDialect(uri string) (*dialect, bool) {
	uri = strings.TrimSuffix(uri, "#")
	if rest, ok := strings.CutPrefix(uri, "https://"); ok {
		uri = rest
	} else {
		uri = strings.TrimPrefix(uri, "http://")
	}
	d, ok := dialects[uri]
	return d, ok
}

// since is the first year of keywords that came after draft 4. Before it they
// mean nothing.
var since = map[string]int{
	"const": 6, "contains": 6, "propertyNames": 6,
	"if": 7, "then": 7, "else": 7,
	"dependentRequired": 2019, "dependentSchemas": 2019, "unevaluatedItems": 2019, "unevaluatedProperties": 2019,
	"minContains": 2019, "maxContains": 2019, "$anchor": 2019, "$recursiveRef": 2019, "$recursiveAnchor": 2019,
	"prefixItems": 2020, "$dynamicRef": 2020, "$dynamicAnchor": 2020,
}

// until is the last year of keywords that were given up.
var until = map[string]int{"additionalItems": 2019, "$recursiveRef": 2019, "$recursiveAnchor": 2019}

func (d *dialect) has(keyword string) bool {
	last, ended := until[keyword]
	return d.year >= since[keyword] && (!ended || d.year <= last)
}

// annotations say nothing about what is valid. They are the app's prose.
var annotations = []string{
	"title", "description", "$comment", "default", "examples", "example", "deprecated", "readOnly", "writeOnly",
	"contentEncoding", "contentMediaType", "contentSchema", "$vocabulary", "regexProperties",
}

// Keywords whose value is one schema, a list of schemas, or a map of schemas.
var (
	oneSchema = []string{
		"additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then",
		"unevaluatedItems", "unevaluatedProperties",
	}
	listOfSchemas = []string{"allOf", "anyOf", "items", "oneOf", "prefixItems"}
	mapOfSchemas  = []string{"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)
