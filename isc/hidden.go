package isc

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// HasHidden says whether s holds what a person does not see or what changes the
// order of what they see: control characters (but tab and new line), direction
// marks, zero-width characters, blank letters, tag characters, stray variation
// selectors, soft hyphens, invalid UTF-8.
//
// Ordinary text is not flagged: Arabic, combining marks, joiners where scripts
// need them, emoji sequences, the three flags made of tags.
//
// Source: security scenarios B9 and D2.
func HasHidden(s string) bool {
	for i := 0; i < len(s); {
		n, hidden := scanRune(s, i)
		if hidden && !isLayout(s[i:]) {
			return true
		}
		i += n
	}
	return false
}

// Visible is s with everything that [HasHidden] flags, and every new line and
// tab, written out: <U+200B>, \n, \x1b. A run of tag characters is shown as the
// text that it hides. The result is one line, has nothing hidden, and is for eyes
// only: what is approved and hashed stays s.
func Visible(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		n, hidden := scanRune(s, i)
		switch {
		case !hidden:
			b.WriteString(s[i : i+n])
		case isTag(s[i:]):
			n = tagRun(s[i:])
			b.WriteString("<hidden " + decodeTags(s[i:i+n]) + ">")
		default:
			b.WriteString(spell(s[i : i+n]))
		}
		i += n
	}
	return b.String()
}

func spell(piece string) string {
	r, n := utf8.DecodeRuneInString(piece)
	switch {
	case r == utf8.RuneError && n <= 1:
		return fmt.Sprintf(`\x%02x`, piece[0])
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < ' ' || r == 0x7f:
		return fmt.Sprintf(`\x%02x`, r)
	}
	return fmt.Sprintf("<U+%04X>", r)
}

// scanRune is the length of what starts at i, and whether it must be made
// visible.
func scanRune(s string, i int) (n int, hidden bool) {
	c := s[i]
	if c < utf8.RuneSelf {
		return 1, c < ' ' || c == 0x7f
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == utf8.RuneError && n == 1:
		return 1, true
	case r == flagBase:
		return n + flagTags(s[i+n:]), false
	case r == zwj || r == zwnj:
		return n, !joins(r, s[:i], s[i+n:])
	case isVariation(r):
		return n, !varies(r, s[:i])
	}
	return n, isHidden(r)
}

const (
	zwnj     = '\u200C'
	zwj      = '\u200D'
	flagBase = '\U0001F3F4' // the black flag
)

// blanks are letters and marks that show nothing.
var blanks = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x034F, 0x034F, 1}, // combining grapheme joiner
		{0x115F, 0x1160, 1}, // Hangul fillers
		{0x17B4, 0x17B5, 1}, // Khmer inherent vowels
		{0x180B, 0x180F, 1}, // Mongolian selectors and separator
		{0x2028, 0x2029, 1}, // line and paragraph separators
		{0x2065, 0x2065, 1},
		{0x2800, 0x2800, 1}, // Braille blank
		{0x3164, 0x3164, 1}, // Hangul filler
		{0xFFA0, 0xFFA0, 1}, // half-width Hangul filler
		{0xFFF0, 0xFFF8, 1},
	},
	R32: []unicode.Range32{{0xE0000, 0xE0FFF, 1}}, // tags and the like
}

// shownFormats are format characters that have a shape of their own.
var shownFormats = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x0600, 0x0605, 1}, {0x06DD, 0x06DD, 1}, {0x070F, 0x070F, 1}, {0x0890, 0x0891, 1}, {0x08E2, 0x08E2, 1},
	},
	R32: []unicode.Range32{{0x110BD, 0x110BD, 1}, {0x110CD, 0x110CD, 1}, {0x13430, 0x1343F, 1}},
}

func isHidden(r rune) bool {
	return unicode.Is(unicode.Cc, r) || unicode.Is(blanks, r) ||
		unicode.Is(unicode.Cf, r) && !unicode.Is(shownFormats, r) ||
		unicode.Is(unicode.Noncharacter_Code_Point, r)
}

func isVariation(r rune) bool { return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF }

// varies says whether a variation selector follows something that it can vary.
func varies(r rune, before string) bool {
	base, n := utf8.DecodeLastRuneInString(before)
	switch {
	case n == 0:
		return false
	case r == 0xFE0E || r == 0xFE0F:
		return isPicture(base) || base >= '0' && base <= '9' || base == '#' || base == '*'
	case r >= 0xE0100 || r <= 0xFE02:
		return unicode.Is(unicode.Han, base)
	}
	return false
}

// isPicture says whether r can be part of an emoji.
func isPicture(r rune) bool {
	return r != utf8.RuneError && (r == 0xA9 || r == 0xAE || r >= 0x203C && unicode.In(r, unicode.So, unicode.Sm, unicode.Sk, unicode.Po))
}

// joins says whether a joiner stands where it has work to do: between parts of
// one emoji, or between letters of a script that joins its letters.
func joins(r rune, before, after string) bool {
	next, more := utf8.DecodeRuneInString(after)
	last, n := utf8.DecodeLastRuneInString(before)
	if more == 0 || n == 0 {
		return false
	}
	if isJoining(last) && isJoining(next) {
		return true
	}
	if r != zwj {
		return false
	}
	if last == 0xFE0F || last >= 0x1F3FB && last <= 0x1F3FF { // one, as after any part of an emoji
		before = before[:len(before)-n]
		last, n = utf8.DecodeLastRuneInString(before)
	}
	return n > 0 && isPicture(last) && isPicture(next)
}

func isJoining(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsMark(r)) && unicode.In(r,
		unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic, unicode.Devanagari,
		unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
		unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

func isTag(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r >= 0xE0020 && r <= 0xE007E
}

// tagRun is the length of the tag characters that s starts with.
func tagRun(s string) int {
	n := 0
	for isTag(s[n:]) {
		n += 4
	}
	return n
}

func decodeTags(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		b.WriteRune(r - 0xE0000)
	}
	b.WriteByte('"')
	return b.String()
}

// flags are the flags of England, Scotland and Wales, the only ones in use that
// are made of tags.
var flags = []string{"gbeng", "gbsct", "gbwls"}

// flagTags is the length of a flag's tags at the start of s; 0 if there are none.
func flagTags(s string) int {
	const end = "\U000E007F"
	n := tagRun(s)
	if n == 0 || !strings.HasPrefix(s[n:], end) {
		return 0
	}
	for _, f := range flags {
		if decodeTags(s[:n]) == `"`+f+`"` {
			return n + len(end)
		}
	}
	return 0
}

// isLayout says whether s starts with a tab or the end of a line.
func isLayout(s string) bool { return s[0] == '\n' || s[0] == '\t' || strings.HasPrefix(s, "\r\n") }
