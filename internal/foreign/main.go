package foreign

import (
	"fmt"
	"os"
	"sync/atomic"

	"github.com/isolategpt/isolategpt/isc"
)

// Variable is the one variable in the environment of the process, and Value
// what makes the process one of this package.
const (
	Variable = "ISOLATEGPT_SPOKE"
	Value    = "foreign"
)

// Report is what the process says of itself.
type Report struct {
	Isolation isc.Isolation `json:"isolation"`
	// Error, if it is not empty, is why the program was not executed.
	Error string `json:"error,omitempty"`
}

// Hold tells the process to hold so many bytes of memory more, in a way that no
// limit of its own counts, until it hears a [Go]. The parent finds out by that
// whether it would see a program that does the same.
type Hold struct {
	Bytes int64 `json:"bytes"`
}

// Go tells the process to execute the program.
type Go struct {
	Go bool `json:"go"`
}

// called is a fact about the program: that Main was called in it.
var called atomic.Bool

// Called says whether this program calls [Main]. One that does not must not be
// executed again: it would do once more whatever its main does.
func Called() bool { return called.Load() }

// Main is given the value of [Variable]. Unless that is [Value] it returns at
// once. Else it never does: the process becomes the program that its parent
// names, or ends with status 1.
func Main(value string) {
	called.Store(true)
	if value != Value {
		return
	}
	os.Clearenv()
	fmt.Fprintln(os.Stderr, become())
	os.Exit(1)
}
