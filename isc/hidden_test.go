package isc_test

import (
	"testing"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestB9HiddenTextIsSeen(t *testing.T) {
	for in, want := range map[string]string{
		"a\u200bb":                        "a<U+200B>b",
		"a\u202eb":                        "a<U+202E>b",
		"\u2066x\u2069":                   "<U+2066>x<U+2069>",
		"de\u00adlete":                    "de<U+00AD>lete",
		"\ufeffx":                         "<U+FEFF>x",
		"pay\u200dpal":                    "pay<U+200D>pal",
		"pay\u200cpal":                    "pay<U+200C>pal",
		"x\u2800y":                        "x<U+2800>y",
		"x\u3164y":                        "x<U+3164>y",
		"x\u2028y":                        "x<U+2028>y",
		"x\ufe0f":                         "x<U+FE0F>",
		"x\U000e0100":                     "x<U+E0100>",
		"😀\ufe0f\ufe0f":                   "😀\ufe0f<U+FE0F>",
		"a\x1b[2Jb":                       `a\x1b[2Jb`,
		"a\rb":                            `a\rb`,
		"a\x00\x7f":                       `a\x00\x7f`,
		"a\u0085\u009b":                   "a<U+0085><U+009B>",
		"bad\xff\xfe":                     `bad\xff\xfe`,
		"note\U000e0068\U000e0069":        `note<hidden "hi">`,
		"\U000e0001":                      "<U+E0001>",
		"🏴\U000e0068\U000e0069\U000e007f": `🏴<hidden "hi"><U+E007F>`,
	} {
		require.True(t, isc.HasHidden(in), "%q", in)
		require.Equal(t, want, isc.Visible(in), "%q", in)
	}
}

func TestB9OrdinaryTextIsLeftAlone(t *testing.T) {
	for _, in := range []string{
		"", "plain", "مرحبا 123", "e\u0301", "👨\u200d👩\u200d👧 ok", "👩🏽\u200d🚀", "🏳\ufe0f\u200d🌈", "❤\ufe0f", "1\ufe0f\u20e3",
		"می\u200cخواهم", "क्\u200dष", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "日本語", "naïve", "Ünïcode", "\u00a0",
		"👨\u200d⚕\ufe0f", "©", "№ 5", "½", "שלום",
	} {
		require.False(t, isc.HasHidden(in), "%q", in)
		require.Equal(t, in, isc.Visible(in))
	}
	require.False(t, isc.HasHidden("two\nlines\twith\r\ntabs"))
	require.Equal(t, `two\nlines\t`, isc.Visible("two\nlines\t"), "on one line nevertheless")
}

func TestVisibleHidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune{
			'a', '\u200d', '\u200c', 0xFE0F, '👩', '🏴', 0xE0067, 0xE007F, '\n', 0x1b, 'ک', 'ی', 0xE0100, '漢',
		}))).Draw(t, "s")
		shown := isc.Visible(s)
		require.False(t, isc.HasHidden(shown), "%q", shown)
		require.NotContains(t, shown, "\n")
		require.Equal(t, shown, isc.Visible(shown))
	})
}

func TestNothingHidesAtTheEndsOfAText(t *testing.T) {
	for _, s := range []string{"\ufe0fMetro Hail", "☺\u200d", "\u200d☺", "\ufe0f\ufe0f\u200d", "👩\ufe0f\ufe0f\u200d👩"} {
		require.True(t, isc.HasHidden(s), "%q", s)
		require.False(t, isc.HasHidden(isc.Visible(s)), "%q", s)
	}
	require.Error(t, isc.Manifest{ID: "metro", Name: "\ufe0fMetro Hail"}.Validate())
}
