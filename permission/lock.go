package permission

import (
	"context"
	"time"
)

// lockWait is how long a lock held by another is waited for.
const lockWait = 10 * time.Second

// lockFile takes the lock at path, shared by all processes, and gives what
// releases it. It waits until ctx ends, and at most lockWait.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		unlock, held, err := tryLock(path)
		if err != nil || !held {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}
