package meter

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// HoldBytes is what a process is asked to hold so that [Prove] sees it.
const HoldBytes = 16 << 20

const (
	seenBeyond = HoldBytes / 2
	seenWithin = 2 * time.Second
)

var errUnseen = errors.New("memory that its process held on purpose was not seen")

// Prove gives nil if the meter sees what hold, which it calls once, makes the
// process hold: [HoldBytes], in a way that no limit counts. It is given up with
// ctx, and after two seconds.
func (m *Meter) Prove(ctx context.Context, hold func() error) error {
	before, absent := m.Read()
	if err := hold(); err != nil {
		return err
	}
	if absent != nil {
		return absent
	}
	ctx, cancel := context.WithTimeoutCause(ctx, seenWithin, errUnseen)
	defer cancel()
	tick := time.NewTicker(lookSoon)
	defer tick.Stop()
	for {
		now, err := m.Read()
		if err != nil {
			return err
		}
		if now.Memory > before.Memory+seenBeyond {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %d bytes before, %d then", context.Cause(ctx), before.Memory, now.Memory)
		case <-tick.C:
		}
	}
}
