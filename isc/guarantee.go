package isc

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
)

// Guarantees is a set of what an isolation holds of a spoke, whatever its code
// and its model do. The zero value is the empty set: nothing is guaranteed. A
// launcher claims one only after an attempt to break it, made from inside the
// very spoke, failed as it should.
type Guarantees uint32

// The guarantees.
const (
	CrashIsolation  Guarantees = 1 << iota // its crash ends nothing but itself
	MemoryIsolation                        // it reads and writes no memory of another spoke or the hub
	Killable                               // it ends when the hub says so, and all that it started with it
	DiesWithHub                            // it ends when the hub dies, however that dies
	CleanEnv                               // it sees no variable of the hub's environment
	NoNetwork                              // it opens no socket of any kind
	NoFiles                                // it opens, lists, stats and changes no file
	NoExec                                 // it starts no program and no process
	NoPeers                                // it signals, traces and inspects no other process
	MemoryLimit                            // its memory is bounded
	NoSecrets                              // it inherited nothing but its connections, and no key is in it
	HubOnly                                // the hub and its host side are all that it can talk to

	// DefenceInDepth: network, files and peers are each kept out by a second, independent
	// mechanism, too, so that one hole opens nothing.
	DefenceInDepth
)

// FullIsolation is what code needs that may be an attacker's: all but [DefenceInDepth].
const FullIsolation = CrashIsolation | MemoryIsolation | Killable | DiesWithHub | CleanEnv | NoNetwork | NoFiles | NoExec |
	NoPeers | MemoryLimit | NoSecrets | HubOnly

var guaranteeNames = [...]string{
	"crash-isolation", "memory-isolation", "killable", "dies-with-hub", "clean-env", "no-network", "no-files", "no-exec",
	"no-peers", "memory-limit", "no-secrets", "hub-only", "defence-in-depth",
}

// Has says whether all of others are in g.
func (g Guarantees) Has(others Guarantees) bool { return g&others == others }

// Without are those of g that are not in others.
func (g Guarantees) Without(others Guarantees) Guarantees { return g &^ others }

// String lists the names, "no-network, no-files", or "none".
func (g Guarantees) String() string {
	if g == 0 {
		return "none"
	}
	var names []string
	for rest := g; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros32(uint32(rest))
		if i < len(guaranteeNames) {
			names = append(names, guaranteeNames[i])
		} else {
			names = append(names, fmt.Sprintf("unknown-%d", i))
		}
	}
	return strings.Join(names, ", ")
}

var errGuarantee = errors.New("isc: unknown guarantee")

// MarshalText is [Guarantees.String]; a set with an unknown member has none.
func (g Guarantees) MarshalText() ([]byte, error) {
	if g>>len(guaranteeNames) != 0 {
		return nil, fmt.Errorf("%w: %s", errGuarantee, g)
	}
	return []byte(g.String()), nil
}

// UnmarshalText accepts exactly what MarshalText gives.
func (g *Guarantees) UnmarshalText(text []byte) error {
	var out Guarantees
	if string(text) != "none" {
		for name := range strings.SplitSeq(string(text), ", ") {
			one, ok := guaranteeNamed(name)
			if !ok || one <= out { // in order, none twice
				return fmt.Errorf("%w in %q", errGuarantee, text)
			}
			out |= one
		}
	}
	*g = out
	return nil
}

func guaranteeNamed(name string) (Guarantees, bool) {
	for i, n := range guaranteeNames {
		if n == name {
			return 1 << i, true
		}
	}
	return 0, false
}
