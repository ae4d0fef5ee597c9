package hub

import (
	"errors"
	"fmt"
)

// ErrPanic says that something that the embedding program or an app supplied
// panicked. The panic's value is not told: it may hold anything.
var ErrPanic = errors.New("hub: panic")

// contain turns a panic of a supplied part into an error. It is deferred around
// each call into apps, models, memories and the like.
func contain(part string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w in %s", ErrPanic, part)
	}
}
