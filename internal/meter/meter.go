package meter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

// Meter reads what one process holds. It stays one of that very process whatever
// that executes, and needs no path later. It may be closed while it is read, and
// be read by several goroutines at once.
type Meter struct{ status *os.File }

// Reading is what a process holds.
type Reading struct {
	// Memory is in bytes: pages that are no file's, also those that were swapped
	// out, and the tables that lead to them.
	Memory  int64
	Threads int
}

var (
	errStatus = errors.New("its status does not say what it holds")
	errOther  = errors.New("the status is another process's")
)

// statusBytes is more than a status has up to its last line that counts, unless
// the process is in a thousand groups.
const statusBytes = 16 << 10

// Open is the meter of the child with that number, of which it makes sure: what
// /proc shows may be another pid namespace's processes.
func Open(pid int) (*Meter, error) {
	m, err := OpenFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return nil, err
	}
	if err := m.isOf(pid, os.Getpid()); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// OpenFile is the meter of whatever process a file is the status of.
func OpenFile(status string) (*Meter, error) {
	f, err := os.Open(status)
	if err != nil {
		return nil, err
	}
	return &Meter{status: f}, nil
}

// Close lets go of the process.
func (m *Meter) Close() { _ = m.status.Close() }

// Read gives what the process holds. A process that has ended gives an error, and
// so does one whose first thread has.
func (m *Meter) Read() (Reading, error) { return m.read(make([]byte, statusBytes)) }

func (m *Meter) read(buffer []byte) (Reading, error) {
	n, err := m.status.ReadAt(buffer, 0)
	if err != nil && err != io.EOF {
		return Reading{}, err
	}
	return held(buffer[:n])
}

// isOf says whether it is of a child of parent.
func (m *Meter) isOf(pid, parent int) error {
	text := make([]byte, statusBytes)
	n, err := m.status.ReadAt(text, 0)
	if err != nil && err != io.EOF {
		return err
	}
	for name, want := range map[string]int{"Pid": pid, "PPid": parent} {
		if !bytes.Contains(text[:n], fmt.Appendf(nil, "\n%s:\t%d\n", name, want)) {
			return fmt.Errorf("%w: not %s %d", errOther, name, want)
		}
	}
	return nil
}

// counted are the lines that add up, and the one of the threads.
var counted = [...]string{"RssAnon:", "RssShmem:", "VmPTE:", "VmSwap:", threadsLine}

const threadsLine = "Threads:"

// held is what the text of /proc/PID/status says.
func held(status []byte) (Reading, error) {
	var r Reading
	var found [len(counted)]bool
	missing := len(counted)
	for line := range bytes.Lines(status) {
		if missing == 0 {
			break
		}
		for i, name := range counted {
			value, ok := bytes.CutPrefix(line, []byte(name))
			if !ok || found[i] {
				continue
			}
			if err := r.add(name, value); err != nil {
				return Reading{}, err
			}
			found[i] = true
			missing--
		}
	}
	if missing > 0 || r.Threads == 0 {
		return Reading{}, errStatus
	}
	return r, nil
}

func (r *Reading) add(name string, value []byte) error {
	number, kib := bytes.CutSuffix(bytes.TrimSpace(value), []byte(" kB"))
	n, err := strconv.ParseUint(string(bytes.TrimSpace(number)), 10, 40)
	if err != nil || kib == (name == threadsLine) {
		return fmt.Errorf("%w: %s%q", errStatus, name, value)
	}
	if name == threadsLine {
		r.Threads = int(n)
		return nil
	}
	r.Memory += int64(n) << 10
	return nil
}
