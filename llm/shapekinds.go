package llm

import "bytes"

func several(k kinds) bool { return k&(k-1) != 0 }

// declaredKinds are the types that a schema names, or that its keywords imply.
func declaredKinds(n *jsonNode) kinds {
	var k kinds
	switch t := n.get("type"); {
	case t == nil:
	case t.kind == '[':
		for _, e := range t.elems {
			k |= kindOf(e.text())
		}
	default:
		k = kindOf(t.text())
	}
	if k&kindNumber != 0 {
		k &^= kindInteger
	}
	switch {
	case k != 0:
		return k
	case n.get("properties") != nil:
		return kindObject
	case n.get("items") != nil || n.get("prefixItems") != nil:
		return kindArray
	}
	return 0
}

func kindsOf(values []*jsonNode) kinds {
	var k kinds
	for _, v := range values {
		k |= valueKind(v)
	}
	if k&kindNumber != 0 {
		k &^= kindInteger
	}
	return k
}

func valueKind(v *jsonNode) kinds {
	switch v.kind {
	case '{':
		return kindObject
	case '[':
		return kindArray
	case '"':
		return kindString
	case 't':
		return kindBoolean
	case 'n':
		return kindNull
	}
	if bytes.ContainsAny(v.raw, ".eE") {
		return kindNumber
	}
	return kindInteger
}

// allows says whether a value of kind k may stand where kinds in are allowed.
// An integer may be written as 1.0, so a number passes for one: the check
// against the schema itself is exact, this one only tells alternatives apart.
func (in kinds) allows(k kinds) bool {
	if in == 0 || in&k != 0 {
		return true
	}
	numeric := kindNumber | kindInteger
	return k&numeric != 0 && in&numeric != 0
}
