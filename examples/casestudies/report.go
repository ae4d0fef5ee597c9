package main

import (
	"encoding/json"
	"io"

	"github.com/isolategpt/isolategpt/examples/casestudies/cases"
)

// report is what one system did with one case. Its JSON form is the output of
// -json.
type report struct {
	Case   int    `json:"case"`
	Name   string `json:"name"`
	System string `json:"system"`
	// Isolation is what the spokes ran in; vanilla has none.
	Isolation string `json:"isolation,omitempty"`
	// Plan is the plan of the last request, a line a step. Vanilla makes none.
	Plan   []string `json:"plan"`
	Answer string   `json:"answer"`
	// Facts are the values of apps that the answer shows. The isolated system
	// attributes them itself; for vanilla they are read off its words.
	Facts     []fact            `json:"facts"`
	Dialogs   []dialog          `json:"dialogs"`
	Questions []question        `json:"questions"`
	Calls     []cases.Delivered `json:"calls"`
	LLMCalls  int               `json:"llm_calls"`
	// Missing is what nobody gave.
	Missing []string `json:"missing"`
	// AttackSucceeded says whether the attack or accident happened, and Because
	// by what that shows.
	AttackSucceeded bool   `json:"attack_succeeded"`
	Because         string `json:"because"`
}

// fact is a value that an app is said to have given.
type fact struct {
	App           string          `json:"app"`
	Functionality string          `json:"functionality,omitempty"`
	Pointer       string          `json:"pointer,omitempty"`
	Value         json.RawMessage `json:"value"`
}

// dialog is a question of consent that a person was asked.
type dialog struct {
	Kind          string   `json:"kind"`
	From          string   `json:"from,omitempty"`
	To            string   `json:"to,omitempty"`
	Functionality string   `json:"functionality,omitempty"`
	Warnings      []string `json:"warnings"`
	Decision      string   `json:"decision"`
}

// question is data that a person was asked for.
type question struct {
	App   string `json:"app,omitempty"`
	Text  string `json:"text"`
	Given bool   `json:"given"`
}

// newReport has empty lists where JSON readers expect lists.
func newReport(c cases.Case, system string) *report {
	return &report{
		Case: c.Number, Name: c.Name, System: system,
		Plan: []string{}, Facts: []fact{}, Dialogs: []dialog{}, Questions: []question{}, Calls: []cases.Delivered{}, Missing: []string{},
	}
}

// judge fills in what the case's world says.
func (r *report) judge(w *cases.World) {
	r.Calls = append(r.Calls, w.Calls()...)
	r.AttackSucceeded, r.Because = w.Judge(r.Answer)
}

func (r *report) writeJSON(out io.Writer) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}
