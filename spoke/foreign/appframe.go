package foreign

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// maxLine bounds what an app's program says in one line, in bytes without the
// line's end.
const maxLine = 1 << 20

// ErrLine says that an app's program said something that its protocol does not
// have, or at the wrong time. Its spoke ends.
var ErrLine = errors.New("foreign: the program does not keep to its protocol")

// up is one line of an app's program. Exactly one member is set.
type up struct {
	Result   json.RawMessage `json:"result,omitempty"`
	Error    word            `json:"error,omitempty"`
	Use      *use            `json:"use,omitempty"`
	Need     []isc.DataField `json:"need,omitempty"`
	Confirm  *use            `json:"confirm,omitempty"`
	Progress *string         `json:"progress,omitempty"`
}

// use names a functionality and what it is asked with.
type use struct {
	Name isc.FunctionalityName `json:"name"`
	Body json.RawMessage       `json:"body"`
}

func (u *use) isWhole() bool { return u != nil && u.Name != "" && u.Body != nil }

// down is one line to an app's program. Exactly one member is set.
type down struct {
	Call   *task                      `json:"call,omitempty"`
	Value  json.RawMessage            `json:"value,omitempty"`
	Values map[string]json.RawMessage `json:"values,omitzero"`
	Error  word                       `json:"error,omitempty"`
}

// task is what an app's program is to do.
type task struct {
	Functionality isc.FunctionalityName `json:"functionality"`
	Body          json.RawMessage       `json:"body"`
}

// decodeUp reads a line as strictly as [isc.Unmarshal]. Its error holds nothing
// of the line.
func decodeUp(line []byte) (up, error) {
	var u up
	var members map[string]json.RawMessage
	if err := isc.Unmarshal(line, &members); err != nil {
		return up{}, fmt.Errorf("%w: %w", ErrLine, err)
	}
	if err := isc.Unmarshal(line, &u); err != nil {
		return up{}, fmt.Errorf("%w: %w", ErrLine, err)
	}
	set := u.Result != nil || u.Error != "" || u.Use.isWhole() || len(u.Need) > 0 || u.Confirm.isWhole() || u.Progress != nil
	if len(members) != 1 || !set {
		return up{}, fmt.Errorf("%w: a line must have one member, with a value", ErrLine)
	}
	return u, nil
}

// encode is d as a line.
func (d down) encode() ([]byte, error) {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	err := e.Encode(d)
	return line.Bytes(), err
}

// readLine gives the next line without its end, in memory of its own. The end of
// the input is io.EOF, also in a line.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(bytes.TrimSuffix(line, []byte("\n"))) > maxLine:
			return nil, fmt.Errorf("%w: a line of more than %d bytes", ErrLine, maxLine)
		case err == nil:
			return line[:len(line)-1], nil
		case err != bufio.ErrBufferFull:
			return nil, io.EOF // the program closed it, or its spoke did
		}
	}
}

// word is all of an error that crosses: its text stays where it is.
type word string

const failed word = "failed"

var errFailed = errors.New("foreign: the program failed")

// words are in the order in which an operator looks at an error that is several.
var words = [...]struct {
	word word
	err  error
}{
	{"budget", spoke.ErrBudget},
	{"missing", spoke.ErrMissing},
	{"refused", spoke.ErrRefused},
	{failed, errFailed},
}

// wordFor is the word for an error.
func wordFor(err error) word {
	for _, w := range words {
		if errors.Is(err, w.err) {
			return w.word
		}
	}
	return failed
}

// err is what the word stands for.
func (w word) err() error {
	for _, known := range words {
		if known.word == w {
			return known.err
		}
	}
	return errFailed
}

// UnmarshalText takes no word but the known ones.
func (w *word) UnmarshalText(text []byte) error {
	for _, known := range words {
		if string(known.word) == string(text) {
			*w = known.word
			return nil
		}
	}
	return fmt.Errorf("%w: an unknown error", ErrLine)
}
