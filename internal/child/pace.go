package child

import "time"

// How fast what a child writes is read where nobody asked for it, in bytes.
const (
	paceRate  = 1 << 20   // a second
	paceBurst = 128 << 10 // at once, after a rest
)

// pace is a bucket of bytes that fills at paceRate. The zero value is full.
type pace struct {
	paid time.Time // until when the bytes read so far are paid for
}

// after is how long to rest when n bytes more were read at now.
func (p *pace) after(n int, now time.Time) time.Duration {
	const full = paceBurst * time.Second / paceRate
	if oldest := now.Add(-full); p.paid.Before(oldest) {
		p.paid = oldest
	}
	p.paid = p.paid.Add(time.Duration(n) * time.Second / paceRate)
	return max(0, p.paid.Sub(now))
}
