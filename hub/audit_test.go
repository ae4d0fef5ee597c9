package hub_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/memory"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

// counted is a launcher that counts what goes over its connections.
type counted struct {
	spoke.Launcher
	up, down *atomic.Int64
}

func (c counted) Launch(ctx context.Context, spec spoke.Spec) (*spoke.Instance, error) {
	i, err := c.Launcher.Launch(ctx, spec)
	if err == nil {
		i.Conn = countedConn{i.Conn, c}
	}
	return i, err
}

type countedConn struct {
	isc.HubConn
	counted
}

func (c countedConn) Send(ctx context.Context, m isc.ToSpoke) error {
	c.down.Add(1)
	return c.HubConn.Send(ctx, m)
}

func (c countedConn) Recv(ctx context.Context) (isc.ToHub, error) {
	m, err := c.HubConn.Recv(ctx)
	if err == nil {
		c.up.Add(1)
	}
	return m, err
}

// audited is a run of all kinds of things, written to lines: some allowed, some
// denied, some dropped.
func audited(t *testing.T) (lines []byte, e ending, up, down int64) {
	t.Helper()
	var buf bytes.Buffer
	mem := memory.InMemory()
	remember(t, mem, "home", `"marker-memory"`)
	c := counted{up: new(atomic.Int64), down: new(atomic.Int64)}
	s := besiege(t, func(p *peer) {
		p.task()
		h := p.probe("vault.read")
		p.ask(use(h, `{"name":"marker-payload"}`))
		p.ask(use(p.probe("vault.wipe"), `{"door":"marker-door"}`))
		p.ask(isc.NeedData{Fields: []isc.DataField{{Name: "home", Purpose: "marker-purpose"}}})
		p.ask(isc.NeedData{Fields: []isc.DataField{{Name: "shoe", Purpose: "marker-purpose"}}})
		p.ask(isc.Probe{Functionality: "odd.name"})
		p.say(isc.Progress{Text: "marker-progress"})
		p.done(`{"text":"marker-result"}`)
	}, func(cfg *hub.Config) {
		cfg.Audit, cfg.Memory = hub.NewLinesAudit(&buf), mem
		c.Launcher = cfg.Launcher
		cfg.Launcher = c
		cfg.Asker = hub.AskerFunc(func(context.Context, hub.Question) (json.RawMessage, error) {
			return json.RawMessage(`"marker-shoe"`), nil
		})
		cfg.Planner = plans(map[string]string{"go marker-request": strings.Replace(roguePlan, `"go"`, `"marker-argument"`, 1)})
	})
	s.person.answer = func(r permission.Request) permission.Answer {
		if r.Functionality == "vault.wipe" && r.Kind == permission.Irreversible {
			a := r.Answer(permission.Deny)
			a.Reason = "marker-reason"
			return a
		}
		return saysYes(r)
	}
	e = runs(t, s.Session, "go marker-request")
	require.NoError(t, e.err)
	require.NotContains(t, s.vault.calls, isc.FunctionalityName("vault.wipe"))
	require.Len(t, s.vault.done("vault.read"), 1)
	return buf.Bytes(), e, c.up.Load(), c.down.Load()
}

// TestAuditHoldsEveryDecisionAndMessage: each decision that was made and each
// message that went over a connection is a record, with the digest of its body.
func TestAuditHoldsEveryDecisionAndMessage(t *testing.T) {
	lines, e, up, down := audited(t)
	records, err := hub.VerifyAudit(bytes.NewReader(lines))
	require.NoError(t, err)
	kinds := map[string]int64{}
	var decisions []hub.Record
	for _, r := range records {
		require.NotEmpty(t, r.Session)
		require.NotEmpty(t, r.Run)
		kinds[r.Event]++
		if r.Event == "message" {
			direction, _, _ := strings.Cut(r.Detail, " ")
			kinds[direction]++
		}
		if r.Event == "decision" {
			decisions = append(decisions, r)
		}
	}
	require.Equal(t, up, kinds["up"])
	require.Equal(t, down, kinds["down"])
	require.EqualValues(t, e.dropped(), kinds["dropped"])
	require.EqualValues(t, 1, kinds["plan"])
	require.EqualValues(t, 2, kinds["step"])
	require.EqualValues(t, 1, kinds["answer"])
	require.Len(t, decisions, len(e.decided()))
	for _, d := range e.decided() {
		require.True(t, slices.ContainsFunc(decisions, func(r hub.Record) bool {
			shown := d.Verdict.Request == nil || r.Shown == d.Verdict.Request.Digest
			return r.Detail == d.Question.Kind.String() && r.Decision == d.Verdict.Decision.String() && r.By == d.Verdict.By &&
				r.App == d.Question.To.ID && r.From == d.Question.From.ID && r.Digest == isc.DigestOf(d.Question.Payload) && shown
		}), "%s %s", d.Question.Kind, d.Question.Functionality)
	}
}

// TestAuditHoldsNoBodyAndNoText of the person, an app or a model.
func TestAuditHoldsNoBodyAndNoText(t *testing.T) {
	lines, e, _, _ := audited(t)
	require.NotContains(t, string(lines), "marker")
	told := false
	for _, d := range e.decided() {
		told = told || strings.Contains(d.Verdict.Reason, "marker-reason")
	}
	require.True(t, told, "who reads the events is told why the person said no")
}

// TestAuditTamperingIsDetected: removing, repeating, moving or changing any line
// breaks the chain. Cutting off the end needs the last hash kept elsewhere.
func TestAuditTamperingIsDetected(t *testing.T) {
	raw, _, _, _ := audited(t)
	lines := bytes.SplitAfter(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(lines[len(lines)-1], '\n')
	verify := func(lines [][]byte) ([]hub.Record, error) {
		return hub.VerifyAudit(bytes.NewReader(bytes.Join(lines, nil)))
	}
	_, err := verify(lines)
	require.NoError(t, err)
	tampered := func(name string, at int, changed [][]byte) {
		whole, err := verify(changed)
		require.ErrorIs(t, err, hub.ErrTampered, "%s line %d", name, at+1)
		require.LessOrEqual(t, len(whole), at, "%s line %d", name, at+1)
	}
	for i := range lines {
		if i < len(lines)-1 {
			tampered("removed", i, slices.Delete(slices.Clone(lines), i, i+1))
			moved := slices.Clone(lines)
			moved[i], moved[i+1] = moved[i+1], moved[i]
			tampered("moved", i, moved)
		}
		tampered("repeated", i+1, slices.Insert(slices.Clone(lines), i, lines[i]))
		for name, change := range map[string][2]string{
			"decision": {`"decision":"deny"`, `"decision":"once"`}, "app": {`"app":"`, `"app":"x`}, "size": {`"size":`, `"size":1`},
			"digest": {"sha256:", "sha256:0"}, "a new member": {`{"seq"`, `{"more":1,"seq"`}, "space": {`{"seq"`, `{ "seq"`},
		} {
			if bytes.Contains(lines[i], []byte(change[0])) {
				changed := slices.Clone(lines)
				changed[i] = bytes.Replace(lines[i], []byte(change[0]), []byte(change[1]), 1)
				tampered(name, i, changed)
			}
		}
	}
}

// TestAuditFileIsItsOwnersAlone, and never written over.
func TestAuditFileIsItsOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trail", "audit.jsonl")
	a, err := hub.CreateAuditFile(path)
	require.NoError(t, err)
	s := open(t, hub.Config{Apps: processApps(), Audit: a, Planner: plans(map[string]string{"fares?": bothFares})})
	runs(t, s, "fares?")
	require.NoError(t, a.Close())
	_, err = hub.CreateAuditFile(path)
	require.ErrorIs(t, err, fs.ErrExist)
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	records, err := hub.VerifyAudit(f)
	require.NoError(t, err)
	require.NotEmpty(t, records)
	if runtime.GOOS == "windows" {
		return // modes are not kept there
	}
	for name, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm(), name)
	}
}

// FuzzVerifyAudit: no bytes make it panic, and what it says is whole is what
// was written.
func FuzzVerifyAudit(f *testing.F) {
	var buf bytes.Buffer
	h := must(hub.New(hub.Config{LLM: noModel(), Launcher: spoke.InProcess(), Apps: processApps(), Audit: hub.NewLinesAudit(&buf), Planner: plans(map[string]string{"fares?": bothFares})}))
	s := must(h.Session(hub.SessionConfig{User: "ada"}))
	must(s.Ask(context.Background(), "fares?"))
	if err := h.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(buf.Bytes())
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		records, err := hub.VerifyAudit(bytes.NewReader(raw))
		if err != nil {
			return
		}
		var again bytes.Buffer
		a := hub.NewLinesAudit(&again)
		for _, r := range records {
			require.NoError(t, a.Append(t.Context(), r))
		}
		require.Equal(t, strings.ReplaceAll(strings.TrimSuffix(string(raw), "\n"), "\r\n", "\n"), strings.TrimSuffix(again.String(), "\n"))
	})
}
