package sandboxtest

import (
	"cmp"
	"context"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// Config says what [Run] runs.
type Config struct {
	// Confined launches the spokes that are to hold. Required.
	Confined spoke.Launcher
	// Control launches the same unconfined, and the spokes that are attacked.
	// Required; [Unconfined] is one.
	Control spoke.Launcher
	// Name is the isolation's in the rows; "": as the spokes report it.
	Name string
	// Require is demanded of each confined spoke, see [spoke.Spec].
	Require isc.Guarantees
	// Attacks are the names of those to run; nil: all.
	Attacks []string
	// Memory is what a confined spoke may have, in bytes. Default 256 MiB, which is
	// that of [spoke.ProcessConfig]. Attacks on it want twice as much and 512 MiB,
	// because threads of C take address space that they hardly use.
	Memory int64
	// Parallel is how many attacks are run at a time. Default 2.
	Parallel int
	// Controls is how many attacks have to work unconfined for [TestLauncher]'s
	// result to mean something. Default, for all attacks: three quarters of them as
	// root, two thirds as another user; for named ones: 0.
	Controls int
}

func (c Config) orDefault() Config {
	c.Memory = cmp.Or(max(c.Memory, 0), 256<<20)
	c.Parallel = cmp.Or(max(c.Parallel, 0), 2)
	return c
}

// Row is what came of one attack.
type Row struct {
	Isolation string `json:"isolation"`
	Attack    string `json:"probe"`
	// Refused says that the attack did not work in the isolation. It shows
	// something only where Control is true.
	Refused bool `json:"refused"`
	// Control says that the same attack worked unconfined.
	Control bool `json:"control"`
	// Guarantee is what does not hold where the attack works.
	Guarantee isc.Guarantees `json:"guarantee"`
	// Claimed says that the spoke's isolation claimed some of Guarantee.
	Claimed bool `json:"claimed"`
	// Detail tells how it was refused, and the control, where that failed.
	Detail string `json:"detail,omitempty"`
}

// Contradicts says that the attack worked although the isolation claimed what
// it breaks.
func (r Row) Contradicts() bool { return !r.Refused && r.Claimed }

// Counts says that the refusal shows something.
func (r Row) Counts() bool { return r.Refused && r.Control }

// Run tries each attack in a fresh spoke of both launchers and gives a row each,
// in the order of [Attacks]. An error means that there is no result: a spoke
// could not be launched (an [*spoke.UnmetError] among others), does not serve
// or keeps silent. That attacks work is none.
//
// Everything that a run makes is gone when it returns. Runs may be concurrent.
func Run(ctx context.Context, cfg Config) ([]Row, error) {
	return run(ctx, cfg.orDefault())
}

// Unconfined launches the program again as programs usually are: with the whole
// environment and every descriptor that is not closed on exec. It is the
// control of [Run]; it launches nothing but [App], in programs that call
// [Main].
func Unconfined() spoke.Launcher { return unconfined() }
