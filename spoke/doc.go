// Package spoke is the place where one app runs: its operator, its agent, and
// the isolations that both can be put in.
//
// It guarantees that what a spoke sends is only what its state allows and what
// passed the formats, that of a failure only a status leaves it, that its agent
// changes nothing without a confirmation of the exact bytes, and that its model
// and memory are bounded from outside it. It does not make an app honest: a
// spoke that is wholly the attacker's can send whatever it likes, and it is the
// hub that gives it no more than its grants. [InProcess] isolates nothing but
// contexts. [Process] gives each spoke a process that has no network, no files, no
// other programs and bounded memory, and that has shown so by trying; of this
// program's own package initialisation it can take nothing back.
//
//	type Trip struct {
//		To     string `json:"to" isolate:"role=destination"`
//		Riders int    `json:"riders" isolate:"min=1,max=6"`
//	}
//	type Fare struct {
//		Fare float64 `json:"fare" isolate:"min=0"`
//	}
//	taxi, err := spoke.New(isc.Manifest{ID: "taxi", Name: "Taxi"},
//		spoke.Func("ride.fare", fare, spoke.Reads()))
//
// # Trust
//
// The hub is trusted; the app and everything that it or its model writes are
// not. The wall is the connection: an operator (which no model steers) on the
// spoke's side, the hub's on the other, and the host side, which hands a
// confined spoke its model and memory and keeps the keys.
//
// # Source
//
// Paper §IV-B (spoke: operator, planner, memory, vanilla spokes, life cycle),
// §IV-C (communication), App. A-A (isolation). Deviation: a typed request goes
// to the app's handler and to no model; only functionalities of the agent and
// delegated tasks use one.
package spoke
