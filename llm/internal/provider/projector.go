package provider

import (
	"encoding/json"
	"sync"

	"github.com/isolategpt/isolategpt/llm"
)

// maxProjections bounds what a Projector keeps.
const maxProjections = 256

// Projector projects schemas and keeps the results: agents send the same ones
// on every turn. The zero value is ready, and it is safe for concurrent use.
type Projector struct {
	mu   sync.Mutex
	kept map[string]*llm.Projection
}

// Project is [llm.Project], remembered.
func (p *Projector) Project(schema json.RawMessage) (*llm.Projection, error) {
	p.mu.Lock()
	kept := p.kept[string(schema)]
	p.mu.Unlock()
	if kept != nil {
		return kept, nil
	}
	made, err := llm.Project(schema)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept == nil || len(p.kept) >= maxProjections {
		p.kept = map[string]*llm.Projection{}
	}
	p.kept[string(schema)] = made
	return made, nil
}
