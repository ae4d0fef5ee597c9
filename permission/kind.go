package permission

import (
	"fmt"
	"slices"
)

var kindNames = [...]string{
	SelectApp:    "select-app",
	InstallApp:   "install-app",
	ApprovePlan:  "approve-plan",
	ShareData:    "share-data",
	Collaborate:  "collaborate",
	Deliver:      "deliver",
	SendRemote:   "send-remote",
	Change:       "change",
	Irreversible: "irreversible",
}

func (k Kind) valid() bool { return k >= SelectApp && k <= Irreversible }

// String is the kind's name: "select-app".
func (k Kind) String() string {
	if !k.valid() {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// MarshalText gives the kind's name. An unknown kind is an error.
func (k Kind) MarshalText() ([]byte, error) {
	if !k.valid() {
		return nil, fmt.Errorf("permission: unknown kind %d", uint8(k))
	}
	return []byte(kindNames[k]), nil
}

// UnmarshalText accepts exactly the names that MarshalText gives.
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames[:], string(text))
	if i <= 0 {
		return fmt.Errorf("permission: unknown kind %q", text)
	}
	*k = Kind(i)
	return nil
}

// rememberable says whether a decision on k may outlive its request. Installing,
// approving a plan and irreversible acts are decided each time.
func (k Kind) rememberable() bool {
	switch k {
	case SelectApp, ShareData, Collaborate, Deliver, SendRemote, Change:
		return true
	default:
		return false
	}
}

// stepwise says whether questions of kind k are about a step that a plan can
// expect.
func (k Kind) stepwise() bool { return k >= ShareData && k <= Irreversible }
