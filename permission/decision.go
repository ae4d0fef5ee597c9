package permission

import (
	"fmt"
	"slices"

	"github.com/isolategpt/isolategpt/isc"
)

// Decision is what was decided. The zero value denies.
type Decision uint8

// The decisions.
const (
	Deny           Decision = iota
	AllowOnce               // exactly this request
	AllowSession            // until the session is closed
	AllowPermanent          // until it is revoked
)

var decisionNames = [...]string{
	Deny: "deny", AllowOnce: "once", AllowSession: "session", AllowPermanent: "permanent",
}

// String is the decision's name: "once".
func (d Decision) String() string {
	if int(d) >= len(decisionNames) {
		return fmt.Sprintf("Decision(%d)", uint8(d))
	}
	return decisionNames[d]
}

// MarshalText gives the decision's name. An unknown decision is an error.
func (d Decision) MarshalText() ([]byte, error) {
	if int(d) >= len(decisionNames) {
		return nil, fmt.Errorf("permission: unknown decision %d", uint8(d))
	}
	return []byte(decisionNames[d]), nil
}

// UnmarshalText accepts exactly the names that MarshalText gives.
func (d *Decision) UnmarshalText(text []byte) error {
	i := slices.Index(decisionNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("permission: unknown decision %q", text)
	}
	*d = Decision(i)
	return nil
}

// Answer is what a person said. The zero Answer denies. [Request.Answer] makes
// one that is accepted, and [Request.Choose] one to a request of kind
// [SelectApp], which must say which app.
type Answer struct {
	ID       string     // of the request
	Digest   isc.Digest // of the request
	Decision Decision
	// Choice is the chosen candidate of SelectApp; see [Request.Choose].
	Choice isc.AppID
	// Reason is the person's, for a denial.
	Reason string
}

// Answer makes an answer to r that echoes it. To allow a request of kind
// [SelectApp], use [Request.Choose].
func (r Request) Answer(d Decision) Answer { return Answer{ID: r.ID, Digest: r.Digest, Decision: d} }

// Choose makes an answer to r, a request of kind [SelectApp], that picks app.
func (r Request) Choose(d Decision, app isc.AppID) Answer {
	a := r.Answer(d)
	a.Choice = app
	return a
}
