//go:build unix

package spoke

import "github.com/isolategpt/isolategpt/internal/meter"

// Idle is how many processes are kept ready.
func (l *ProcessLauncher) Idle() int {
	l.warm.mu.Lock()
	defer l.warm.mu.Unlock()
	return len(l.warm.idle)
}

// Failures is how many starts and early deaths there were in a row.
func (l *ProcessLauncher) Failures() int {
	l.warm.mu.Lock()
	defer l.warm.mu.Unlock()
	return l.warm.failures
}

// Flat is l without namespaces.
func (l *ProcessLauncher) Flat() *ProcessLauncher {
	l.flat.Store(true)
	return l
}

// SeenAt is l with processes whose memory is looked for in another file.
func (l *ProcessLauncher) SeenAt(status string) *ProcessLauncher {
	l.looking.open = func(int) (*meter.Meter, error) { return meter.OpenFile(status) }
	return l
}

// Unproven is l where what a child holds on purpose is not seen.
func (l *ProcessLauncher) Unproven(why error) *ProcessLauncher {
	l.looking.prove = func(bool) error { return why }
	return l
}
