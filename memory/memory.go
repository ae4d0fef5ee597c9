package memory

import (
	"context"
	"encoding/json"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

// Memory keeps records, each in one scope. An implementation must be safe for
// concurrent use, must copy what it is given and what it gives, and must never
// let a record of one scope be read or removed through another.
//
// Source: paper §IV-A3, §IV-B3, App. A-C.
type Memory interface {
	// Append stores r in scope. When it returns nil the record is kept.
	Append(ctx context.Context, scope Scope, r Record) error
	// Records returns the records of scope that q selects, oldest first.
	Records(ctx context.Context, scope Scope, q Query) ([]Record, error)
	// Forget removes the records of scope that q selects and says how many.
	Forget(ctx context.Context, scope Scope, q Query) (int, error)
}

// Kind says what a record is. The zero value is invalid.
type Kind uint8

// The kinds of record.
const (
	_       Kind = iota
	Turn         // one interaction: what was asked and answered
	Summary      // a summary of turns
	Entity       // one fact by name: Key is the name, Value the value
)

// Record is one thing remembered.
type Record struct {
	Kind Kind
	// Key is the entity's name, for instance "travel.return_date"; for turns
	// and summaries it may be empty.
	Key string
	// Value is JSON.
	Value json.RawMessage
	// Label says where it came from: what an app said stays what that app said.
	Label isc.Label
	// Time is when it was said.
	Time time.Time
}

// Query selects records. The zero Query selects all.
type Query struct {
	Kind Kind   // only this kind, if set
	Key  string // only this key, if set
	Last int    // only the newest n, if above zero
}
