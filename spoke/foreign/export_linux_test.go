package foreign

// SeenAt is c with a program whose memory is looked for in another file.
func (c Config) SeenAt(status string) Config {
	c.status = status
	return c
}

// Held is what a text of /proc/PID/status says.
var Held = held

// Look opens a process's status.
func Look(status string) (look func() (int64, error), end func(), err error) {
	m, err := openMeter(status)
	if err != nil {
		return nil, nil, err
	}
	return m.read, m.close, nil
}
