package llmtest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// isPlan says whether a schema is that of a plan: an object of steps and an
// answer.
func isPlan(raw json.RawMessage) bool {
	s := parseSchema(raw)
	_, steps := s.Properties["steps"]
	_, answer := s.Properties["answer"]
	return steps && answer
}

// offer is an alternative that a plan's schema has for a step.
type offer struct {
	do, functionality string
	apps              []string // those that the schema names
	args              schema
	schema            schema
}

// offers are the alternatives of a plan's steps.
func offers(root schema) []offer {
	steps := root.Properties["steps"].resolve(root)
	if steps.Items == nil {
		return nil
	}
	item := steps.Items.resolve(root)
	alternatives := item.alternatives()
	if len(alternatives) == 0 {
		alternatives = []schema{item}
	}
	var out []offer
	for _, a := range alternatives {
		a = a.resolve(root)
		o := offer{
			apps:   a.Properties["app"].resolve(root).constants(),
			args:   a.Properties["args"].resolve(root),
			schema: a,
		}
		for _, o.do = range a.Properties["do"].resolve(root).constants() {
			names := a.Properties["functionality"].resolve(root).constants()
			if len(names) == 0 {
				names = []string{""}
			}
			for _, o.functionality = range names {
				out = append(out, o)
			}
		}
	}
	return out
}

// constants are the strings that a schema allows, if it lists them.
func (s schema) constants() []string {
	var out []string
	for _, raw := range append([]json.RawMessage{s.Const}, s.Enum...) {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			out = append(out, text)
		}
	}
	for _, a := range s.alternatives() {
		out = append(out, a.constants()...)
	}
	return out
}

// plan writes a plan from the functionalities that the schema lists: a step a
// use of the skill and an app that the user named, or one step for all of it if
// an app with a model of its own had better do it. What is to be avoided is left
// out, what is to be called as well is added.
func (s *situation) plan(raw json.RawMessage) json.RawMessage {
	root := parseSchema(raw)
	p := planned{s: s, offers: offers(root)}
	if s.skill != nil && !has[Stop](s) {
		p.work()
	}
	for _, c := range s.all() {
		if d, ok := c.Directive.(Also); ok {
			p.also(d)
		}
	}
	return p.json()
}

// planned is a plan being written.
type planned struct {
	s      *situation
	offers []offer
	steps  []map[string]any
	shown  []shown
}

// shown is what the answer shows of a step.
type shown struct{ label, step, pointer string }

func (p *planned) work() {
	k := p.s.skill
	if k.Delegate && p.delegate(k) {
		return
	}
	for _, use := range k.Uses {
		for _, o := range p.offers {
			from, fits := endsWith(o.functionality, use)
			if o.do == "call" && fits && !p.s.avoided(o.functionality) {
				p.calls(o, title(from))
			}
		}
	}
}

// delegate hands the work to the app of the first use.
func (p *planned) delegate(k *Skill) bool {
	if len(k.Uses) == 0 {
		return false
	}
	for _, o := range p.offers {
		for _, app := range o.apps {
			if o.do == "delegate" && slices.Equal(words(app)[:1], words(k.Uses[0])[:1]) && !p.s.avoided(app) {
				p.step(o, map[string]any{"app": app, "task": p.s.task, "inputs": []any{}}, shown{label: app})
				return true
			}
		}
	}
	return false
}

// calls adds a call of o for each app that the user named, or one that names
// none.
func (p *planned) calls(o offer, label string) {
	args := p.args(o.args)
	apps := slices.DeleteFunc(slices.Clone(o.apps), func(app string) bool {
		return !named(p.s.task, app) || p.s.avoided(app)
	})
	at := shown{label: label, pointer: p.s.skill.Shows}
	if len(apps) == 0 {
		p.step(o, map[string]any{"functionality": o.functionality, "args": args}, at)
	}
	for _, app := range apps {
		at.label = title(words(app))
		p.step(o, map[string]any{"functionality": o.functionality, "args": args, "app": app}, at)
	}
}

func (p *planned) args(at schema) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, param := range at.parameters() {
		if text, ok := p.s.known(param.name); ok {
			out[param.name] = literal(param.schema, text)
		} else if param.required {
			out[param.name] = literal(param.schema, "")
		}
	}
	return out
}

// literal writes text as the first alternative of a value's schema that is a
// plain type.
func literal(at schema, text string) json.RawMessage {
	for _, a := range at.alternatives() {
		if a.is("string") || a.is("number") || a.is("integer") || a.is("boolean") {
			return a.value(text)
		}
	}
	return at.value(text)
}

func (p *planned) step(o offer, step map[string]any, at shown) {
	at.step = fmt.Sprintf("s%d", len(p.steps)+1)
	step["id"], step["do"] = at.step, o.do
	p.steps = append(p.steps, step)
	p.shown = append(p.shown, at)
}

func (p *planned) also(d Also) {
	for _, o := range p.offers {
		if o.do != "call" || !named(o.functionality, d.Name) {
			continue
		}
		args := p.args(o.args)
		if d.Args != nil {
			_ = json.Unmarshal(d.Args, &args) // what is no object leaves them as they are
		}
		p.step(o, map[string]any{"functionality": o.functionality, "args": args}, shown{label: o.functionality})
		return
	}
}

// withoutApp is the one step of a plan that needs no app.
func (p *planned) withoutApp() {
	for _, o := range p.offers {
		if o.do == "decide" {
			p.step(o, map[string]any{"question": p.s.question(), "inputs": []any{}}, shown{})
			return
		}
	}
}

func (s *situation) question() string {
	if s.task != "" {
		return s.task
	}
	return "What does the user want?"
}

// json is the plan. The answer is what its one step gave, or a line a step.
func (p *planned) json() json.RawMessage {
	if len(p.steps) == 0 {
		p.withoutApp()
	}
	var parts []any
	for i, at := range p.shown {
		if label := at.label; label != "" && len(p.shown) > 1 {
			if i > 0 {
				label = "\n" + label
			}
			parts = append(parts, label+": ")
		}
		parts = append(parts, map[string]string{"step": at.step, "pointer": at.pointer})
	}
	var answer any = map[string]any{"template": parts}
	if len(parts) == 1 {
		answer = parts[0]
	}
	if len(parts) == 0 {
		answer = p.s.say()
	}
	return mustJSON(map[string]any{"steps": slices.Concat([]map[string]any{}, p.steps), "answer": answer})
}
