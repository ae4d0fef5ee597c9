package isc

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
)

// Handle is a right to ask, given by an [Offer] and used in a [Request]: 128
// random bits that mean nothing outside the hub's own table. All handles have
// one length, so that none tells more than another. The zero Handle is none.
//
// Source: paper §IV-C2 (ephemeral identifiers); security scenario C3.
type Handle struct{ s string }

const handleBytes = 16

var handleText = base64.RawURLEncoding.Strict()

// NewHandle makes a handle that nobody can guess.
func NewHandle() Handle {
	var b [handleBytes]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails (it ends the program)
	return Handle{s: handleText.EncodeToString(b[:])}
}

// IsZero says whether h is none.
func (h Handle) IsZero() bool { return h.s == "" }

// String hides the handle: who reads a log may not ask with what it shows.
func (h Handle) String() string {
	if h.IsZero() {
		return "no handle"
	}
	return h.s[:4] + "…"
}

// MarshalText is the form for messages. The zero handle has none.
func (h Handle) MarshalText() ([]byte, error) {
	if h.IsZero() {
		return nil, errHandle
	}
	return []byte(h.s), nil
}

// UnmarshalText takes exactly what MarshalText gives.
func (h *Handle) UnmarshalText(b []byte) error {
	if len(b) != handleText.EncodedLen(handleBytes) {
		return errHandle
	}
	if _, err := handleText.DecodeString(string(b)); err != nil {
		return errHandle
	}
	*h = Handle{s: string(b)}
	return nil
}

var errHandle = errors.New("isc: handle: must be 22 characters of base64url")
