package llm

import "strconv"

// shapeWriter writes shapes as a JSON Schema.
type shapeWriter struct {
	out    []byte
	strict bool
}

func (w *shapeWriter) add(s string) { w.out = append(w.out, s...) }

// root writes the schema with the definitions that it refers to.
func (w *shapeWriter) root(top *shape, order []string, defs map[string]*shape) {
	w.shape(top, false)
	if len(order) == 0 {
		return
	}
	w.out = w.out[:len(w.out)-1] // the brace that ends the root
	w.add(`,"$defs":{`)
	for i := range order {
		if i > 0 {
			w.add(",")
		}
		name := "d" + strconv.Itoa(i)
		w.add(strconv.Quote(name) + ":")
		w.shape(defs[name], false)
	}
	w.add("}}")
}

func (w *shapeWriter) shape(s *shape, nullable bool) {
	if nullable && !s.nullAlready() && !s.scalarChoice() {
		w.add(`{"anyOf":[`)
		w.shape(s, false)
		w.add(`,{"type":"null"}]}`)
		return
	}
	if s.ref != "" {
		w.add(`{"$ref":"#/$defs/` + s.ref + `"}`)
		return
	}
	w.add("{")
	start := len(w.out)
	field := func(name string) {
		if len(w.out) > start {
			w.add(",")
		}
		w.add(`"` + name + `":`)
	}
	if s.description != nil {
		field("description")
		w.out = s.description.append(w.out)
	}
	if len(s.anyOf) > 0 {
		field("anyOf")
		w.alternatives(s.anyOf)
		w.add("}")
		return
	}
	nullable = nullable && !s.nullAlready()
	w.kinds(s, nullable, field)
	w.choices(s, nullable, field)
	switch {
	case len(s.choices) > 0:
	case s.kinds == kindObject:
		w.object(s, field)
	case s.kinds == kindArray:
		w.array(s, field)
	case s.kinds == 0:
		w.strict = false
	}
	w.add("}")
}

func (w *shapeWriter) alternatives(branches []*shape) {
	w.add("[")
	for i, br := range branches {
		if i > 0 {
			w.add(",")
		}
		w.shape(br, false)
	}
	w.add("]")
}

func (w *shapeWriter) kinds(s *shape, nullable bool, field func(string)) {
	k := s.kinds
	if k == 0 {
		return
	}
	if nullable {
		k |= kindNull
	}
	field("type")
	if several(k) {
		w.add("[")
	}
	first := true
	for i, word := range kindWords {
		if k&(1<<i) == 0 {
			continue
		}
		if !first {
			w.add(",")
		}
		first = false
		w.add(`"` + word + `"`)
	}
	if several(k) {
		w.add("]")
	}
}

func (w *shapeWriter) choices(s *shape, nullable bool, field func(string)) {
	if len(s.choices) == 0 {
		return
	}
	if s.isConst && !nullable {
		field("const")
		w.out = s.choices[0].append(w.out)
		return
	}
	field("enum")
	w.add("[")
	for i, c := range s.choices {
		if i > 0 {
			w.add(",")
		}
		w.out = c.append(w.out)
	}
	if nullable {
		w.add(",null")
	}
	w.add("]")
}

func (w *shapeWriter) object(s *shape, field func(string)) {
	field("properties")
	w.add("{")
	for i, p := range s.props {
		if i > 0 {
			w.add(",")
		}
		w.out = append(append(w.out, p.raw...), ':')
		w.shape(p.shape, p.optional)
	}
	w.add("}")
	field("required")
	w.add("[")
	for i, p := range s.props {
		if i > 0 {
			w.add(",")
		}
		w.out = append(w.out, p.raw...)
	}
	w.add("]")
	field("additionalProperties")
	if s.open {
		w.strict = false
		w.add("true")
		return
	}
	w.add("false")
}

func (w *shapeWriter) array(s *shape, field func(string)) {
	field("items")
	w.shape(s.items, false)
	if s.minItems != nil {
		field("minItems")
		w.out = s.minItems.append(w.out)
	}
	if s.maxItems != nil {
		field("maxItems")
		w.out = s.maxItems.append(w.out)
	}
}

// nullAlready says that null is among what s allows.
func (s *shape) nullAlready() bool {
	if s.ref != "" {
		return false
	}
	if len(s.anyOf) > 0 {
		for _, br := range s.anyOf {
			if br.nullAlready() {
				return true
			}
		}
		return false
	}
	return s.kinds == 0 || s.kinds&kindNull != 0
}

// scalarChoice says that null can be added to the types and choices of s.
func (s *shape) scalarChoice() bool {
	return s.ref == "" && len(s.anyOf) == 0 && s.kinds&(kindObject|kindArray) == 0
}
