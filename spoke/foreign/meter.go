package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

// meter reads how much memory a process holds. It stays one of that very process
// whatever that executes, and needs no descriptor later.
type meter struct {
	status *os.File
	text   []byte
}

func openMeter(status string) (*meter, error) {
	f, err := os.Open(status)
	if err != nil {
		return nil, err
	}
	return &meter{status: f, text: make([]byte, 16<<10)}, nil
}

func (m *meter) close() { _ = m.status.Close() }

// counted is what a process makes the system hold for it alone: pages that are no
// file's, also those that were swapped out, and the tables that lead to them.
var counted = []string{"RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:"}

var errMeter = errors.New("its status does not say how much memory it holds")

// read gives the bytes that the process holds. A process that has ended gives an
// error, and so does one whose first thread has.
func (m *meter) read() (int64, error) {
	n, err := m.status.ReadAt(m.text, 0)
	if err != nil && err != io.EOF {
		return 0, err
	}
	return held(m.text[:n])
}

// held adds up what is counted in the text of /proc/PID/status.
func held(status []byte) (int64, error) {
	var sum int64
	found := 0
	for line := range bytes.Lines(status) {
		if found == len(counted) {
			break
		}
		for _, name := range counted {
			number, ok := bytes.CutPrefix(line, []byte(name))
			if !ok {
				continue
			}
			number, ok = bytes.CutSuffix(bytes.TrimSpace(number), []byte(" kB"))
			kib, err := strconv.ParseInt(string(number), 10, 40)
			if !ok || err != nil || kib < 0 {
				return 0, fmt.Errorf("%w: %q", errMeter, line)
			}
			sum += kib << 10
			found++
		}
	}
	if found != len(counted) {
		return 0, errMeter
	}
	return sum, nil
}
