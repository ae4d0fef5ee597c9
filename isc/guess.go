package isc

import (
	"strings"
	"unicode"
)

// Words by which a field that declares no role is taken for one. A wrong guess
// costs a question; a missing one lets an app's data choose where something goes.
var (
	destinationWords = words(`to cc bcc recipient recipients receiver receivers destination dest address addresses
		email emails mail phone path paths file files filename filepath dir directory folder url urls uri uris link
		links href endpoint webhook callback host hostname domain server account accounts iban bic wallet payee
		beneficiary channel channels room rooms chat group groups user users username participant participants
		attendee attendees invitee invitees guest guests assignee assignees owner member members team repo repository
		bucket topic queue target targets sink`)
	// whereWords make an id a destination: it says where something goes.
	whereWords   = words(`channel room chat group account recipient user wallet team folder destination payee`)
	measureWords = words(`amount price total sum cost fee quantity qty count value balance payment tip fare`)
	urlLike      = map[string]bool{
		"email": true, "hostname": true, "ipv4": true, "ipv6": true,
		"uri": true, "uri-reference": true, "iri": true, "iri-reference": true,
	}
)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// guessRole is the role of a field by its name, asserted format and types.
func guessRole(name, format string, t Types) Role {
	parts := splitName(name)
	var last, whole string
	if len(parts) > 0 {
		last, whole = parts[len(parts)-1], strings.Join(parts, "")
	}
	isText := t.Has(TypeString)
	switch {
	case t.Has(TypeArray | TypeObject):
		return Payload // what is in it has roles of its own
	case last == "id" || last == "ids" || last == "uuid":
		if len(parts) > 1 && whereWords[parts[len(parts)-2]] {
			return Destination
		}
		if isText || t.Has(TypeInteger) {
			return Record
		}
	case isText && urlLike[format]:
		return Destination
	case isText && (destinationWords[whole] || destinationWords[last] || namesPlace(parts)):
		return Destination
	case isText && format == "uuid":
		return Record
	case t.Has(TypeNumber|TypeInteger) && !isText && (measureWords[whole] || measureWords[last]):
		return Measure
	}
	return Payload
}

// namesPlace takes account_number, channel_name and share_with for what they are.
func namesPlace(parts []string) bool {
	if len(parts) < 2 {
		return false
	}
	before, last := parts[len(parts)-2], parts[len(parts)-1]
	switch last {
	case "name", "number", "address", "key", "code":
		return destinationWords[before]
	case "with":
		return before == "share" || before == "shared"
	}
	return false
}

// splitName splits snake_case, kebab-case and camelCase into lower-case words.
func splitName(name string) []string {
	var b strings.Builder
	prev := ' '
	for _, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.' || r == ' ':
			b.WriteByte(' ')
		case unicode.IsUpper(r) && unicode.IsLower(prev):
			b.WriteByte(' ')
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		prev = r
	}
	return strings.Fields(b.String())
}

// roleNotes says which roles were guessed. They matter in requests that change
// something; the reader knows which those are.
func roleNotes(fields []Field) []Note {
	var out []Note
	for _, f := range fields {
		if f.Guessed && f.Role != Payload {
			out = append(out, Note{f.Pointer, roleKeyword, "not declared; taken for a " + f.Role.String() + " by its name or format"})
		}
	}
	return out
}
