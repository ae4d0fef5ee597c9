package hub

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/isolategpt/isolategpt/isc"
)

// Audit keeps the trail of a hub: every message between hub and spokes and
// every decision. An error from Append ends the run that it belongs to: what
// cannot be recorded does not happen.
//
// Append is called for one record at a time, in order.
type Audit interface {
	Append(ctx context.Context, r Record) error
}

// Record is one line of the trail. It holds digests and sizes, never a body:
// what was said can be proved against it, but not read from it.
type Record struct {
	Seq     int       `json:"seq"` // from 1, without gaps
	Time    time.Time `json:"time"`
	Session string    `json:"session"`
	Run     string    `json:"run"`
	// Event is what happened: "plan", "message", "dropped", "decision",
	// "launch", "install", "fetch", "fetched", "step", "answer".
	Event string `json:"event"`
	// App is the spoke that spoke or was spoken to, or who gets something.
	App isc.AppID `json:"app,omitempty"`
	// From is who wanted it, in a decision.
	From          isc.AppID             `json:"from,omitempty"`
	Functionality isc.FunctionalityName `json:"functionality,omitempty"`
	// Detail is a closed word of the hub: a message type with its direction, a
	// question's kind, a status, a kind of isolation, a remote host.
	Detail string `json:"detail,omitempty"`
	// Has and Lacks are of a launch: what the spoke's isolation was shown to
	// hold, and what of the preferred it does not.
	Has   isc.Guarantees `json:"has,omitzero"`
	Lacks isc.Guarantees `json:"lacks,omitzero"`
	// Decision and By are of decisions: "deny", "once", ...; who decided.
	Decision string `json:"decision,omitempty"`
	By       string `json:"by,omitempty"`
	Rule     string `json:"rule,omitempty"`
	// Reason is the hub's words.
	Reason string `json:"reason,omitempty"`
	// Digest and Size are of the canonical body.
	Digest isc.Digest `json:"digest,omitzero"`
	Size   int        `json:"size,omitempty"`
	// Shown is the digest of the consent request that a person was shown.
	Shown isc.Digest `json:"shown,omitzero"`
	// Prev is the Hash of the record before, Hash is over this record with an
	// empty Hash. Changing, removing or reordering a line breaks the chain.
	Prev string `json:"prev"`
	Hash string `json:"hash"`
}

// MarshalJSON writes the fields in their order. It is written out because every
// message of every run passes here, and because the chain is over these bytes.
func (r Record) MarshalJSON() ([]byte, error) { return r.append(make([]byte, 0, 384)), nil }

func (r Record) append(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"seq":`...), int64(r.Seq), 10)
	b = r.Time.AppendFormat(append(b, `,"time":"`...), time.RFC3339Nano)
	b = append(b, '"')
	b = appendMember(b, "session", r.Session)
	b = appendMember(b, "run", r.Run)
	b = appendMember(b, "event", r.Event)
	for _, m := range [...]struct{ name, value string }{
		{"app", string(r.App)}, {"from", string(r.From)}, {"functionality", string(r.Functionality)}, {"detail", r.Detail},
		{"has", guaranteed(r.Has)}, {"lacks", guaranteed(r.Lacks)}, {"decision", r.Decision}, {"by", r.By}, {"rule", r.Rule}, {"reason", r.Reason},
	} {
		if m.value != "" {
			b = appendMember(b, m.name, m.value)
		}
	}
	b = appendDigest(b, "digest", r.Digest)
	if r.Size != 0 {
		b = strconv.AppendInt(append(b, `,"size":`...), int64(r.Size), 10)
	}
	b = appendDigest(b, "shown", r.Shown)
	b = appendMember(b, "prev", r.Prev)
	return append(appendMember(b, "hash", r.Hash), '}')
}

func guaranteed(g isc.Guarantees) string {
	if g == 0 {
		return ""
	}
	return g.String()
}

func appendMember(b []byte, name, value string) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	for i := range len(value) {
		if c := value[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			quoted, err := json.Marshal(value)
			if err != nil { // no string fails to marshal
				panic(err)
			}
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), value...), '"')
}

func appendDigest(b []byte, name string, d isc.Digest) []byte {
	if d.IsZero() {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":"sha256:`...)
	return append(hex.AppendEncode(b, d[:]), '"')
}

// seal fills Hash.
func (r *Record) seal() {
	r.Hash = ""
	d := isc.DigestOf(r.append(make([]byte, 0, 384)))
	r.Hash = hex.EncodeToString(d[:])
}

// auditTimeout bounds the writing of one record.
const auditTimeout = 10 * time.Second

// trail numbers and chains the records of a hub.
type trail struct {
	audit Audit
	turn  chan struct{} // holds one while a record is written
	seq   int
	prev  string
}

func newTrail(a Audit) trail { return trail{audit: a, turn: make(chan struct{}, 1)} }

func (t *trail) append(ctx context.Context, r Record) (err error) {
	if t.audit == nil {
		return nil
	}
	// A run that ends must still be able to say how: the record is written
	// whether or not ctx has ended, but not waited for for ever.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTimeout)
	defer cancel()
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return fmt.Errorf("hub: audit: %w", context.Cause(ctx))
	}
	defer contain("audit", &err)
	r.Seq, r.Prev, r.Time = t.seq+1, t.prev, time.Now().UTC()
	r.seal()
	if err := t.audit.Append(ctx, r); err != nil {
		return fmt.Errorf("hub: audit: %w", err)
	}
	t.seq, t.prev = r.Seq, r.Hash
	return nil
}

// MemoryAudit keeps the trail in memory. The zero value is ready.
type MemoryAudit struct {
	mu      sync.Mutex
	records []Record
}

// Append keeps r.
func (a *MemoryAudit) Append(_ context.Context, r Record) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.records = append(a.records, r)
	return nil
}

// Records returns a copy of the trail.
func (a *MemoryAudit) Records() []Record {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]Record(nil), a.records...)
}

// LinesAudit writes the trail as JSON lines.
type LinesAudit struct {
	mu sync.Mutex
	w  io.Writer
	c  io.Closer
}

// NewLinesAudit writes to w.
func NewLinesAudit(w io.Writer) *LinesAudit { return &LinesAudit{w: w} }

// CreateAuditFile writes to a new file at path, readable by its owner alone, in
// a directory that is made so if it is not there. An existing file is an error:
// each hub begins a chain of its own.
func CreateAuditFile(path string) (*LinesAudit, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("hub: audit: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("hub: audit: %w", err)
	}
	return &LinesAudit{w: f, c: f}, nil
}

// Append writes r as one line.
func (a *LinesAudit) Append(_ context.Context, r Record) error {
	line := append(r.append(make([]byte, 0, 384)), '\n')
	a.mu.Lock()
	defer a.mu.Unlock()
	_, err := a.w.Write(line)
	return err
}

// Close closes a file that [CreateAuditFile] made.
func (a *LinesAudit) Close() error {
	if a.c == nil {
		return nil
	}
	return a.c.Close()
}

// ErrTampered says that an audit trail is not whole.
var ErrTampered = errors.New("hub: audit trail is not whole")

// VerifyAudit reads JSON lines and checks numbering and chain. It returns the
// records that hold; on an error that wraps [ErrTampered] the next line is the
// one that does not. Cutting off the end cannot be seen from the trail alone:
// keep the last hash elsewhere for that.
func VerifyAudit(r io.Reader) ([]Record, error) {
	var out []Record
	prev := ""
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var rec Record
		if err := isc.Unmarshal(lines.Bytes(), &rec); err != nil {
			return out, fmt.Errorf("%w: line %d: %w", ErrTampered, len(out)+1, err)
		}
		sealed := rec
		sealed.seal()
		if sealed.Hash != rec.Hash || rec.Prev != prev || rec.Seq != len(out)+1 {
			return out, fmt.Errorf("%w: line %d does not follow", ErrTampered, len(out)+1)
		}
		if !bytes.Equal(rec.append(nil), lines.Bytes()) {
			return out, fmt.Errorf("%w: line %d was rewritten", ErrTampered, len(out)+1)
		}
		prev = rec.Hash
		out = append(out, rec)
	}
	if err := lines.Err(); err != nil {
		return out, fmt.Errorf("%w: line %d: %w", ErrTampered, len(out)+1, err)
	}
	return out, nil
}
