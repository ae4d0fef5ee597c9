package planner

import (
	"fmt"
	"strings"
)

// Problem is one thing that is wrong with a plan, or, in [Checked.Notes], one
// thing that was mended or should be known. Its text is made of the plan's own
// words and of checked names, never of text that an app wrote.
type Problem struct {
	Step    string // the step's id; empty for the plan as a whole and its answer
	Pointer string // JSON Pointer in the step (or the plan) as it was written
	Code    Code
	Text    string
}

// String says "step s1 /args/to: no such step: s9".
func (p Problem) String() string {
	where := "plan"
	if p.Step != "" {
		where = "step " + p.Step
	}
	if p.Pointer != "" {
		where += " " + p.Pointer
	}
	return fmt.Sprintf("%s: %s", where, p.Text)
}

// Code says which kind of problem it is. Codes are stable.
type Code string

// What makes a plan invalid.
const (
	CodeMalformed            Code = "malformed"             // not the plan language at all
	CodeTooLarge             Code = "too_large"             // over a limit of the language
	CodeNoAnswer             Code = "no_answer"             // nothing is answered
	CodeBadID                Code = "bad_id"                // a step's id is no name
	CodeDuplicateID          Code = "duplicate_id"          // two steps with one id
	CodeUnknownFunctionality Code = "unknown_functionality" // not in the catalogue
	CodeUnknownApp           Code = "unknown_app"           // not installed, or does not serve the functionality
	CodeNoAgent              Code = "no_agent"              // a sub-task for an app that takes none
	CodeUnknownSpoke         Code = "unknown_spoke"         // no such specialised vanilla spoke
	CodeUnknownStep          Code = "unknown_step"          // a reference to nothing
	CodeLaterStep            Code = "later_step"            // a reference to a later step
	CodeCycle                Code = "cycle"                 // steps that wait for one another
	CodeUnknownMemory        Code = "unknown_memory"        // no such memory key
	CodeUnknownArgument      Code = "unknown_argument"      // the request format lacks it
	CodeMissingArgument      Code = "missing_argument"      // the request format requires it
	CodeTypeMismatch         Code = "type_mismatch"         // a known type that cannot fit
	CodeBadLiteral           Code = "bad_literal"           // a literal that the format refuses
	CodeBadPointer           Code = "bad_pointer"           // the format cannot have it
	CodeNumberInPointer      Code = "number_in_pointer"     // taking the n-th hit is no choice
	CodeBadOne               Code = "bad_one"               // one without "*"
	CodeItemOutsideEach      Code = "item_outside_each"     // there is no current element
	CodeEachNoArray          Code = "each_no_array"         // each over something that is no array
	CodeNoBound              Code = "no_bound"              // each, an array or a delegate without a bound
	CodeFreeText             Code = "free_text"             // a guard, where or best over free text, or free text in a question
	CodeNoOrder              Code = "no_order"              // a comparison that has no meaning
	CodePickNoArray          Code = "pick_no_array"         // a pick from something that is no array
	CodeWrittenTarget        Code = "written_target"        // a model's own words decide where something goes
	CodeBadShape             Code = "bad_shape"             // an answer format that is none
	CodeUnreachable          Code = "unreachable"           // a guard that can never hold
	CodeBadTemplate          Code = "bad_template"          // a template part that is no text
)

// What [Checked.Notes] tells.
const (
	NoteDropped Code = "dropped"    // a step that nobody uses and that changes nothing was left out
	NoteFolded  Code = "folded"     // a step that repeats another word for word was left out
	NoteMixed   Code = "mixed_text" // free text of more than one app meets in one context: a consent of its own
)

// join is all problems, a line each.
func join(problems []Problem) string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}
