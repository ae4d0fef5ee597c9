package spoke

import "bytes"

// jsonGrowth is how many bytes of JSON a byte of text may become: \u003c.
const jsonGrowth = 6

// The most bytes that a call has by its kind, beside maxHostFrame. A call that is
// served has no more.
const (
	maxMemoryCall = maxRecordBytes + jsonGrowth*maxKeyBytes + 1<<10
	maxFetchHead  = jsonGrowth*(maxURLBytes+maxRequestHeaderBytes) + 4<<10 // all but the body
	maxFetchBody  = (MaxRequestBody + 2) / 3 * 4                           // in base64
)

// fits says whether a call is small enough for its kind to be decoded, which takes
// more than its size.
func fits(frame []byte) bool {
	switch {
	case bytes.HasPrefix(frame, []byte(`{"generate":`)):
		return true // within maxHostFrame: a conversation with what the app has read
	case bytes.HasPrefix(frame, []byte(`{"fetch":`)):
		return fetchFits(frame)
	default:
		return len(frame) <= maxMemoryCall
	}
}

// fetchFits looks for the body, the last member, where [writeFrame] puts it. No
// text holds what it looks for: a quote in one is escaped.
func fetchFits(frame []byte) bool {
	head, rest, has := bytes.Cut(frame, []byte(`,"body":"`))
	if !has {
		return len(frame) <= maxFetchHead
	}
	end := bytes.IndexByte(rest, '"')
	return len(head) <= maxFetchHead && end >= 0 && end <= maxFetchBody && len(rest)-end <= len(`"}}`)
}
