package planner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/llm"
)

// Config is what an [LLMPlanner] is made from.
type Config struct {
	// LLM writes the plans. It must be there.
	LLM llm.LLM
	// Match answers the pairwise questions; nil means LLM.
	Match llm.LLM
	// MaxRepairs bounds how often a plan that is not valid is asked for again:
	// 2 if zero, none if negative.
	MaxRepairs int
	// Candidates bounds the entries in one prompt: 32 if zero.
	Candidates int
	// MaxTokens bounds a reply: 2,000 tokens if zero.
	MaxTokens int
}

// LLMPlanner makes plans with a language model. What it returns is valid for
// its input. It is safe for concurrent use if its models are.
//
// No text that a third-party app wrote is ever in a planning prompt: it shows
// the user's words, names and types that were checked, and text that the
// embedding program vouches for. See [New] for when such an app's description
// is read, alone.
//
// Model calls one after another: one, and one more for each repair; and one
// before, side by side for all apps, if there are apps whose names say nothing.
//
// Source: paper §IV-A2; design, section 4.2 and the planning page.
type LLMPlanner struct {
	cfg         Config
	temperature float64
}

var _ Planner = (*LLMPlanner)(nil)

// New checks cfg.
//
// Pairwise matching is for an app that a name cannot tell about: it takes
// sub-tasks or has functionalities, none of its texts is vouched for, it has a
// description, and each of its functionalities' names is made of words that
// would fit any app ("run", "ask", "assistant"). About each such app, if the
// catalogue has any, one question is asked with the request and that app's own
// description alone; the answer decides only whether this app may be planned
// with. Apps with telling names cost no call.
func New(cfg Config) (*LLMPlanner, error) {
	if cfg.LLM == nil {
		return nil, errors.New("planner: config: LLM is missing")
	}
	if cfg.Match == nil {
		cfg.Match = cfg.LLM
	}
	if cfg.MaxRepairs == 0 {
		cfg.MaxRepairs = 2
	}
	if cfg.Candidates <= 0 {
		cfg.Candidates = 32
	}
	if cfg.MaxTokens <= 0 {
		cfg.MaxTokens = 2000
	}
	return &LLMPlanner{cfg: cfg}, nil
}

// PlanError says that the model wrote no valid plan, repairs included. What it
// wrote last had these problems.
type PlanError struct {
	Problems []Problem
	Attempts int
}

// Error says in plain words what could not be planned.
func (e *PlanError) Error() string {
	return fmt.Sprintf("planner: no valid plan after %d attempts: %s", e.Attempts, strings.ReplaceAll(join(e.Problems), "\n", "; "))
}

// Plan asks the model for a plan, and asks again with the problems if it is
// not valid.
//
// Errors are [*PlanError], those of the model ([*llm.Error]; a reply that was
// cut off counts as a plan that is not valid), and ctx ending.
func (p *LLMPlanner) Plan(ctx context.Context, in Input) (*Plan, error) {
	a, err := p.planned(ctx, in, false)
	return a.plan, err
}

// PlanChecked is Plan and [Plan.Validate] in one, so that nobody needs to
// validate the plan again: see [Checked.For].
func (p *LLMPlanner) PlanChecked(ctx context.Context, in Input) (*Checked, error) {
	a, err := p.planned(ctx, in, true)
	return a.checked, err
}

// planned asks until there is a valid plan. With give, the plan as it was
// written is given away to the checked one, and is not returned.
func (p *LLMPlanner) planned(ctx context.Context, in Input, give bool) (attempt, error) {
	if strings.TrimSpace(in.Query) == "" {
		return attempt{}, errors.New("planner: plan: the request is empty")
	}
	out, err := p.matchUnclear(ctx, in)
	if err != nil {
		return attempt{}, err
	}
	v := newView(in, p.cfg.Candidates, out)
	req := p.request(in, v)
	for n := 1; ; n++ {
		a, err := p.attempt(ctx, in, v, req, give)
		if err != nil {
			return attempt{}, err
		}
		if len(a.problems) == 0 {
			return a, nil
		}
		if a.checked != nil && (n > 1 || p.cfg.MaxRepairs < 0) {
			return a, nil // it is valid, and the model was asked about it
		}
		if n > max(p.cfg.MaxRepairs, 0) {
			return attempt{}, &PlanError{Problems: a.problems, Attempts: n}
		}
		if req, err = repair(req, a.reply, a.problems); err != nil {
			return attempt{}, err
		}
	}
}

func (p *LLMPlanner) request(in Input, v view) *llm.Request {
	keys := planKeys(in.MemoryKeys)
	messages := make([]llm.Message, 0, len(examples)+2)
	messages = append(messages, llm.Message{Role: llm.System, Text: systemPrompt})
	messages = append(messages, examples...)
	return &llm.Request{
		Messages:    append(messages, requestMessage(in, v, keys)),
		Schema:      v.schema(keys),
		MaxTokens:   p.cfg.MaxTokens,
		Temperature: &p.temperature,
		Purpose:     "plan",
	}
}

// attempt is one reply and what became of it. A plan that is checked is valid;
// problems beside it are all of [CodeMissed].
type attempt struct {
	reply    string
	plan     *Plan // as it was written
	checked  *Checked
	problems []Problem
}

// attempt asks once.
func (p *LLMPlanner) attempt(ctx context.Context, in Input, v view, req *llm.Request, give bool) (attempt, error) {
	res, err := p.cfg.LLM.Generate(ctx, req)
	if cut, ok := errors.AsType[*llm.Error](err); ok && cut.Kind == llm.Truncated && ctx.Err() == nil {
		return attempt{problems: []Problem{{Code: CodeTooLarge, Text: "the plan was cut off: write fewer and shorter steps"}}}, nil
	}
	if err != nil {
		return attempt{}, fmt.Errorf("planner: plan: %w", err)
	}
	plan, problems := read(res.Text, in.Query, v)
	if plan == nil {
		return attempt{reply: res.Text, problems: problems}, nil
	}
	problems = v.outside(plan)
	checked, more := validate(plan, in, give)
	for _, m := range more {
		if !slices.Contains(problems, m) {
			problems = append(problems, m)
		}
	}
	if len(problems) > 0 {
		return attempt{reply: res.Text, problems: problems}, nil
	}
	return attempt{reply: res.Text, plan: plan, checked: checked, problems: missed(plan, checked, in.Query, v)}, nil
}

// validate checks a plan that was decoded. With give, the result shares what
// the steps of plan hold.
func validate(plan *Plan, in Input, give bool) (*Checked, []Problem) {
	with := ValidateInput{MemoryKeys: in.MemoryKeys}
	if !give {
		return plan.Validate(in.Catalogue, with)
	}
	own := *plan
	own.Steps = slices.Clone(plan.Steps)
	return own.validate(in.Catalogue, with)
}

// read decodes a reply. A plan of no steps uses no app: the request then goes
// to a vanilla spoke, word for word, whatever the planning model would answer.
func read(text, query string, v view) (*Plan, []Problem) {
	raw, err := llm.Extract(text)
	if err != nil {
		return nil, []Problem{{Code: CodeMalformed, Text: "the reply is not one JSON object and nothing else"}}
	}
	plan, err := DecodePlan(raw)
	if bad, ok := errors.AsType[*DecodeError](err); ok {
		return nil, bad.Problems
	}
	if err != nil {
		return nil, []Problem{{Code: CodeMalformed, Text: "the reply is no plan"}}
	}
	if len(plan.Steps) == 0 {
		return vanillaPlan(query), nil
	}
	v.dropNulls(plan)
	return plan, nil
}

// outside are the uses of what the prompt did not show.
func (v view) outside(plan *Plan) []Problem {
	var out []Problem
	for _, s := range plan.Steps {
		if c, ok := s.Do.(Call); ok && !v.has(c.Functionality) {
			out = append(out, Problem{short(s.ID), "/functionality", CodeUnknownFunctionality, fmt.Sprintf("there is no functionality %q", short(c.Functionality))})
		}
		if d, ok := s.Do.(Delegate); ok && d.App != "" && !v.takesTasks(d.App) {
			out = append(out, Problem{short(s.ID), "/app", CodeNoAgent, fmt.Sprintf("%q takes no tasks", short(string(d.App)))})
		}
	}
	return out
}

// vanillaPlan hands a request to a vanilla spoke.
func vanillaPlan(query string) *Plan {
	return &Plan{
		Steps:  []Step{{ID: "s1", Do: Decide{Question: cutText(query), Answer: Shape{Type: ShapeString}}}},
		Answer: Ref{Step: "s1"},
	}
}

func cutText(s string) string {
	if len(s) <= MaxText {
		return s
	}
	return strings.ToValidUTF8(s[:MaxText], "")
}

// dropNulls leaves out each optional argument that is null where no null may
// stand: how a model that must write every argument leaves one out.
func (v view) dropNulls(p *Plan) {
	for _, s := range p.Steps {
		call, ok := s.Do.(Call)
		if !ok {
			continue
		}
		e, ok := v.entry(call.Functionality)
		if !ok || e.Request == nil {
			continue
		}
		for name, arg := range call.Args {
			l, ok := arg.(Literal)
			if !ok || !bytes.Equal(l.JSON, []byte("null")) {
				continue
			}
			if d, ok := e.Request.At("/" + escape(name)); ok && !d.Required && d.Types&isc.TypeNull == 0 {
				delete(call.Args, name)
			}
		}
	}
}

// repair is the request that asks again: the conversation so far, what the
// model wrote, and what is wrong with it.
func repair(req *llm.Request, reply string, problems []Problem) (*llm.Request, error) {
	const most = 12
	lines := make([]string, 0, most)
	for _, p := range problems[:min(len(problems), most)] {
		lines = append(lines, p.String())
	}
	var b bytes.Buffer
	if err := promptForms.ExecuteTemplate(&b, "repair.tmpl", lines); err != nil {
		return nil, fmt.Errorf("planner: prompt: %w", err)
	}
	next := *req
	next.Messages = append(append([]llm.Message(nil), req.Messages...),
		llm.Message{Role: llm.Assistant, Text: reply}, llm.Message{Role: llm.User, Text: strings.TrimSpace(b.String())})
	next.Schema = append(json.RawMessage(nil), req.Schema...)
	return &next, nil
}
