package isc

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

// Digest is the SHA-256 of canonical bytes. It compares with ==; the zero Digest
// is none, and equals that of no content anyone has found.
type Digest [32]byte

const digestPrefix = "sha256:"

// DigestOf is the digest of bytes that are canonical already (see [Canonical]).
func DigestOf(canonical []byte) Digest { return sha256.Sum256(canonical) }

// IsZero says whether d is none.
func (d Digest) IsZero() bool { return d == Digest{} }

// String is "sha256:" and 64 hexadecimal digits.
func (d Digest) String() string { return digestPrefix + hex.EncodeToString(d[:]) }

// MarshalText is String.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText takes exactly what MarshalText gives: lower case, whole.
func (d *Digest) UnmarshalText(b []byte) error {
	text, ok := strings.CutPrefix(string(b), digestPrefix)
	if !ok || len(text) != hex.EncodedLen(len(d)) || strings.ToLower(text) != text {
		return errDigest
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return errDigest
	}
	copy(d[:], raw)
	return nil
}

var errDigest = errors.New("isc: digest: must be sha256: and 64 lower-case hexadecimal digits")
