package isc

import (
	"errors"
	"fmt"
)

// ErrMalformed says that bytes are not what they must be before anybody looks at
// what they mean: no strict JSON, over a limit, or no message of the protocol.
var ErrMalformed = errors.New("isc: malformed")

// MalformedError is an [ErrMalformed] with the place. Neither field holds any
// part of the text that was refused.
type MalformedError struct {
	Offset int    // bytes from the start
	Reason string // fixed words
}

func (e *MalformedError) Error() string {
	return fmt.Sprintf("isc: malformed: byte %d: %s", e.Offset, e.Reason)
}

// Is makes errors.Is(err, ErrMalformed) true.
func (e *MalformedError) Is(target error) bool { return target == ErrMalformed }

// Canonical decodes raw strictly, within [DefaultLimits], and returns its one
// canonical form: no spaces, keys in the order of their bytes, strings with the
// fewest escapes, number literals as they were. It is the form that is shown,
// hashed, approved and sent.
//
// It refuses what two parsers could read differently: a key twice or in two
// cases (by Unicode's simple folding), half surrogate pairs, invalid UTF-8, a
// byte order mark, trailing data, numbers beyond float64. The error is a
// [*MalformedError].
//
// Canonical is its own inverse: what it returns, it returns unchanged.
func Canonical(raw []byte) ([]byte, error) {
	got, err := decode(raw, defaultLimits, false)
	return got.canonical, err
}

const hexDigits = "0123456789abcdef"

// appendString appends s, which is valid UTF-8, as a canonical JSON string.
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c >= ' ':
			out = append(out, c)
		case c == '\n':
			out = append(out, `\n`...)
		case c == '\r':
			out = append(out, `\r`...)
		case c == '\t':
			out = append(out, `\t`...)
		case c == '\b':
			out = append(out, `\b`...)
		case c == '\f':
			out = append(out, `\f`...)
		default:
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(out, '"')
}
