package memory

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// The bounds of [InMemory] where its configuration says nothing.
const (
	DefaultMaxRecords = 10_000
	DefaultMaxValue   = 1 << 20 // bytes
)

// InMemoryConfig bounds an in-memory [Memory].
type InMemoryConfig struct {
	// MaxRecords is how many records one scope keeps. Beyond it the oldest turn
	// is dropped, or, if there is no turn, the oldest record. Zero means
	// 10,000.
	MaxRecords int
	// MaxValue is how large one value, and one key, may be, in bytes. Zero means
	// 1 MiB.
	MaxValue int
}

// InMemory is a [Memory] that ends with the program. At most one configuration
// may be given; values below one mean the default.
func InMemory(cfg ...InMemoryConfig) Memory {
	m := &inMemory{max: DefaultMaxRecords, maxValue: DefaultMaxValue, scopes: map[Scope][]Record{}}
	for _, c := range cfg {
		if c.MaxRecords > 0 {
			m.max = c.MaxRecords
		}
		if c.MaxValue > 0 {
			m.maxValue = c.MaxValue
		}
	}
	return m
}

type inMemory struct {
	max, maxValue int

	mu     sync.RWMutex
	scopes map[Scope][]Record
}

func (m *inMemory) Append(ctx context.Context, scope Scope, r Record) error {
	if err := check(ctx, scope); err != nil {
		return err
	}
	if err := r.Validate(); err != nil {
		return err
	}
	if len(r.Value) > m.maxValue || len(r.Key) > m.maxValue {
		return fmt.Errorf("%w: over %d bytes", ErrRecord, m.maxValue)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	records := m.scopes[scope]
	if len(records) >= m.max {
		records = dropOldest(records)
	}
	m.scopes[scope] = append(records, r.clone())
	return nil
}

// dropOldest makes room: turns before what was distilled from them.
func dropOldest(records []Record) []Record {
	i := slices.IndexFunc(records, func(r Record) bool { return r.Kind == Turn })
	i = max(i, 0)
	return slices.Delete(records, i, i+1)
}

func (m *inMemory) Records(ctx context.Context, scope Scope, q Query) ([]Record, error) {
	if err := check(ctx, scope); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	records := m.scopes[scope]
	var out []Record
	for _, i := range selected(records, q) {
		out = append(out, records[i].clone())
	}
	return out, nil
}

func (m *inMemory) Forget(ctx context.Context, scope Scope, q Query) (int, error) {
	if err := check(ctx, scope); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	records := m.scopes[scope]
	gone := selected(records, q)
	keep := make([]Record, 0, len(records)-len(gone))
	for i, r := range records {
		if _, found := slices.BinarySearch(gone, i); !found {
			keep = append(keep, r)
		}
	}
	if len(keep) == 0 {
		delete(m.scopes, scope)
	} else {
		m.scopes[scope] = keep
	}
	return len(gone), nil
}

// selected are the places of the records that q selects, in order.
func selected(records []Record, q Query) []int {
	var at []int
	for i, r := range records {
		if q.Selects(r) {
			at = append(at, i)
		}
	}
	if q.Last > 0 && len(at) > q.Last {
		at = at[len(at)-q.Last:]
	}
	return at
}

func check(ctx context.Context, scope Scope) error {
	if ctx.Err() != nil {
		return fmt.Errorf("memory: %w", context.Cause(ctx))
	}
	return scope.Validate()
}

func (r Record) clone() Record {
	r.Value = slices.Clone(r.Value)
	return r
}
