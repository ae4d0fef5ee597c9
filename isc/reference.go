package isc

import (
	"errors"
	"net/url"
	"strings"
)

type reference struct {
	from          *node
	tree          map[string]any
	base, keyword string
}

// documentURI is the base of a schema that does not name itself.
const documentURI = "https://format.invalid/"

// identify notes the names that the schema gives itself and takes them out. It
// returns the base of the references inside.
func (l *loader) identify(at string, m map[string]any, base string) (string, error) {
	id, _ := m[l.d.id].(string)
	delete(m, "$id")
	delete(m, "id")
	switch {
	case id == "" || strings.HasPrefix(id, "#/"):
	case id[0] == '#':
		l.anchors[base+id] = at
	default:
		uri, fragment, err := resolveURI(base, id)
		if err != nil || fragment != "" {
			return "", schemaErr(at, "an id that is no plain URI")
		}
		if _, twice := l.resources[uri]; twice {
			return "", schemaErr(at, "an id that another schema has")
		}
		l.resources[uri] = at
		base = uri
	}
	for _, key := range []string{"$anchor", "$dynamicAnchor"} {
		if name, ok := m[key].(string); ok {
			l.anchors[base+"#"+name] = at
		}
		delete(m, key)
	}
	delete(m, "$recursiveAnchor")
	return base, nil
}

func resolveURI(base, ref string) (uri, fragment string, err error) {
	b, err := url.Parse(base)
	if err != nil {
		return "", "", err
	}
	r, err := url.Parse(ref)
	if err != nil {
		return "", "", err
	}
	u := b.ResolveReference(r)
	if r.Opaque == "" && r.Scheme == "" && r.Host == "" && r.Path == "" && r.RawQuery == "" {
		u = b // only a fragment: also where the base is opaque, as a URN is
	}
	out := *u
	out.Fragment, out.RawFragment = "", ""
	return out.String(), r.Fragment, nil
}

// follow resolves one reference and writes it as a pointer.
func (l *loader) follow(r reference) error {
	ref, ok := r.tree[r.keyword].(string)
	if !ok {
		return schemaErr(r.from.at, "%s must be a string", r.keyword)
	}
	if r.keyword != "$ref" {
		if _, both := r.tree["$ref"]; both {
			return schemaErr(r.from.at, "%s beside $ref is not understood", r.keyword)
		}
		l.dynamic = true
	}
	at, err := l.resolve(r.base, ref)
	if err != nil {
		return schemaErr(r.from.at, "%s: %w", r.keyword, err)
	}
	target, ok := l.nodes[at]
	if !ok {
		if target, err = l.unusual(at); err != nil {
			return schemaErr(r.from.at, "%s: %w", r.keyword, err)
		}
	}
	delete(r.tree, r.keyword)
	r.tree["$ref"] = fragmentOf(at)
	r.from.all = append(r.from.all, target)
	r.from.inPlace = append(r.from.inPlace, target)
	return nil
}

func (l *loader) resolve(base, ref string) (string, error) {
	uri, fragment, err := resolveURI(base, ref)
	if err != nil {
		return "", errors.New("no URI reference")
	}
	at, ok := l.resources[uri]
	switch {
	case !ok:
		return "", errors.New("refers outside of the document; only what is in it can be referred to")
	case fragment == "":
		return at, nil
	case fragment[0] == '/':
		return at + fragment, nil
	}
	if at, ok = l.anchors[uri+"#"+fragment]; !ok {
		return "", errors.New("refers to nothing")
	}
	return at, nil
}

// unusual reads a schema that is referred to but stands where no schema is
// looked for, such as /components/schemas.
func (l *loader) unusual(at string) (*node, error) {
	tokens, err := splitPointer(at)
	if err != nil {
		return nil, err
	}
	v := l.root
	for _, t := range tokens {
		m, _ := v.(map[string]any)
		next, ok := m[t]
		if !ok {
			return nil, errors.New("refers to nothing")
		}
		v = next
	}
	l.extra = append(l.extra, at)
	return l.schema(at, v, documentURI)
}

// fragmentOf is a pointer as the compiler spells its own.
func fragmentOf(pointer string) string {
	parts := strings.Split(pointer, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return "#" + strings.Join(parts, "/")
}
