package hub

import (
	"encoding/json"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/planner"
)

// where keeps the elements of an array that compare. No model takes part.
func (r *run) where(do planner.Where, sc *scope, control isc.Label, out *result) error {
	array, items, err := itemsOf(do.From, sc)
	if err != nil {
		return err
	}
	against, err := sc.resolve(do.Value)
	if err != nil {
		return err
	}
	kept := []json.RawMessage{}
	for _, item := range items {
		if got, ok := isc.Get(item, do.Field); ok && compare(do.Op, got, against.json) {
			kept = append(kept, item)
		}
	}
	out.value, out.label = joinArray(kept), array.label.Join(against.label).Join(or(control, array.label))
	return nil
}

// best keeps one element of an array: the first of those with the largest or
// smallest field. Of an empty array it is absent.
func (r *run) best(do planner.Best, sc *scope, control isc.Label, out *result) error {
	array, items, err := itemsOf(do.From, sc)
	if err != nil {
		return err
	}
	op := planner.GT
	if do.Most == planner.Smallest || do.Most == planner.Earliest {
		op = planner.LT
	}
	var best, field json.RawMessage
	for _, item := range items {
		got, ok := isc.Get(item, do.Field)
		if ok && (best == nil || compare(op, got, field)) {
			best, field = item, got
		}
	}
	if best == nil {
		return errAbsent
	}
	out.value, out.label = best, array.label.Join(or(control, array.label))
	return nil
}

func itemsOf(from planner.Ref, sc *scope) (labelled, []json.RawMessage, error) {
	array, err := sc.ref(from)
	if err != nil {
		return labelled{}, nil, err
	}
	items, err := elementsOf(array.json)
	return array, items, err
}

// or is the control label, if anything controlled the step.
func or(control, otherwise isc.Label) isc.Label {
	if control == (isc.Label{}) {
		return otherwise
	}
	return control
}
