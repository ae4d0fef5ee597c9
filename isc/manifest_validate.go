package isc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a manifest: characters of a display name, bytes of the rest.
const (
	maxDisplayName     = 64
	maxShortText       = 128
	maxDescription     = 4 << 10
	maxInstructions    = 64 << 10
	maxFunctionalities = 256
	maxHosts           = 64
	maxWants           = 256
	maxNeeds           = 64
)

// Validate says everything that is wrong with the manifest, joined; nil if
// nothing is. Texts with hidden characters (see [HasHidden]) are wrong, and so
// is a display name that claims to be the hub.
func (m Manifest) Validate() error {
	p := &problems{}
	p.add("id", m.ID.Validate())
	p.displayName(m.Name)
	p.text("version", m.Version, maxShortText, false)
	p.text("publisher", m.Publisher, maxShortText, false)
	p.text("description", m.Description, maxDescription, true)
	p.text("instructions", m.Instructions, maxInstructions, true)
	p.functionalities(m.Functionalities)
	p.atMost("hosts", len(m.Hosts), maxHosts)
	for i, h := range m.Hosts {
		if err := validHost(h); err != nil {
			p.add(fmt.Sprintf("hosts: %s", quoted(h)), err)
		}
		if slices.Contains(m.Hosts[:i], h) {
			p.say("hosts", quoted(h)+" twice")
		}
	}
	p.atMost("wants", len(m.Wants), maxWants)
	for _, w := range m.Wants {
		p.add("wants", w.Validate())
	}
	p.atMost("needs", len(m.Needs), maxNeeds)
	for _, f := range m.Needs {
		p.add("needs", f.validate())
	}
	return errors.Join(p.list...)
}

type problems struct{ list []error }

func (p *problems) add(where string, err error) {
	if err != nil {
		p.list = append(p.list, fmt.Errorf("isc: manifest: %s: %w", where, err))
	}
}

func (p *problems) say(where, what string) { p.add(where, errors.New(what)) }

func (p *problems) atMost(where string, n, most int) {
	if n > most {
		p.say(where, fmt.Sprintf("%d of them; at most %d", n, most))
	}
}

func (p *problems) text(where, s string, most int, lines bool) {
	switch {
	case len(s) > most:
		p.say(where, fmt.Sprintf("%d bytes; at most %d", len(s), most))
	case !utf8.ValidString(s):
		p.say(where, "invalid UTF-8")
	case HasHidden(s):
		p.say(where, "hidden or control characters")
	case !lines && strings.ContainsAny(s, "\n\t"):
		p.say(where, "more than one line")
	}
}

func (p *problems) displayName(name string) {
	switch {
	case strings.TrimSpace(name) != name:
		p.say("name", "space around it")
	case utf8.RuneCountInString(name) > maxDisplayName:
		p.say("name", fmt.Sprintf("over %d characters", maxDisplayName))
	case claimsToBeHub(name):
		p.say("name", quoted(name)+" claims to be the hub")
	default:
		p.text("name", name, 4*maxDisplayName, false)
	}
}

func (p *problems) functionalities(list []Functionality) {
	p.atMost("functionalities", len(list), maxFunctionalities)
	for i, f := range list[:min(len(list), maxFunctionalities)] {
		where := "functionality " + quoted(string(f.Name))
		p.add("functionalities", f.Name.Validate())
		p.text(where+": description", f.Description, maxDescription, true)
		if f.Request.isNone() {
			p.say(where, "no request format")
		}
		if f.Response.isNone() {
			p.say(where, "no response format")
		}
		if _, err := f.Effect.MarshalText(); err != nil {
			p.add(where, err)
		}
		p.distinct(where, f.Name, list[:i])
	}
}

func (p *problems) distinct(where string, name FunctionalityName, before []Functionality) {
	for _, other := range before {
		switch {
		case other.Name == name:
			p.say(where, "twice")
		case LookAlike(string(name), string(other.Name)):
			p.say(where, "looks like "+quoted(string(other.Name)))
		}
	}
}

func (f DataField) validate() error {
	if err := validLabel(f.Name); err != nil {
		return err
	}
	if len(f.Purpose) > maxDescription || !utf8.ValidString(f.Purpose) {
		return fmt.Errorf("purpose: over %d bytes, or invalid UTF-8", maxDescription)
	}
	return nil
}

// validLabel is for the names of data: one short line of visible text.
func validLabel(name string) error {
	if name == "" || len(name) > maxShortText || HasHidden(name) || strings.ContainsAny(name, "\n\t") {
		return fmt.Errorf("name of data: must be one visible line of at most %d bytes", maxShortText)
	}
	return nil
}

// alike maps letters of other scripts, and digits, to the Latin letters that
// they are taken for in a display name.
var alike = strings.NewReplacer("а", "a", "е", "e", "о", "o", "р", "p", "с", "c", "у", "y", "х", "x", "ѕ", "s", "і", "i",
	"ј", "j", "һ", "h", "м", "m", "т", "t", "в", "b", "н", "h", "к", "k", "ԁ", "d", "ɡ", "g", "ո", "n", "υ", "u", "ο", "o",
	"α", "a", "ι", "i", "ѵ", "v", "0", "o", "1", "l", "5", "s", "3", "e", "4", "a", "@", "a", "$", "s", "|", "l", "!", "i")

// claimsToBeHub says whether a person could take an app of that name for the
// hub: a word of it is the hub's, or the whole of it is a part of the system.
func claimsToBeHub(name string) bool {
	parts := strings.FieldsFunc(alike.Replace(strings.ToLower(narrow(name))), func(r rune) bool { return !unicode.IsLetter(r) })
	whole := strings.Join(parts, "")
	if strings.Contains(skeleton(whole), skeleton("isolategpt")) || whole == "hub" {
		return true
	}
	own := func(w string) bool { return skeleton(w) == "hub" || w == "hubs" }
	if slices.ContainsFunc(parts, own) {
		return true
	}
	return slices.ContainsFunc(reserved, func(r string) bool { return skeleton(r) == skeleton(whole) })
}

// narrow turns full-width letters into plain ones.
func narrow(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0xFF01 && r <= 0xFF5E {
			return r - 0xFEE0
		}
		return r
	}, s)
}
