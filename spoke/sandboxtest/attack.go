package sandboxtest

import (
	"context"

	"github.com/isolategpt/isolategpt/isc"
)

// Attack is one attempt to break out of a spoke.
type Attack struct {
	// Name is unique: "tcp-connect".
	Name string
	// Guarantee is what does not hold where the attack works; of several, each.
	// 0: what it does is promised to nobody and known to work.
	Guarantee isc.Guarantees
	// Description says in a line what is tried.
	Description string
}

// Attacks are all, in the order in which they are run. There are none on systems
// other than Linux.
func Attacks() []Attack {
	var out []Attack
	for _, a := range attacks() {
		out = append(out, a.Attack)
	}
	return out
}

// attack is an [Attack] with its doing.
type attack struct {
	Attack
	// try is run inside the spoke. Nil: it worked.
	try func(targets) error
	// sibling is whether it needs the pid of another spoke.
	sibling bool
	// exclusive is whether nothing else may be launched meanwhile.
	exclusive bool
	// effect, if there is one, says from outside and after the spoke's end
	// whether the attack worked, whatever try said.
	effect func(context.Context, *attempt) (bool, error)
}

// targets is what the outside made for one attempt. Paths are absolute. What
// could not be made is empty.
type targets struct {
	Dir        string `json:"dir"`    // of this attempt alone; holds file, full and empty
	File       string `json:"file"`   // of this user, in Dir
	Empty      string `json:"empty"`  // a directory in Dir
	Handle     []byte `json:"handle"` // of File, for open_by_handle_at
	HandleType int    `json:"handleType"`
	Marker     string `json:"marker"` // is not there; what is executed makes it
	Home       string `json:"home"`
	Socket     string `json:"socket"`   // the path of a listener
	Datagram   string `json:"datagram"` // the path of one for datagrams
	Abstract   string `json:"abstract"` // the name of a listener
	TCP        int    `json:"tcp"`      // a port of 127.0.0.1 that accepts
	UDP        int    `json:"udp"`      // a port of 127.0.0.1 that answers
	Hub        int    `json:"hub"`      // a pid
	HubGroup   int    `json:"hubGroup"`
	HubAddress string `json:"hubAddress"` // hexadecimal, readable by the hub
	Sibling    int    `json:"sibling"`    // the pid of another spoke
	Address    string `json:"address"`    // hexadecimal, readable by the sibling
	Descriptor int    `json:"descriptor"` // open in the hub; children inherit it
	Secret     string `json:"secret"`     // what is read from it
	Variable   string `json:"variable"`   // a name in the hub's environment
	Memory     int64  `json:"memory"`     // bytes, beyond what the spoke may have
	Held       int64  `json:"held"`       // bytes that are in use, beyond the same
}
