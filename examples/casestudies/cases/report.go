package cases

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// reportMark begins the progress lines in which an app in a process of its own
// reports a call to the world outside; the last line of a report ends with a dot.
const reportMark = "delivered "

// reportLine is how much of a report one line takes, in bytes.
const reportLine = 800

// tell reports a call.
func tell(ctx context.Context, out spoke.Hub, d Delivered) error {
	body, err := json.Marshal(d)
	if err != nil {
		return err
	}
	text := base64.StdEncoding.EncodeToString(body) + "."
	for text != "" {
		n := min(len(text), reportLine)
		if err := out.Progress(ctx, reportMark+text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// Progress takes from a progress line of an app what it reports to the world,
// and says whether it was such a report.
func (w *World) Progress(app isc.AppID, line string) bool {
	part, ok := strings.CutPrefix(line, reportMark)
	if !ok {
		return false
	}
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	if w.log.parts == nil {
		w.log.parts = map[isc.AppID]string{}
	}
	text, whole := strings.CutSuffix(w.log.parts[app]+part, ".")
	if !whole {
		w.log.parts[app] = text
		return true
	}
	delete(w.log.parts, app)
	var d Delivered
	if body, err := base64.StdEncoding.DecodeString(text); err == nil && json.Unmarshal(body, &d) == nil && d.App == app {
		w.log.calls = append(w.log.calls, d)
	}
	return true
}
