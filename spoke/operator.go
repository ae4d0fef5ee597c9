package spoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/isolategpt/isolategpt/isc"
)

// agent is the part of a spoke that has a model, as its operator sees it. What
// the agent does, it does through the conversation, which checks, counts and
// confirms.
type agent interface {
	// delegate works on the job until it has an answer that fits job.answer.
	delegate(ctx context.Context, c *conversation, j job) (json.RawMessage, error)
	// decide answers one question under job.answer, with no functionality.
	decide(ctx context.Context, j job) (json.RawMessage, error)
}

// job is what an agent is to do.
type job struct {
	text     string
	data     []isc.Datum
	may      []isc.Known
	answer   *isc.Format
	maxTurns int
	private  bool
	formats  *formatCache // of may; nil keeps none
}

// Serve runs one spoke on conn until the hub closes it or ctx ends, and closes
// conn. It is a state machine that no model steers: it waits for a task, does
// it, sends one result, and waits again. In between it sends only what the
// task's handler or agent asks for, one message at a time, and takes only the
// one reply that is legal for it; anything else ends the spoke with
// [ErrProtocol]. A panic of the app or the model is a task with
// [isc.StatusFailed].
//
// It returns nil when the hub closed the connection between two tasks. Turns
// and calls are bounded here; tokens and remote hosts are by the host side, which
// the launchers put between the spoke and spec.LLM, spec.Memory and spec.HTTP.
//
// Source: paper §IV-B1, §IV-B5, §IV-C4; design, section 5.
func Serve(ctx context.Context, conn isc.SpokeConn, spec Spec) error {
	defer func() { _ = conn.Close() }()
	m, err := manifestOf(spec.App)
	if err != nil {
		return err
	}
	o := &operator{conn: conn, app: spec.App, manifest: m, agent: newAgent(spec, m), http: spec.HTTP, limits: spec.Limits}
	for {
		m, err := conn.Recv(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("spoke: waiting for a task: %w", err)
		}
		task, ok := m.(isc.Task)
		if !ok {
			return fmt.Errorf("%w: a %T where a task must come", ErrProtocol, m)
		}
		if err := o.serve(ctx, task); err != nil {
			return err
		}
	}
}

type operator struct {
	conn     isc.SpokeConn
	app      App // nil for a vanilla spoke
	agent    agent
	manifest isc.Manifest // the operator's own copy of the formats
	http     Fetcher      // the way to the host side; nil: no host
	limits   Limits
	formats  formatCache // of what the hub sends
}

// serve does one task. Its error is that of the connection: the task's own
// failures are statuses.
func (o *operator) serve(ctx context.Context, task isc.Task) error {
	c := &conversation{operator: o, limits: o.limits.forTask(task)}
	body, err := contain(func() (json.RawMessage, error) { return o.run(ctx, c, task) })
	if broken := c.end(); broken != nil {
		return broken
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	result := isc.Result{Status: statusOf(err)}
	if result.Status == isc.StatusDone {
		result.Body = body
	}
	err = o.conn.Send(ctx, result)
	if isOurs(err) {
		// The answer is more than a message holds.
		err = o.conn.Send(ctx, isc.Result{Status: isc.StatusFailed})
	}
	return err
}

// isOurs says whether a message was not sent because of what it is; the
// connection is as it was.
func isOurs(err error) bool {
	return errors.Is(err, isc.ErrMalformed) || errors.Is(err, isc.ErrTooLarge)
}

func (o *operator) run(ctx context.Context, c *conversation, task isc.Task) (json.RawMessage, error) {
	switch task.Kind {
	case isc.TaskCall:
		return o.call(ctx, c, task)
	case isc.TaskDelegate, isc.TaskDecide:
		answer, err := o.formats.parse(task.Answer)
		if err != nil {
			return nil, fmt.Errorf("spoke: answer format: %w", err)
		}
		j, err := o.newJob(task, c.limits, answer)
		if err != nil {
			return nil, err
		}
		var body json.RawMessage
		if task.Kind == isc.TaskDecide {
			body, err = o.agent.decide(ctx, j)
		} else {
			body, err = o.agent.delegate(ctx, c, j)
		}
		return check(answer, body, err)
	default:
		return nil, fmt.Errorf("%w: a task of kind %d", ErrProtocol, task.Kind)
	}
}

// call runs one functionality. The hub has already decided about this very
// call, so a handler runs without asking again; an agent's steps do not.
func (o *operator) call(ctx context.Context, c *conversation, task isc.Task) (json.RawMessage, error) {
	f, ok := o.manifest.Find(task.Functionality)
	if !ok {
		return nil, fmt.Errorf("spoke: no functionality %q", task.Functionality)
	}
	body, tree, err := f.Request.CheckTree(task.Body)
	if err != nil {
		return nil, fmt.Errorf("spoke: %s: request: %w", f.Name, err)
	}
	if !f.Agent {
		return c.handle(ctx, f, body, tree)
	}
	task.Text = fmt.Sprintf("Serve the functionality %s for the request that the data named \"request\" holds.", f.Name)
	task.Data = append([]isc.Datum{{Name: "request", Body: body}}, task.Data...)
	j, err := o.newJob(task, c.limits, f.Response)
	if err != nil {
		return nil, err
	}
	answer, err := o.agent.delegate(ctx, c, j)
	return check(f.Response, answer, err)
}

// newJob copies what an agent may see of a task, its data in canonical form.
func (o *operator) newJob(task isc.Task, limits Limits, answer *isc.Format) (job, error) {
	j := job{text: task.Text, may: task.May, answer: answer, maxTurns: limits.MaxTurns, private: task.Private, formats: &o.formats}
	for _, d := range task.Data {
		body, err := isc.Canonical(d.Body)
		if err != nil {
			return job{}, fmt.Errorf("spoke: data: %w", err)
		}
		j.data = append(j.data, isc.Datum{Name: d.Name, Body: body})
	}
	return j, nil
}

// check is the operator's own check of what is to leave the spoke.
func check(f *isc.Format, body json.RawMessage, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	canonical, err := f.Check(body)
	if err != nil {
		return nil, fmt.Errorf("spoke: response: %w", err)
	}
	return canonical, nil
}

// statusOf is all that the hub learns of an error.
func statusOf(err error) isc.Status {
	switch {
	case err == nil:
		return isc.StatusDone
	case errors.Is(err, ErrBudget):
		return isc.StatusBudget
	case errors.Is(err, ErrMissing):
		return isc.StatusMissing
	case errors.Is(err, ErrRefused):
		return isc.StatusRefused
	default:
		return isc.StatusFailed
	}
}

// contain turns a panic of f into an error.
func contain[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			var zero T
			out, err = zero, fmt.Errorf("spoke: panic: %v", p)
		}
	}()
	return f()
}
