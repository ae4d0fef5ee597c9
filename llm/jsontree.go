package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// maxDepth bounds the nesting of the schemas and replies that are taken apart.
const maxDepth = 64

// jsonNode is a JSON value that keeps the order of members and the bytes of
// scalars and keys, so that what is put together again is what was read.
type jsonNode struct {
	kind    byte // '{', '[', '"', '0', 't' (a boolean) or 'n'
	raw     []byte
	members []jsonMember
	elems   []*jsonNode
}

type jsonMember struct {
	key   string
	raw   []byte // the key as it was written
	value *jsonNode
}

// parseJSON reads exactly one value. It refuses invalid UTF-8, duplicate keys
// and nesting over maxDepth.
func parseJSON(data []byte) (*jsonNode, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("not UTF-8")
	}
	if !json.Valid(data) {
		return nil, errors.New("not one JSON value")
	}
	p := &jsonParser{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	n, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := p.dec.Token(); err != io.EOF {
		return nil, errors.New("more than one JSON value")
	}
	return n, nil
}

type jsonParser struct {
	data []byte
	dec  *json.Decoder
}

// next gives a token and the bytes that it was written in.
func (p *jsonParser) next() (json.Token, []byte, error) {
	from := p.dec.InputOffset()
	tok, err := p.dec.Token()
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, nil, err
	}
	return tok, bytes.Trim(p.data[from:p.dec.InputOffset()], " \t\r\n,:"), nil
}

func (p *jsonParser) value(depth int) (*jsonNode, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	tok, raw, err := p.next()
	if err != nil {
		return nil, err
	}
	switch t := tok.(type) {
	case json.Delim:
		if t == '{' {
			return p.object(depth)
		}
		return p.array(depth)
	case string:
		return &jsonNode{kind: '"', raw: raw}, nil
	case json.Number:
		return &jsonNode{kind: '0', raw: raw}, nil
	case bool:
		return &jsonNode{kind: 't', raw: raw}, nil
	default:
		return &jsonNode{kind: 'n', raw: raw}, nil
	}
}

func (p *jsonParser) object(depth int) (*jsonNode, error) {
	n := &jsonNode{kind: '{'}
	seen := map[string]bool{}
	for p.dec.More() {
		tok, raw, err := p.next()
		if err != nil {
			return nil, err
		}
		key, ok := tok.(string)
		if !ok || seen[key] {
			return nil, errors.New("an object with a key twice")
		}
		seen[key] = true
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.members = append(n.members, jsonMember{key, raw, v})
	}
	_, _, err := p.next()
	return n, err
}

func (p *jsonParser) array(depth int) (*jsonNode, error) {
	n := &jsonNode{kind: '['}
	for p.dec.More() {
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.elems = append(n.elems, v)
	}
	_, _, err := p.next()
	return n, err
}

// get is the member called key, or nil.
func (n *jsonNode) get(key string) *jsonNode {
	if n == nil || n.kind != '{' {
		return nil
	}
	for _, m := range n.members {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// text is the string that n is, or "".
func (n *jsonNode) text() string {
	var s string
	if n != nil && n.kind == '"' && json.Unmarshal(n.raw, &s) != nil {
		return ""
	}
	return s
}

// append writes n compactly.
func (n *jsonNode) append(b []byte) []byte {
	switch n.kind {
	case '{':
		b = append(b, '{')
		for i, m := range n.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, m.raw...), ':')
			b = m.value.append(b)
		}
		return append(b, '}')
	case '[':
		b = append(b, '[')
		for i, e := range n.elems {
			if i > 0 {
				b = append(b, ',')
			}
			b = e.append(b)
		}
		return append(b, ']')
	}
	return append(b, n.raw...)
}
