package isc

// Manifest is what an app declares about itself. Everything in it but the
// shapes that this package checks is the app's word.
type Manifest struct {
	ID          AppID  `json:"id"`
	Name        string `json:"name"`
	Version     string `json:"version,omitempty"`
	Publisher   string `json:"publisher,omitempty"`
	Description string `json:"description,omitempty"`
	// Instructions are for the app's own model, and reach no other.
	Instructions    string          `json:"instructions,omitempty"`
	Functionalities []Functionality `json:"functionalities"`
	// Hosts are the only remote hosts that the app may be let talk to.
	Hosts []string `json:"hosts,omitempty"`
	// Needs is the data of the user that the app will ask for.
	Needs []DataField `json:"needs,omitempty"`
	// Wants are functionalities of other apps that it may ask for.
	Wants []FunctionalityName `json:"wants,omitempty"`
	// Vouched says that the embedding program answers for the texts of this
	// manifest, so that they may stand in the planner's prompt. It is set in
	// code, never by decoding, and is no part of the digest.
	Vouched bool `json:"-"`
}

// Functionality is one named thing that an app does.
type Functionality struct {
	Name        FunctionalityName `json:"name"`
	Description string            `json:"description,omitempty"`
	Request     *Format           `json:"request"`
	Response    *Format           `json:"response"`
	// Effect undeclared is irreversible.
	Effect Effect `json:"effect,omitempty"`
	// Agent says that no handler serves it but the app's own model, following
	// the app's instructions.
	Agent bool `json:"agent,omitempty"`
}
