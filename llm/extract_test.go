package llm_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/llm"
)

func TestExtractTakesTheOneValue(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"a":1}`, `{"a":1}`},
		{" \n[1,2]\n", `[1,2]`},
		{`7`, `7`},
		{"```json\n{\"a\":1}\n```", `{"a":1}`},
		{"```\n[1]\n```\n", `[1]`},
		{"``` {\"a\":1} ```", `{"a":1}`},
		{"```json{\"a\":1}```", `{"a":1}`},
		{"Here is the plan:\n```json\n{\"a\":1}\n```\nAnything else?", `{"a":1}`},
		{"```json\n{\"a\":\"use ``` for code\"}\n```", `{"a":"use ` + "```" + ` for code"}`},
		{"```json\n\"text\"\n```", `"text"`},
		{"```json\n7\n```", `7`},
	} {
		got, err := llm.Extract(c.text)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, string(got))
	}
}

func TestExtractRefusesWhatIsNotOneValue(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":               "",
		"prose":                 "I would take the train.",
		"value in prose":        `The plan is {"a":1}.`,
		"two values":            `{"a":1}{"a":2}`,
		"two lines":             "{\"a\":1}\n{\"a\":2}",
		"two fences":            "```json\n{\"a\":1}\n```\n```json\n{\"a\":2}\n```",
		"fence and value":       "```json\n{\"a\":1}\n```\nor {\"a\":2}",
		"value and fence":       "{\"a\":2} or\n```json\n{\"a\":1}\n```",
		"list in the prose":     "[1] says\n```json\n{\"a\":1}\n```",
		"two values in a fence": "```json\n{\"a\":1}\n{\"a\":2}\n```",
		"open fence":            "```json\n{\"a\":1}",
		"scalar in prose":       "So it is\n```\ntrue\n```\nI think.",
		"broken":                `{"a":`,
		"code":                  "```go\nfunc main() {}\n```",
		"not UTF-8":             "\"\xff\"",
	} {
		got, err := llm.Extract(text)
		require.Error(t, err, name)
		require.Nil(t, got, name)
	}
}

func FuzzExtract(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "```json\n{}\n```", "a\n```\n[]\n```\nb", "``` ``` ```", "```json\n```"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := llm.Extract(text)
		if err != nil {
			require.Nil(t, raw)
			return
		}
		require.True(t, json.Valid(raw))
		again, err := llm.Extract(string(raw))
		require.NoError(t, err)
		require.Equal(t, string(raw), string(again))
	})
}
