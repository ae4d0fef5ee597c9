package planner_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/planner"
)

const (
	list  = `{"id":"m","do":"call","functionality":"mail.list","args":{}}`
	read  = `{"id":"n","do":"call","functionality":"note.read","args":{"name":"x"}}`
	write = `{"id":"w","do":"decide","question":"Write a letter","inputs":[]}`
)

func plan(answer string, steps ...string) string {
	out := `{"steps":[`
	for i, s := range steps {
		if i > 0 {
			out += ","
		}
		out += s
	}
	return out + `],"answer":` + answer + `}`
}

// TestValidateFinds has one case for every kind of problem.
func TestValidateFinds(t *testing.T) {
	ref := func(s string) string { return `{"step":"` + s + `","pointer":""}` }
	fare := func(args string) string {
		return `{"id":"f","do":"call","functionality":"ride.fare","args":` + args + `}`
	}
	send := func(args string) string {
		return `{"id":"s","do":"call","functionality":"mail.send","args":` + args + `}`
	}
	when := func(guard string) string {
		return `{"id":"s","do":"call","functionality":"mail.send","args":{"to":"bob","body":"hi"},"when":` + guard + `}`
	}
	for name, c := range map[string]struct {
		plan string
		code planner.Code
		step string
		at   string
	}{
		"no answer at all":            {plan(`"It is 12."`), planner.CodeNoAnswer, "", "/answer"},
		"answer from nothing":         {plan(`"It is 12."`, list), planner.CodeNoAnswer, "", "/answer"},
		"bad id":                      {plan(ref("X"), `{"id":"X","do":"decide","question":"q"}`), planner.CodeBadID, "X", "/id"},
		"one id twice":                {plan(ref("m"), list, list), planner.CodeDuplicateID, "m", "/id"},
		"unknown functionality":       {plan(ref("a"), `{"id":"a","do":"call","functionality":"ride.book","args":{}}`), planner.CodeUnknownFunctionality, "a", "/functionality"},
		"app does not serve it":       {plan(ref("a"), `{"id":"a","do":"call","functionality":"ride.fare","app":"mail","args":{"from":"a","to":"b"}}`), planner.CodeUnknownApp, "a", "/app"},
		"unknown app":                 {plan(ref("a"), `{"id":"a","do":"delegate","app":"nobody","task":"t"}`), planner.CodeUnknownApp, "a", "/app"},
		"app without agent":           {plan(ref("a"), `{"id":"a","do":"delegate","app":"notes","task":"t"}`), planner.CodeNoAgent, "a", "/app"},
		"unknown specialist":          {plan(ref("a"), `{"id":"a","do":"decide","question":"q","spoke":"doctor"}`), planner.CodeUnknownSpoke, "a", "/spoke"},
		"reference to nothing":        {plan(ref("z"), list), planner.CodeUnknownStep, "", "/answer"},
		"reference to later":          {plan(ref("a"), `{"id":"a","do":"decide","question":"q","inputs":[{"step":"m","pointer":""}]}`, list), planner.CodeLaterStep, "a", "/inputs/0"},
		"step waits for itself":       {plan(ref("a"), `{"id":"a","do":"decide","question":"q","inputs":[{"step":"a","pointer":""}]}`), planner.CodeCycle, "a", "/inputs/0"},
		"cycle of two":                {plan(ref("a"), `{"id":"a","do":"decide","question":"q","inputs":[{"step":"b","pointer":""}]}`, `{"id":"b","do":"decide","question":"q","inputs":[{"step":"a","pointer":""}]}`), planner.CodeCycle, "a", "/inputs/0"},
		"unknown memory":              {plan(ref("f"), fare(`{"from":{"memory":"den"},"to":"b"}`)), planner.CodeUnknownMemory, "f", "/args/from"},
		"unknown argument":            {plan(ref("f"), fare(`{"from":"a","to":"b","note":"x"}`)), planner.CodeUnknownArgument, "f", "/args/note"},
		"missing argument":            {plan(ref("f"), fare(`{"from":"a"}`)), planner.CodeMissingArgument, "f", "/args"},
		"wrong type":                  {plan(ref("f"), fare(`{"from":"a","to":7}`)), planner.CodeTypeMismatch, "f", "/args/to"},
		"half a seat":                 {plan(ref("f"), fare(`{"from":"a","to":"b","seats":1.5}`)), planner.CodeTypeMismatch, "f", "/args/seats"},
		"array for a string":          {plan(ref("f"), fare(`{"from":["a"],"to":"b"}`)), planner.CodeTypeMismatch, "f", "/args/from"},
		"object for a string":         {plan(ref("f"), fare(`{"from":{"object":{"x":1}},"to":"b"}`)), planner.CodeTypeMismatch, "f", "/args/from"},
		"template for a number":       {plan(ref("f"), fare(`{"from":"a","to":"b","seats":{"template":["1"]}}`)), planner.CodeTypeMismatch, "f", "/args/seats"},
		"list for a string":           {plan(ref("f"), list, fare(`{"from":{"step":"m","pointer":"/mails"},"to":"b"}`)), planner.CodeTypeMismatch, "f", "/args/from"},
		"not in the enum":             {plan(ref("f"), fare(`{"from":"a","to":"b","class":"gold"}`)), planner.CodeBadLiteral, "f", "/args/class"},
		"no date":                     {plan(ref("s"), write, send(`{"to":"bob","body":{"step":"w","pointer":""},"on":"tomorrow"}`)), planner.CodeBadLiteral, "s", "/args/on"},
		"refused by the whole format": {plan(ref("s"), `{"id":"s","do":"call","functionality":"mail.delete","args":{"id":"not-a-uuid"}}`), planner.CodeBadLiteral, "s", "/args"},
		"impossible pointer":          {plan(`{"step":"m","pointer":"/letters"}`, list), planner.CodeBadPointer, "", "/answer"},
		"member of an array":          {plan(`{"step":"m","pointer":"/mails/subject"}`, list), planner.CodeBadPointer, "", "/answer"},
		"pointer without slash":       {plan(`{"step":"m","pointer":"mails"}`, list), planner.CodeBadPointer, "", "/answer"},
		"number in a pointer":         {plan(`{"step":"m","pointer":"/mails/0/subject"}`, list), planner.CodeNumberInPointer, "", "/answer"},
		"one without star":            {plan(`{"step":"m","pointer":"/mails","one":true}`, list), planner.CodeBadOne, "", "/answer"},
		"item outside each":           {plan(ref("f"), fare(`{"from":{"item":""},"to":"b"}`)), planner.CodeItemOutsideEach, "f", "/args/from"},
		"item in the answer":          {plan(`[{"item":""},{"step":"m","pointer":""}]`, list), planner.CodeItemOutsideEach, "", "/answer/0"},
		"bad pointer in item":         {plan(ref("f"), list, `{"id":"f","do":"call","functionality":"ride.fare","each":{"step":"m","pointer":"/mails"},"at_most":3,"args":{"from":{"item":"/nope"},"to":"b"}}`), planner.CodeBadPointer, "f", "/args/from"},
		"each over no array":          {plan(ref("f"), list, `{"id":"f","do":"call","functionality":"ride.fare","each":{"step":"m","pointer":""},"at_most":3,"args":{"from":"a","to":"b"}}`), planner.CodeEachNoArray, "f", "/each"},
		"each without bound":          {plan(ref("f"), list, `{"id":"f","do":"call","functionality":"ride.fare","each":{"step":"m","pointer":"/mails"},"args":{"from":"a","to":"b"}}`), planner.CodeNoBound, "f", "/at_most"},
		"array without bound":         {plan(ref("a"), `{"id":"a","do":"decide","question":"q","format":{"type":"array","items":{"type":"number"}}}`), planner.CodeNoBound, "a", "/format/max_items"},
		"delegate without bound":      {plan(ref("a"), `{"id":"a","do":"delegate","task":"t","may":["note.read"]}`), planner.CodeNoBound, "a", "/at_most"},
		"guard over free text":        {plan(ref("s"), list, when(`{"op":"eq","a":{"step":"m","pointer":"/mails/*/subject","one":true},"b":"x"}`)), planner.CodeFreeText, "s", "/when/a"},
		"guard over words":            {plan(ref("s"), write, when(`{"op":"eq","a":{"step":"w","pointer":""},"b":"x"}`)), planner.CodeFreeText, "s", "/when/a"},
		"guard over an array":         {plan(ref("s"), list, when(`{"op":"eq","a":{"step":"m","pointer":"/mails/*/size"},"b":1}`)), planner.CodeFreeText, "s", "/when/a"},
		"guard over memory":           {plan(ref("s"), when(`{"op":"eq","a":{"memory":"home"},"b":"x"}`)), planner.CodeFreeText, "s", "/when/a"},
		"no order of booleans":        {plan(ref("s"), list, when(`{"op":"lt","a":{"step":"m","pointer":"/mails/*/unread","one":true},"b":true}`)), planner.CodeNoOrder, "s", "/when"},
		"never equal":                 {plan(ref("s"), list, when(`{"op":"eq","a":{"step":"m","pointer":"/mails/*/size","one":true},"b":"big"}`)), planner.CodeTypeMismatch, "s", "/when"},
		"guard that cannot hold":      {plan(ref("s"), when(`{"op":"gt","a":1,"b":2}`)), planner.CodeUnreachable, "s", "/when"},
		"guard on no choice":          {plan(ref("s"), list, when(`{"op":"and","of":[{"op":"present","a":{"step":"m","pointer":""}},{"op":"eq","a":{"step":"m","pointer":"/mails/*/kind","one":true},"b":"spam"}]}`)), planner.CodeUnreachable, "s", "/when"},
		"where over free text":        {plan(ref("a"), list, `{"id":"a","do":"where","from":{"step":"m","pointer":"/mails"},"field":"/subject","op":"eq","value":"x"}`), planner.CodeFreeText, "a", "/field"},
		"where over no array":         {plan(ref("a"), list, `{"id":"a","do":"where","from":{"step":"m","pointer":""},"field":"/size","op":"eq","value":1}`), planner.CodePickNoArray, "a", "/from"},
		"where on no field":           {plan(ref("a"), list, `{"id":"a","do":"where","from":{"step":"m","pointer":"/mails"},"field":"/nope","op":"eq","value":1}`), planner.CodeBadPointer, "a", "/field"},
		"best of free text":           {plan(ref("a"), list, `{"id":"a","do":"best","from":{"step":"m","pointer":"/mails"},"field":"/from","most":"largest"}`), planner.CodeFreeText, "a", "/field"},
		"latest number":               {plan(ref("a"), list, `{"id":"a","do":"best","from":{"step":"m","pointer":"/mails"},"field":"/size","most":"latest"}`), planner.CodeNoOrder, "a", "/field"},
		"pick from no array":          {plan(ref("a"), list, `{"id":"a","do":"decide","question":"q","inputs":[],"format":{"pick":{"step":"m","pointer":""}}}`), planner.CodePickNoArray, "a", "/format/pick"},
		"written target":              {plan(ref("s"), write, send(`{"to":{"step":"w","pointer":""},"body":"x"}`)), planner.CodeWrittenTarget, "s", "/args/to"},
		"written target by template":  {plan(ref("s"), write, send(`{"to":{"template":["mr ",{"step":"w","pointer":""}]},"body":"x"}`)), planner.CodeWrittenTarget, "s", "/args/to"},
		"written target in an array":  {plan(ref("s"), write, send(`{"to":"bob","body":"x","cc":[{"step":"w","pointer":""}]}`)), planner.CodeWrittenTarget, "s", "/args/cc/0"},
		"written target as an array":  {plan(ref("s"), `{"id":"w","do":"decide","question":"q","format":{"type":"array","max_items":3,"items":{"type":"string"}}}`, send(`{"to":"bob","body":"x","cc":{"step":"w","pointer":""}}`)), planner.CodeWrittenTarget, "s", "/args/cc"},
		"target from a sub-task":      {plan(ref("s"), `{"id":"w","do":"delegate","app":"mail","task":"t"}`, send(`{"to":{"step":"w","pointer":""},"body":"x"}`)), planner.CodeWrittenTarget, "s", "/args/to"},
		"free text in a question":     {plan(ref("a"), list, `{"id":"a","do":"ask","question":{"template":["Is it ",{"step":"m","pointer":"/mails/*/subject","one":true},"?"]}}`), planner.CodeFreeText, "a", "/question"},
		"question that is a number":   {plan(ref("a"), `{"id":"a","do":"ask","question":7}`), planner.CodeBadTemplate, "a", "/question"},
		"object of nothing":           {plan(ref("a"), `{"id":"a","do":"decide","question":"q","format":{"type":"object","fields":{}}}`), planner.CodeBadShape, "a", "/format/fields"},
		"unknown format":              {plan(ref("a"), `{"id":"a","do":"decide","question":"q","format":{"type":"string","format":"colour"}}`), planner.CodeBadShape, "a", "/format/format"},
		"found in nothing":            {plan(ref("a"), `{"id":"a","do":"decide","question":"q","format":{"type":"string","found":true}}`), planner.CodeBadShape, "a", "/format/found"},
		"a choice of prose":           {plan(ref("a"), `{"id":"a","do":"decide","question":"q","format":{"type":"string","enum":["a\nb"]}}`), planner.CodeBadShape, "a", "/format/enum"},
	} {
		t.Run(name, func(t *testing.T) {
			checked, problems := decode(t, c.plan).Validate(rideCatalogue(t), planner.ValidateInput{MemoryKeys: []string{"home"}})
			require.Nil(t, checked)
			require.Len(t, problems, 1, "%v", problems)
			require.Equal(t, c.code, problems[0].Code, problems[0])
			require.Equal(t, c.step, problems[0].Step, problems[0])
			require.Equal(t, c.at, problems[0].Pointer, problems[0])
			require.NotEmpty(t, problems[0].Text)
		})
	}
}

func TestValidateReportsAllAtOnceInOrder(t *testing.T) {
	p := decode(t, plan(`{"step":"z","pointer":""}`,
		`{"id":"a","do":"call","functionality":"nope","args":{"x":{"step":"y","pointer":""}}}`,
		`{"id":"b","do":"call","functionality":"ride.fare","args":{"to":7,"zz":1}}`))
	_, problems := p.Validate(rideCatalogue(t), planner.ValidateInput{})
	var codes []planner.Code
	for _, p := range problems {
		codes = append(codes, p.Code)
	}
	require.Equal(t, []planner.Code{
		planner.CodeUnknownFunctionality, planner.CodeUnknownStep, planner.CodeTypeMismatch,
		planner.CodeUnknownArgument, planner.CodeMissingArgument, planner.CodeUnknownStep,
	}, codes)
}

func TestValidPlansAreAccepted(t *testing.T) {
	for name, raw := range map[string]string{
		"no app":              plan(`{"step":"w","pointer":""}`, write),
		"nobody installed":    plan(`{"step":"a","pointer":"/text"}`, `{"id":"a","do":"call","functionality":"weather.day","args":{}}`),
		"found target":        plan(`{"step":"s","pointer":""}`, list, `{"id":"d","do":"decide","question":"Whom?","inputs":[{"step":"m","pointer":""}],"format":{"type":"string","found":true}}`, `{"id":"s","do":"call","functionality":"mail.send","args":{"to":{"step":"d","pointer":""},"body":"x"}}`),
		"picked target":       plan(`{"step":"s","pointer":""}`, list, `{"id":"d","do":"decide","question":"Which?","inputs":[{"step":"m","pointer":"/mails/*/subject"}],"format":{"nullable":true,"pick":{"step":"m","pointer":"/mails"}}}`, `{"id":"s","do":"call","functionality":"mail.delete","args":{"id":{"step":"d","pointer":"/id"}}}`),
		"target by where":     plan(`{"step":"s","pointer":""}`, list, `{"id":"d","do":"where","from":{"step":"m","pointer":"/mails"},"field":"/kind","op":"eq","value":"news"}`, `{"id":"s","do":"call","functionality":"mail.delete","each":{"step":"d","pointer":""},"at_most":5,"args":{"id":{"item":"/id"}}}`),
		"in":                  plan(`{"step":"d","pointer":""}`, list, `{"id":"d","do":"where","from":{"step":"m","pointer":"/mails"},"field":"/kind","op":"in","value":["news","note"]}`),
		"latest":              plan(`{"step":"d","pointer":"/subject"}`, list, `{"id":"d","do":"best","from":{"step":"m","pointer":"/mails"},"field":"/day","most":"latest"}`),
		"dates after a date":  plan(`{"step":"d","pointer":""}`, list, `{"id":"d","do":"where","from":{"step":"m","pointer":"/mails"},"field":"/day","op":"ge","value":"2026-05-01"}`),
		"dates before today":  plan(`{"step":"d","pointer":""}`, list, `{"id":"d","do":"where","from":{"step":"m","pointer":"/mails"},"field":"/day","op":"lt","value":{"memory":"today"}}`),
		"ask, then act":       plan(`"Done."`, `{"id":"a","do":"ask","question":"Send it?","format":{"type":"boolean"}}`, `{"id":"s","do":"call","functionality":"mail.send","args":{"to":"bob","body":"x"},"when":{"op":"eq","a":{"step":"a","pointer":""},"b":true}}`),
		"memory":              plan(`{"step":"f","pointer":"/fare"}`, `{"id":"f","do":"call","functionality":"ride.fare","app":"quick-ride","args":{"from":{"memory":"home"},"to":"b"}}`),
		"array of the answer": plan(`[{"step":"m","pointer":"/mails/*/subject"},{"step":"m","pointer":"/mails/*/from","one":true}]`, list),
		"delegate":            plan(`{"step":"d","pointer":""}`, `{"id":"d","do":"delegate","app":"mail","task":"Summarize","may":["note.read"],"at_most":4}`),
		"specialist":          plan(`{"step":"d","pointer":""}`, `{"id":"d","do":"decide","question":"q","spoke":"careful"}`),
	} {
		t.Run(name, func(t *testing.T) {
			checked, problems := decode(t, raw).Validate(rideCatalogue(t), planner.ValidateInput{MemoryKeys: []string{"home"}})
			require.Empty(t, problems)
			require.NotEmpty(t, checked.Order())
		})
	}
}

func TestValidateDropsAndFolds(t *testing.T) {
	p := decode(t, plan(`{"step":"c","pointer":""}`, list,
		`{"id":"m2","do":"call","functionality":"mail.list","args":{}}`,
		`{"id":"unused","do":"decide","question":"q","inputs":[{"step":"m2","pointer":""}]}`,
		`{"id":"b","do":"decide","question":"Which?","inputs":[{"step":"m","pointer":""}]}`,
		`{"id":"c","do":"decide","question":"Which?","inputs":[{"step":"m2","pointer":""}]}`))
	checked, problems := p.Validate(rideCatalogue(t), planner.ValidateInput{})
	require.Empty(t, problems)
	require.Equal(t, []string{"m", "b"}, checked.Order())
	require.Equal(t, planner.Ref{Step: "b"}, checked.Plan().Answer)
	var notes []string
	for _, n := range checked.Notes() {
		notes = append(notes, string(n.Code)+" "+n.Step)
	}
	require.Equal(t, []string{"folded m2", "folded c", "dropped unused"}, notes)
	require.Len(t, p.Steps, 5, "the caller's plan stays as it is")
}

func TestReadAfterAChangeIsNotFolded(t *testing.T) {
	checked, problems := decode(t, plan(`[{"step":"m","pointer":""},{"step":"m2","pointer":""}]`, list,
		`{"id":"s","do":"call","functionality":"mail.send","args":{"to":"bob","body":"x"}}`,
		`{"id":"m2","do":"call","functionality":"mail.list","args":{}}`,
		`{"id":"s2","do":"call","functionality":"mail.send","args":{"to":"bob","body":"x"}}`)).Validate(rideCatalogue(t), planner.ValidateInput{})
	require.Empty(t, problems)
	require.Equal(t, []string{"m", "s", "m2"}, checked.Order())
	require.Equal(t, []string{"m"}, checked.After("s"), "a change waits for earlier steps of its app")
	require.Equal(t, []string{"s"}, checked.After("m2"), "a step waits for earlier changes of its app")
	require.Equal(t, []planner.Edge{{From: "m", To: "s", Kind: planner.EdgeEffect}, {From: "s", To: "m2", Kind: planner.EdgeEffect}}, checked.Edges())
	require.Equal(t, []string{"s"}, checked.Changes())
}

func TestMixedFreeTextIsNoted(t *testing.T) {
	both := `{"id":"d","do":"decide","question":"q","inputs":[{"step":"m","pointer":"%s"},{"step":"n","pointer":""}]}`
	for pointer, want := range map[string][]string{"/mails/*/subject": {"m", "n"}, "/mails/*/size": nil} {
		raw := plan(`{"step":"d","pointer":""}`, list, read, replace(both, pointer))
		checked, problems := decode(t, raw).Validate(rideCatalogue(t), planner.ValidateInput{})
		require.Empty(t, problems)
		require.Equal(t, want, checked.Mixed("d"), pointer)
		require.Equal(t, want != nil, len(checked.Notes()) == 1)
	}
}

func replace(format, arg string) string {
	out := ""
	for i := 0; i < len(format); i++ {
		if i+1 < len(format) && format[i] == '%' && format[i+1] == 's' {
			out += arg
			i++
			continue
		}
		out += string(format[i])
	}
	return out
}

func TestFlowsSayWhatGoesWhere(t *testing.T) {
	checked, problems := decode(t, plan(`{"step":"s","pointer":"/ok"}`, read, list,
		`{"id":"d","do":"decide","question":"Sum up","inputs":[{"step":"n","pointer":"/text"}]}`,
		`{"id":"b","do":"decide","question":"Whose?","inputs":[{"step":"m","pointer":""}],"format":{"pick":{"step":"m","pointer":"/mails"}}}`,
		`{"id":"y","do":"ask","question":"Which day?","format":{"type":"string","format":"date"}}`,
		`{"id":"s","do":"call","functionality":"mail.send","args":{"to":{"step":"b","pointer":"/from"},"body":{"step":"d","pointer":""},"on":{"step":"y","pointer":""},"cc":["ann"]},"when":{"op":"eq","a":{"step":"b","pointer":"/unread"},"b":true}}`)).
		Validate(rideCatalogue(t), planner.ValidateInput{})
	require.Empty(t, problems)
	got := map[string]planner.Flow{}
	for _, f := range checked.Flows() {
		if f.To == "s" {
			got[f.Argument] = f
		}
	}
	require.Equal(t, map[string]planner.Flow{
		"/body": {To: "s", Argument: "/body", Role: isc.Payload, From: []string{"n"}, Control: []string{"m"}},
		"/cc":   {To: "s", Argument: "/cc", Role: got["/cc"].Role, Literal: json.RawMessage(`["ann"]`), Control: []string{"m"}},
		"/on":   {To: "s", Argument: "/on", Role: isc.Payload, Asked: []string{"y"}, Control: []string{"m"}},
		"/to":   {To: "s", Argument: "/to", Role: isc.Destination, From: []string{"m"}, Control: []string{"m"}},
	}, got)
	require.Equal(t, []isc.AppID{"mail"}, checked.Primary())
	require.Equal(t, []isc.AppID{"notes"}, checked.Secondary())
	require.Equal(t, []isc.AppID{"mail"}, checked.Candidates("s"))
	e, ok := checked.Entry("s")
	require.True(t, ok)
	require.Equal(t, "mail.send", e.Name)
}

func TestIndependentStepsDoNotWait(t *testing.T) {
	checked, problems := decode(t, plan(`[{"step":"a","pointer":"/fare"},{"step":"b","pointer":"/fare"}]`,
		`{"id":"a","do":"call","functionality":"ride.fare","app":"metro-hail","args":{"from":"a","to":"b"}}`,
		`{"id":"b","do":"call","functionality":"ride.fare","app":"quick-ride","args":{"from":"a","to":"b"}}`)).
		Validate(rideCatalogue(t), planner.ValidateInput{})
	require.Empty(t, problems)
	require.Empty(t, checked.Edges())
	require.Equal(t, []isc.AppID{"metro-hail", "quick-ride"}, checked.Primary())
}

// TestOnlyACheckedPlanHasSteps holds that nothing can be executed that did not
// validate: the zero value, and nil, do nothing.
func TestOnlyACheckedPlanHasSteps(t *testing.T) {
	for _, c := range []*planner.Checked{nil, {}} {
		require.Empty(t, c.Order())
		require.Empty(t, c.Plan().Steps)
		require.Nil(t, c.Plan().Answer)
		require.Empty(t, c.After("a"))
		require.Empty(t, c.Flows())
		require.Empty(t, c.Changes())
		_, ok := c.Entry("a")
		require.False(t, ok)
	}
	var p *planner.Plan
	checked, problems := p.Validate(rideCatalogue(t), planner.ValidateInput{})
	require.Nil(t, checked)
	require.NotEmpty(t, problems)
}

// TestCheckedPlanIsNotSharedWithTheCaller holds that what was checked cannot be
// changed afterwards, by the caller's copy or by what is handed out.
func TestCheckedPlanIsNotSharedWithTheCaller(t *testing.T) {
	p := decode(t, plan(`{"step":"s","pointer":""}`, `{"id":"s","do":"call","functionality":"mail.send","args":{"to":"bob","body":"x"}}`))
	checked, problems := p.Validate(rideCatalogue(t), planner.ValidateInput{})
	require.Empty(t, problems)
	before, err := json.Marshal(checked.Plan())
	require.NoError(t, err)
	for _, q := range []*planner.Plan{p, checked.Plan()} {
		call, ok := q.Steps[0].Do.(planner.Call)
		require.True(t, ok)
		call.Args["to"] = planner.Literal{JSON: json.RawMessage(`"eve"`)}
	}
	checked.Flows()[0].Literal[0] = 'x'
	after, err := json.Marshal(checked.Plan())
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
	require.NotContains(t, string(checked.Flows()[0].Literal), "x\"x")
}

// TestValidateNeverPanics throws arbitrary plans at it, also such as decoding
// would never make.
func TestValidateNeverPanics(t *testing.T) {
	cat := rideCatalogue(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		if rapid.Bool().Draw(rt, "broken") {
			p.Steps = append(p.Steps, rapid.SampledFrom([]planner.Step{
				{}, {ID: "x"}, {ID: "x", Do: planner.Call{}}, {ID: "x", Do: planner.Where{}}, {ID: "x", Do: planner.Best{}},
				{ID: "x", Do: planner.Ask{}}, {ID: "x", Do: planner.Decide{Answer: planner.Shape{Type: planner.ShapePick}}},
				{ID: "x", Do: planner.Decide{Question: "q", Answer: planner.Shape{Type: planner.ShapeArray}, Inputs: []planner.Value{nil}}},
				{ID: "x", Do: planner.Decide{Question: "q", Inputs: []planner.Value{planner.Literal{}, planner.Literal{JSON: json.RawMessage("{")}}}},
				{ID: "x", When: planner.And{}, Do: planner.Delegate{}}, {ID: "x", When: planner.Not{}}, {ID: "x", When: planner.Compare{}},
			}).Draw(rt, "step"))
			p.Answer = rapid.SampledFrom([]planner.Value{nil, planner.Literal{}, planner.Template{Parts: []planner.Value{nil}}, planner.Object{}, planner.Ref{}}).Draw(rt, "answer")
		}
		checked, problems := p.Validate(cat, planner.ValidateInput{})
		require.Equal(rt, checked == nil, len(problems) > 0)
		again, same := p.Validate(cat, planner.ValidateInput{})
		require.Equal(rt, problems, same)
		require.Equal(rt, checked == nil, again == nil)
		_, _ = p.Validate(nil, planner.ValidateInput{})
	})
}

// TestEachFlowsFromItsArray also holds that folding rewrites the copy alone.
func TestEachFlowsFromItsArray(t *testing.T) {
	p := decode(t, plan(`{"step":"s","pointer":""}`, list, `{"id":"m2","do":"call","functionality":"mail.list","args":{}}`,
		`{"id":"s","do":"call","functionality":"note.write","each":{"step":"m2","pointer":"/mails"},"at_most":3,"args":{"name":{"item":"/subject"},"text":{"object":{}}}}`))
	_, problems := p.Validate(rideCatalogue(t), planner.ValidateInput{})
	require.Len(t, problems, 1, "an object is no text: %v", problems)
	call, ok := p.Steps[2].Do.(planner.Call)
	require.True(t, ok)
	call.Args["text"] = planner.Template{Parts: []planner.Value{planner.Item{Pointer: "/from"}, planner.Memory{Key: "today"}}}
	checked, problems := p.Validate(rideCatalogue(t), planner.ValidateInput{})
	require.Empty(t, problems)
	require.Equal(t, planner.Ref{Step: "m2", Pointer: "/mails"}, *call.Each, "the caller's plan is not rewritten")
	require.Equal(t, []planner.Flow{
		{To: "s", Argument: "/name", Role: isc.Payload, From: []string{"m"}, Control: []string{"m"}},
		{To: "s", Argument: "/text", Role: isc.Payload, From: []string{"m"}, Control: []string{"m"}, Memory: []string{"today"}},
	}, checked.Flows())
	require.Equal(t, []string{"s"}, checked.Changes())
	require.Equal(t, []isc.AppID{"notes"}, checked.Primary())
	require.Equal(t, []isc.AppID{"mail"}, checked.Secondary())
}

func TestAPersonsOwnAnswerMaySayWhereSomethingGoes(t *testing.T) {
	form := isc.MustFormat(`{"type":"object","additionalProperties":false,"required":["to"],"properties":{"to":{"type":"string","x-isolate-role":"destination"}}}`)
	c, err := planner.NewCatalogue(planner.CatalogueConfig{Known: []isc.Functionality{{Name: "mail.send", Request: form, Response: isc.MustFormat(`{"type":"boolean"}`)}}})
	require.NoError(t, err)
	for do, problems := range map[string]int{
		`"do":"ask","question":{"template":["To whom?"]},"format":{"type":"string"}`: 0,
		`"do":"decide","question":"To whom?","inputs":[],"format":{"type":"string"}`: 1,
	} {
		p, err := planner.DecodePlan([]byte(`{"steps":[{"id":"a",` + do + `},{"id":"b","do":"call","functionality":"mail.send","args":{"to":{"step":"a","pointer":""}}}],"answer":{"template":["Sent."]}}`))
		require.NoError(t, err)
		_, got := p.Validate(c, planner.ValidateInput{})
		require.Len(t, got, problems, do)
	}
}
