package spoke

import "github.com/isolategpt/isolategpt/isc"

// The channel to the host side begins with the profile that the process confines
// itself to (null: it is not to), and, if there is one, the isolation that came
// of it. Then both sides agree about the app.

// hostConfig goes down: what the process is to be.
type hostConfig struct {
	App      isc.AppID `json:"app,omitempty"` // "" for a vanilla spoke
	Manifest string    `json:"manifest"`      // digest
	Limits   Limits    `json:"limits"`
	Model    bool      `json:"model"`
	Tools    bool      `json:"tools"`
	Schema   bool      `json:"schema"`
}

// hostReady goes up: what the process is.
type hostReady struct {
	Known    bool   `json:"known"`
	Manifest string `json:"manifest"`
}
