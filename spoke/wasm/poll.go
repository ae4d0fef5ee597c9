package wasm

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// What poll reads and writes.
const (
	maxSubscriptions = 64
	subscriptionSize = 48
	eventSize        = 32
)

// poll waits until the first of the clocks that are waited for has run out, or
// the guest's time has. Whatever else is waited for cannot be had, and says so
// at once.
func poll(ctx context.Context, m api.Module, p []uint64) uint32 {
	in, out, n := uint32(p[0]), uint32(p[1]), uint32(p[2])
	if n == 0 || n > maxSubscriptions {
		return errnoInvalid
	}
	subscriptions, ok := m.Memory().Read(in, n*subscriptionSize)
	if !ok {
		return errnoFault
	}
	events, wait := pollEvents(subscriptions)
	if wait > 0 {
		sleep(ctx, wait)
	}
	if !m.Memory().Write(out, events) || !m.Memory().WriteUint32Le(uint32(p[3]), uint32(len(events)/eventSize)) {
		return errnoFault
	}
	return done
}

// pollEvents gives what there is to tell after the wait.
func pollEvents(subscriptions []byte) (events []byte, wait time.Duration) {
	wait = math.MaxInt64
	for ; len(subscriptions) > 0; subscriptions = subscriptions[subscriptionSize:] {
		event := make([]byte, eventSize)
		copy(event, subscriptions[:8]) // the guest's mark
		event[10] = subscriptions[8]   // its kind; 0 is a clock
		d, errno := time.Duration(0), errnoBadFile
		if subscriptions[8] == 0 {
			d, errno = clockWait(subscriptions)
		}
		event[8] = byte(errno)
		switch {
		case d < wait:
			events, wait = event, d
		case d == wait:
			events = append(events, event...)
		}
	}
	return events, wait
}

// clockWait is how long a clock is waited for. Points in time are not known,
// only durations.
func clockWait(subscription []byte) (time.Duration, uint32) {
	if binary.LittleEndian.Uint16(subscription[40:]) != 0 {
		return 0, errnoInvalid
	}
	nanos := binary.LittleEndian.Uint64(subscription[24:])
	return time.Duration(min(nanos, math.MaxInt64-1)), done
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
