package isc

import (
	"encoding/json"
	"strconv"
	"strings"
)

// maxExponent is far beyond float64, and small enough to compute with exactly.
const maxExponent = 400

// number keeps the literal as it is. One that no float64 comes near is refused,
// as is one that the validator would work on for long.
func (d *decoder) number() (any, error) {
	start := d.pos
	exp, ok := d.scanNumber()
	switch {
	case !ok:
		return nil, d.fail("no JSON number")
	case d.pos-start > d.lim.Number:
		return nil, d.fail("a number too long")
	case exp && !representable(string(d.in[start:d.pos])):
		return nil, d.fail("a number out of range")
	}
	d.out = append(d.out, d.in[start:d.pos]...)
	if !d.build {
		return nil, nil
	}
	return json.Number(d.text[start:d.pos]), nil
}

func representable(lit string) bool {
	e := strings.IndexAny(lit, "eE")
	n, err := strconv.Atoi(strings.TrimPrefix(lit[e+1:], "+"))
	if err != nil || n > maxExponent || n < -maxExponent {
		return false
	}
	_, err = strconv.ParseFloat(lit, 64)
	return err == nil
}

// scanNumber steps over a number, and says whether it has an exponent.
func (d *decoder) scanNumber() (exp, ok bool) {
	if d.in[d.pos] == '-' {
		d.pos++
	}
	zero := d.pos < len(d.in) && d.in[d.pos] == '0'
	if n := d.digits(); n == 0 || zero && n > 1 {
		return false, false
	}
	if d.pos < len(d.in) && d.in[d.pos] == '.' {
		d.pos++
		if d.digits() == 0 {
			return false, false
		}
	}
	if d.pos < len(d.in) && (d.in[d.pos] == 'e' || d.in[d.pos] == 'E') {
		d.pos++
		if d.pos < len(d.in) && (d.in[d.pos] == '+' || d.in[d.pos] == '-') {
			d.pos++
		}
		return true, d.digits() > 0
	}
	return false, true
}

func (d *decoder) digits() int {
	start := d.pos
	for d.pos < len(d.in) && d.in[d.pos] >= '0' && d.in[d.pos] <= '9' {
		d.pos++
	}
	return d.pos - start
}
