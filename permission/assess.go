package permission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
)

// Assess is the hub's view of q, from what the hub knows and never from an
// app's word for it. It is a pure function. The codes in q.Warnings, which only
// the hub can know, come last.
//
// [CodeFirstUse] informs; so does [CodeSensitiveSource] on a question of kind
// [ShareData], which is about private data to begin with. Everything else is a
// warning.
//
// Source: paper Fig. 4 and §IV-C3 (the dialog says when the plan does not expect
// the request).
func Assess(q Question) []Finding {
	var out []Finding
	add := func(c Code, reason string) {
		for _, f := range out {
			if f.Code == c && f.Reason == reason {
				return
			}
		}
		out = append(out, Finding{Code: c, Reason: reason, Warning: warns(c, q.Kind)})
	}
	if q.Kind.stepwise() && q.Plan == NotInPlan {
		add(CodeNotInPlan, "the plan for your request does not expect this")
	}
	for _, f := range q.Fields {
		if f.Role.IsTarget() && !f.Label.IsTrusted() {
			add(CodeTargetNotFromUser, fmt.Sprintf("%s, which says where this goes, did not come from you (%s)",
				pointerName(f.Pointer), sourceWords(f.Label)))
		}
	}
	if sensitive(q) {
		add(CodeSensitiveSource, "private data is part of this")
	}
	if hidden(q) {
		add(CodeHiddenCharacters, "there are invisible or control characters in the texts; they are made visible here")
	}
	for _, c := range q.Warnings {
		add(c, codeWords(c))
	}
	return out
}

func warns(c Code, k Kind) bool {
	return c != CodeFirstUse && (c != CodeSensitiveSource || k != ShareData)
}

func sensitive(q Question) bool {
	if q.Label.IsSensitive() {
		return true
	}
	for _, f := range q.Fields {
		if f.Label.IsSensitive() {
			return true
		}
	}
	for _, flow := range q.Flows {
		for _, in := range flow.Inputs {
			if in.Label.IsSensitive() {
				return true
			}
		}
	}
	return false
}

// hidden says whether any text of q holds characters that a person would not
// see, inside JSON strings too.
func hidden(q Question) bool {
	for s := range q.texts() {
		if isc.HasHidden(s) {
			return true
		}
	}
	if hiddenInJSON(q.Payload) {
		return true
	}
	for _, f := range q.Flows {
		for _, in := range f.Inputs {
			if hiddenInJSON(in.Literal) {
				return true
			}
		}
	}
	return false
}

func hiddenInJSON(raw json.RawMessage) bool {
	if !bytes.ContainsFunc(raw, func(r rune) bool { return r < ' ' || r > '~' || r == '\\' }) {
		return false // all that is in it is seen
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			return false
		}
		if s, ok := tok.(string); ok && isc.HasHidden(s) {
			return true
		}
	}
}

// pointerName is a field's name in the hub's area of a dialog. What does not
// look like a name is not repeated there: an app may have chosen it.
func pointerName(pointer string) string {
	name := strings.TrimPrefix(pointer, "/")
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./*", r)
	}
	odd := strings.ContainsFunc(name, func(r rune) bool { return !plain(r) })
	switch {
	case name == "":
		return "the whole value"
	case odd || len(name) > 64:
		return "a value with an unusual name"
	default:
		return name
	}
}

func sourceWords(l isc.Label) string {
	sources := l.Sources()
	if len(sources) == 0 {
		return "its source is not known"
	}
	words := make([]string, len(sources))
	for i, s := range sources {
		words[i] = string(s)
	}
	return "from " + strings.Join(words, ", ")
}

func codeWords(c Code) string {
	switch c {
	case CodeNotInPlan:
		return "the plan for your request does not expect this"
	case CodeTargetNotFromUser:
		return "where this goes did not come from you"
	case CodeSensitiveSource:
		return "private data is part of this"
	case CodeRuleOfTwo:
		return "this run has read untrusted content, holds private data, and now changes or sends something"
	case CodeHiddenCharacters:
		return "there are invisible characters in what an app wrote"
	case CodeFirstUse:
		return "this is the first time this is used"
	case CodeManifestChanged:
		return "the app has changed since you allowed it; that permission does not count for now"
	case CodeRepeatedAfterDenial:
		return "you have denied this before in this session"
	case CodeNotShownInFull:
		return "what is sent is too long or no text; only its size and digest are shown"
	default:
		return "the hub reports " + string(c)
	}
}
