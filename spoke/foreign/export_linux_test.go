package foreign

// SeenAt is c with a program whose memory is looked for in another file.
func (c Config) SeenAt(status string) Config {
	c.status = status
	return c
}
