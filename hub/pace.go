package hub

import (
	"time"

	"github.com/isolategpt/isolategpt/internal/pace"
)

// newPace slows down a spoke that floods: 64 messages without a reply at once, and
// 100 a second beyond that.
func newPace() pace.Bucket { return pace.Bucket{Burst: 64, Each: 10 * time.Millisecond} }
