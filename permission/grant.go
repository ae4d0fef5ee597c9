package permission

import (
	"encoding/json"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

// Grant is a remembered permission: user, caller, functionality, provider, the
// pin of what was approved, and the targets it was given for. It is never from
// app to app alone.
type Grant struct {
	ID            string                `json:"id"`
	User          string                `json:"user"`
	Kind          Kind                  `json:"kind"`
	Caller        isc.AppID             `json:"caller"` // empty: the hub
	Provider      isc.AppID             `json:"provider"`
	Functionality isc.FunctionalityName `json:"functionality,omitempty"`
	Host          string                `json:"host,omitempty"`
	Pin           isc.Digest            `json:"pin"`
	// Targets are the values of destination and record fields that the grant
	// was given for, by pointer. Another value is asked again.
	Targets  map[string]json.RawMessage `json:"targets,omitempty"`
	Decision Decision                   `json:"decision"` // AllowSession or AllowPermanent
	Created  time.Time                  `json:"created"`
}
