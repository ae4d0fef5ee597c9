//go:build unix

package spoke

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
