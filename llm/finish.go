package llm

// Finish says why a reply ended. The zero value is invalid.
type Finish uint8

// The ways a reply ends. A reply that ended any other way is an error.
const (
	_           Finish = iota
	FinishStop         // the model had no more to say
	FinishTools        // the model waits for tool results
)

var finishNames = []string{"", "stop", "tools"}

// String names the way a reply ended, as MarshalText does.
func (f Finish) String() string { return enumString("Finish", finishNames, uint8(f)) }

// MarshalText gives the name; a value that is no finish is an error.
func (f Finish) MarshalText() ([]byte, error) { return enumText("finish", finishNames, uint8(f)) }

// UnmarshalText accepts the names that MarshalText gives and nothing else.
func (f *Finish) UnmarshalText(text []byte) error {
	v, err := enumValue("finish", finishNames, text)
	if err == nil {
		*f = Finish(v)
	}
	return err
}
