package isc

import (
	"bytes"
	"unicode/utf8"
)

// token is a string that was read.
type token struct {
	raw   []byte // decoded; shares the text if it has no escapes,
	start int    // and stands there, else -1
}

// textOf is the string itself, for the tree.
func (d *decoder) textOf(t token) string {
	if t.start < 0 {
		return string(t.raw)
	}
	return d.text[t.start : t.start+len(t.raw)]
}

// string reads a string and writes its one canonical form.
func (d *decoder) string() (token, error) {
	d.pos++
	start := d.pos
	for d.pos < len(d.in) {
		switch c := d.in[d.pos]; {
		case c == '"':
			return d.plain(start)
		case c == '\\':
			return d.escaped(start)
		case c < ' ':
			return token{}, d.fail("a control character in a string")
		}
		d.pos++
	}
	return token{}, d.fail("ends early")
}

// plain is a string without escapes, in[start:pos]; it is canonical as it is.
func (d *decoder) plain(start int) (token, error) {
	raw := d.in[start:d.pos]
	if len(raw) > d.lim.String {
		return token{}, d.fail("a string too long")
	}
	if !utf8.Valid(raw) {
		return token{}, d.fail("invalid UTF-8")
	}
	d.out = append(append(append(d.out, '"'), raw...), '"')
	d.pos++
	return token{raw, start}, nil
}

// escaped is a string that has an escape at pos.
func (d *decoder) escaped(start int) (token, error) {
	buf := bytes.Clone(d.in[start:d.pos])
	for d.pos < len(d.in) {
		c := d.in[d.pos]
		switch {
		case c == '"':
			return d.endEscaped(buf)
		case c < ' ':
			return token{}, d.fail("a control character in a string")
		case c == '\\':
			r, err := d.escape()
			if err != nil {
				return token{}, err
			}
			buf = utf8.AppendRune(buf, r)
		default:
			buf = append(buf, c)
			d.pos++
		}
	}
	return token{}, d.fail("ends early")
}

func (d *decoder) endEscaped(buf []byte) (token, error) {
	if len(buf) > d.lim.String {
		return token{}, d.fail("a string too long")
	}
	if !utf8.Valid(buf) {
		return token{}, d.fail("invalid UTF-8")
	}
	d.pos++
	d.out = appendString(d.out, string(buf))
	return token{buf, -1}, nil
}

var shortEscapes = map[byte]rune{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape reads one escape sequence; pos stands on its backslash.
func (d *decoder) escape() (rune, error) {
	if d.pos+1 >= len(d.in) {
		return 0, d.fail("ends early")
	}
	c := d.in[d.pos+1]
	if r, ok := shortEscapes[c]; ok {
		d.pos += 2
		return r, nil
	}
	if c != 'u' {
		return 0, d.fail("no such escape")
	}
	r, ok := d.hex4(d.pos + 2)
	if !ok {
		return 0, d.fail("no such escape")
	}
	if r < 0xD800 || r > 0xDFFF {
		d.pos += 6
		return r, nil
	}
	low, ok := d.low(d.pos + 6)
	if r >= 0xDC00 || !ok {
		return 0, d.fail("half of a surrogate pair")
	}
	d.pos += 12
	return 0x10000 + (r-0xD800)<<10 + (low - 0xDC00), nil
}

func (d *decoder) low(at int) (rune, bool) {
	if at+1 >= len(d.in) || d.in[at] != '\\' || d.in[at+1] != 'u' {
		return 0, false
	}
	r, ok := d.hex4(at + 2)
	return r, ok && r >= 0xDC00 && r <= 0xDFFF
}

func (d *decoder) hex4(at int) (rune, bool) {
	if at+4 > len(d.in) {
		return 0, false
	}
	var r rune
	for _, c := range d.in[at : at+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
