package isc

import (
	"regexp/syntax"
	"strings"
)

// closedLength is the most that a closed string may hold, in characters.
const closedLength = 64

// maxPatternCost bounds the instructions of a compiled pattern, and patternWork
// the product of that and the length of a string: RE2 is linear in both.
const (
	maxPatternCost = 4096
	patternWork    = 1 << 26
)

// patternCost is the number of instructions of a pattern; 0 if it is none.
func patternCost(p string) int {
	re, err := syntax.Parse(p, syntax.Perl)
	if err != nil {
		return 0
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return 0
	}
	return len(prog.Inst)
}

// closesString says whether every string that fits pattern and is no longer than
// maxLength (-1: unknown) is a word: anchored at both ends, printable ASCII
// without a space, and at most 64 characters.
func closesString(pattern string, maxLength int, isURL bool) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return false
	}
	longest, ok := anchoredWord(re)
	if !ok || isURL && !pinsHost(re) {
		return false
	}
	bounded := longest >= 0 && longest <= closedLength
	return bounded || maxLength >= 0 && maxLength <= closedLength
}

// anchoredWord is the length of the longest word that re can match (-1:
// unbounded), if it is anchored and matches words only.
func anchoredWord(re *syntax.Regexp) (longest int, ok bool) {
	switch re.Op {
	case syntax.OpCapture:
		return anchoredWord(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			n, subOK := anchoredWord(sub)
			if !subOK {
				return 0, false
			}
			longest = longer(longest, n)
		}
		return longest, true
	case syntax.OpConcat:
		last := len(re.Sub) - 1
		if last < 1 || re.Sub[0].Op != syntax.OpBeginText || re.Sub[last].Op != syntax.OpEndText {
			return 0, false
		}
		return word(re)
	}
	return 0, false
}

func longer(a, b int) int {
	if a < 0 || b < 0 {
		return -1
	}
	return max(a, b)
}

// word is the longest match of re, if it matches printable ASCII without spaces
// only.
func word(re *syntax.Regexp) (longest int, ok bool) {
	switch re.Op {
	case syntax.OpNoMatch, syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return 0, true
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if !isWordRune(r) {
				return 0, false
			}
		}
		return len(re.Rune), true
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if !isWordRune(re.Rune[i]) || !isWordRune(re.Rune[i+1]) {
				return 0, false
			}
		}
		return 1, true
	case syntax.OpCapture, syntax.OpQuest:
		return word(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus:
		return repeated(re, -1)
	case syntax.OpRepeat:
		return repeated(re, re.Max)
	case syntax.OpConcat, syntax.OpAlternate:
		return together(re)
	}
	return 0, false
}

func repeated(re *syntax.Regexp, times int) (int, bool) {
	n, ok := word(re.Sub[0])
	switch {
	case n == 0:
		return 0, ok
	case n < 0 || times < 0:
		return -1, ok
	}
	return min(n*times, 1<<20), ok
}

func together(re *syntax.Regexp) (longest int, ok bool) {
	for _, sub := range re.Sub {
		n, subOK := word(sub)
		switch {
		case !subOK:
			return 0, false
		case re.Op == syntax.OpAlternate:
			longest = longer(longest, n)
		case n < 0 || longest < 0:
			longest = -1
		default:
			longest = min(longest+n, 1<<20)
		}
	}
	return longest, true
}

// isWordRune takes the two runes beyond ASCII that a pattern without regard to
// case adds to k and s; they are letters and change nothing.
func isWordRune(r rune) bool { return r > ' ' && r < 0x7f || r == 'ſ' || r == '\u212A' }

// pinsHost says whether re starts with a scheme and a whole host, and can match
// neither a query nor a fragment.
func pinsHost(re *syntax.Regexp) bool {
	if re.Op != syntax.OpConcat || len(re.Sub) < 2 || re.Sub[1].Op != syntax.OpLiteral {
		return false
	}
	_, rest, ok := strings.Cut(string(re.Sub[1].Rune), "://")
	host, _, slash := strings.Cut(rest, "/")
	whole := slash || len(re.Sub) == 3
	return ok && whole && validHost(host) == nil && !canMatchAny(re, "?#\\@")
}

// canMatchAny says whether one of the bytes occurs in re.
func canMatchAny(re *syntax.Regexp, bytes string) bool {
	for _, b := range bytes {
		switch re.Op {
		case syntax.OpLiteral:
			if strings.ContainsRune(string(re.Rune), b) {
				return true
			}
		case syntax.OpCharClass:
			for i := 0; i < len(re.Rune); i += 2 {
				if b >= re.Rune[i] && b <= re.Rune[i+1] {
					return true
				}
			}
		}
	}
	for _, sub := range re.Sub {
		if canMatchAny(sub, bytes) {
			return true
		}
	}
	return false
}
