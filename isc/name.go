package isc

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxName is the longest name, in bytes.
const maxName = 64

// AppID names an app: a lower-case letter, then at most 63 of a-z 0-9 _ . -
//
// Ids that stand for the hub, the user or another part of the system, and ids
// that a person could take for one of those, are refused.
//
// Source: issue 3; security scenario A6.
type AppID string

// Validate says why id is no app id. The text quotes no more than a readable
// piece of it.
func (id AppID) Validate() error {
	if err := validName(string(id)); err != nil {
		return fmt.Errorf("isc: app id %s: %w", quoted(string(id)), err)
	}
	if isReserved(string(id)) {
		return fmt.Errorf("isc: app id %s: reserved, or too like a reserved one", quoted(string(id)))
	}
	return nil
}

// UnmarshalText takes valid ids, and what records have where no app is meant:
// nothing, and [Vanilla].
func (id *AppID) UnmarshalText(b []byte) error {
	if len(b) == 0 || AppID(b) == Vanilla {
		*id = AppID(b)
		return nil
	}
	if err := AppID(b).Validate(); err != nil {
		return err
	}
	*id = AppID(b)
	return nil
}

// FunctionalityName names one thing that an app does. It has the shape of an
// [AppID] and no reserved words.
type FunctionalityName string

// Validate says why n is no functionality name.
func (n FunctionalityName) Validate() error {
	if err := validName(string(n)); err != nil {
		return fmt.Errorf("isc: functionality %s: %w", quoted(string(n)), err)
	}
	return nil
}

// UnmarshalText takes valid names only.
func (n *FunctionalityName) UnmarshalText(b []byte) error {
	if err := FunctionalityName(b).Validate(); err != nil {
		return err
	}
	*n = FunctionalityName(b)
	return nil
}

var errNameShape = errors.New("must be a lower-case letter, then at most 63 of a-z 0-9 _ . -")

func validName(s string) error {
	if s == "" || len(s) > maxName || s[0] < 'a' || s[0] > 'z' {
		return errNameShape
	}
	for i := 1; i < len(s); i++ {
		if !isNameByte(s[i]) {
			return errNameShape
		}
	}
	return nil
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-'
}

// Vanilla stands for a spoke without an app where a party needs an id. It is
// reserved: no app can have it.
const Vanilla AppID = "vanilla"

// reserved ids, and with a dot after them prefixes of ids, stand for parts of
// the system itself.
var reserved = []string{
	"admin", "administrator", "agent", "assistant", "audit", "catalogue", "consent", "grant", "host", "hub",
	"isc", "isolategpt", "llm", "memory", "model", "operator", "permission", "planner", "policy", "root", "self",
	"session", "spoke", "system", "user", "vanilla",
}

// ownPrefixes are reserved before a hyphen and an underscore too.
var ownPrefixes = []string{"hub", "isolategpt", "system"}

func isReserved(id string) bool {
	var buf [maxName]byte
	first, _, _ := bytes.Cut(appendSkeleton(buf[:0], id), []byte("."))
	if hasName(reservedSkeletons, first) {
		return true
	}
	head := first
	if i := bytes.IndexAny(first, "-_"); i >= 0 {
		head = first[:i]
	}
	return hasName(ownSkeletons, head)
}

func hasName(names []string, name []byte) bool {
	return slices.ContainsFunc(names, func(n string) bool { return n == string(name) })
}

var reservedSkeletons, ownSkeletons = skeletons(reserved), skeletons(ownPrefixes)

func skeletons(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = skeleton(name)
	}
	return out
}

// skeleton maps names that look alike to one string.
func skeleton(s string) string {
	if !strings.ContainsAny(s, "015i") && !strings.Contains(s, "rn") && !strings.Contains(s, "vv") {
		return s
	}
	return string(appendSkeleton(make([]byte, 0, maxName), s))
}

func appendSkeleton(out []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		pair := s[i:min(i+2, len(s))]
		switch c := s[i]; {
		case pair == "rn":
			out, i = append(out, 'm'), i+1
		case pair == "vv":
			out, i = append(out, 'w'), i+1
		case c == '0':
			out = append(out, 'o')
		case c == '1' || c == 'i':
			out = append(out, 'l')
		case c == '5':
			out = append(out, 's')
		default:
			out = append(out, c)
		}
	}
	return out
}

// LookAlike says whether a person could take one of two valid names for the
// other: 0 and o, 1 and l and i, 5 and s, rn and m, vv and w. Equal names are not
// look-alikes, and the separators - _ . are told apart.
func LookAlike(a, b string) bool { return a != b && skeleton(a) == skeleton(b) }

// quoted is a short readable form of text that may be anything.
func quoted(s string) string {
	const most = 80
	cut := ""
	if len(s) > most {
		s, cut = strings.ToValidUTF8(s[:most], ""), "…"
	}
	return `"` + Visible(s) + cut + `"`
}
