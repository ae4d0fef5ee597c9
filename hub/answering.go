package hub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/planner"
)

// maxWritten bounds a string that a model writes, in characters.
const maxWritten = 16384

// answering turns the shape of an answer into a format, and the answer under
// that format into a value.
type answering struct {
	scope *scope
	data  []isc.Datum
	picks bool
	from  isc.Label
	// options are the elements of the first pick, for a person to see.
	options []json.RawMessage
}

// picked is the label of what was picked from, or otherwise.
func (a *answering) picked(otherwise isc.Label) isc.Label { return or(a.from, otherwise) }

// shapeFormats are the formats of strings. Those that the validator does not
// know are patterns.
var shapeFormats = map[string]string{
	"":       "",
	"date":   `,"format":"date"`,
	"email":  `,"format":"email"`,
	"uri":    `,"format":"uri"`,
	"time":   `,"pattern":"^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$"`,
	"minute": `,"pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T]([01][0-9]|2[0-3]):[0-5][0-9]$"`,
	"iban":   `,"pattern":"^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$"`,
}

// schema is the JSON Schema of a shape. A pick is an index, bounded by the
// array as it is now.
func (a *answering) schema(s planner.Shape) (string, error) {
	text, err := a.bare(s)
	if err != nil || !s.Nullable {
		return text, err
	}
	return `{"anyOf":[{"type":"null"},` + text + `]}`, nil
}

func (a *answering) bare(s planner.Shape) (string, error) {
	switch s.Type {
	case planner.ShapeBoolean, planner.ShapeNumber, planner.ShapeInteger:
		return fmt.Sprintf(`{"type":%q}`, s.Type), nil
	case planner.ShapeString:
		return stringSchema(s)
	case planner.ShapePick:
		array, items, err := itemsOf(*s.Pick, a.scope)
		if err != nil {
			return "", err
		}
		if len(items) == 0 && !s.Nullable {
			return "", errAbsent
		}
		if !a.picks {
			a.options = items
		}
		a.picks, a.from = true, or(a.from, array.label).Join(array.label)
		return fmt.Sprintf(`{"type":"integer","minimum":0,"maximum":%d}`, max(len(items)-1, 0)), nil
	case planner.ShapeArray:
		items, err := a.schema(*s.Items)
		return fmt.Sprintf(`{"type":"array","maxItems":%d,"items":%s}`, s.MaxItems, items), err
	case planner.ShapeObject:
		return a.objectSchema(s.Fields)
	default:
		return "", fmt.Errorf("hub: unknown type of answer %d", s.Type)
	}
}

func (a *answering) objectSchema(fields map[string]planner.Shape) (string, error) {
	names := slices.Sorted(maps.Keys(fields))
	members := make([]string, len(names))
	for i, name := range names {
		text, err := a.schema(fields[name])
		if err != nil {
			return "", err
		}
		key, err := json.Marshal(name)
		if err != nil {
			return "", err
		}
		members[i] = string(key) + ":" + text
	}
	required, err := json.Marshal(names)
	return fmt.Sprintf(`{"type":"object","additionalProperties":false,"properties":{%s},"required":%s}`, strings.Join(members, ","), required), err
}

func stringSchema(s planner.Shape) (string, error) {
	if len(s.Enum) > 0 {
		enum, err := json.Marshal(s.Enum)
		return fmt.Sprintf(`{"type":"string","enum":%s}`, enum), err
	}
	format, ok := shapeFormats[s.Format]
	if !ok {
		return "", fmt.Errorf("hub: unknown format of answer %q", s.Format)
	}
	return fmt.Sprintf(`{"type":"string","maxLength":%d%s}`, maxWritten, format), nil
}

// settle checks what must be found and puts in what was picked.
func (a *answering) settle(s planner.Shape, body json.RawMessage) (json.RawMessage, error) {
	if s.Nullable && bytes.Equal(body, []byte("null")) {
		return body, nil
	}
	switch s.Type {
	case planner.ShapeString:
		if s.Found && !a.found(body) {
			return nil, &stepError{isc.StatusFailed, "the model named something that does not stand in its inputs"}
		}
		return body, nil
	case planner.ShapePick:
		return a.element(*s.Pick, body)
	case planner.ShapeArray:
		items, err := elementsOf(body)
		if err != nil {
			return nil, err
		}
		for i := range items {
			if items[i], err = a.settle(*s.Items, items[i]); err != nil {
				return nil, err
			}
		}
		return joinArray(items), nil
	case planner.ShapeObject:
		members := make(map[string]json.RawMessage, len(s.Fields))
		for name, field := range s.Fields {
			got, ok := isc.Get(body, "/"+escapePointer(name))
			if !ok {
				return nil, errAbsent
			}
			var err error
			if members[name], err = a.settle(field, got); err != nil {
				return nil, err
			}
		}
		return objectOf(members)
	default:
		return body, nil
	}
}

func (a *answering) element(from planner.Ref, index json.RawMessage) (json.RawMessage, error) {
	_, items, err := itemsOf(from, a.scope)
	if err != nil {
		return nil, err
	}
	n, ok := number(index)
	if !ok || !n.IsInt() || !n.Num().IsInt64() || n.Num().Int64() < 0 || n.Num().Int64() >= int64(len(items)) {
		return nil, &stepError{isc.StatusFailed, "the model picked what is not there"}
	}
	return items[n.Num().Int64()], nil
}

// found says whether a string stands word for word in a text of the inputs.
func (a *answering) found(body json.RawMessage) bool {
	want := plain(body)
	if strings.TrimSpace(want) == "" {
		return false
	}
	for _, d := range a.data {
		if holdsText(d.Body, want) {
			return true
		}
	}
	return false
}

// holdsText says whether want stands in one of the strings of a value.
func holdsText(v json.RawMessage, want string) bool {
	found := false
	leaves(v, "", func(_ string, leaf json.RawMessage) bool {
		found = strings.Contains(plain(leaf), want)
		return !found
	})
	return found
}

// formats keeps compiled formats by their schema: most answers have one of a
// few shapes. It is safe for concurrent use.
type formats struct {
	mu    sync.Mutex
	known map[string]*isc.Format
}

// maxFormats bounds the formats kept.
const maxFormats = 64

func (c *formats) of(schema string) (*isc.Format, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.known[schema]; f != nil {
		return f, nil
	}
	f, err := isc.ParseFormat([]byte(schema))
	if err != nil {
		return nil, err
	}
	if c.known == nil || len(c.known) >= maxFormats {
		c.known = map[string]*isc.Format{}
	}
	c.known[schema] = f
	return f, nil
}
