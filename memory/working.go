package memory

import (
	"context"
	"slices"
)

// WorkingMemory is what is at hand when a request begins: the latest summary and
// the newest turns.
//
// Source: paper §IV-A3, App. A-C.
type WorkingMemory struct {
	// Summary is the latest summary, or nil.
	Summary *Record
	// Turns are the newest turns, oldest first.
	Turns []Record
}

// Working reads the working memory of view: the latest summary and the newest n
// turns. With n below one there are no turns.
func Working(ctx context.Context, view View, n int) (WorkingMemory, error) {
	var out WorkingMemory
	summaries, err := view.Records(ctx, Query{Kind: Summary, Last: 1})
	if err != nil {
		return WorkingMemory{}, err
	}
	if len(summaries) > 0 {
		out.Summary = &summaries[0]
	}
	if n < 1 {
		return out, nil
	}
	out.Turns, err = view.Records(ctx, Query{Kind: Turn, Last: n})
	if err != nil {
		return WorkingMemory{}, err
	}
	return out, nil
}

// Entities reads the entities of view by name. Of several records of one name
// the latest counts, but what is not trusted never displaces what is: an app
// cannot rewrite what the user said.
func Entities(ctx context.Context, view View) (map[string]Record, error) {
	records, err := view.Records(ctx, Query{Kind: Entity})
	if err != nil {
		return nil, err
	}
	out := make(map[string]Record, len(records))
	for _, r := range records {
		if old, ok := out[r.Key]; ok && old.Label.IsTrusted() && !r.Label.IsTrusted() {
			continue
		}
		out[r.Key] = r
	}
	return out, nil
}

// since are the turns that are newer than the summary.
func since(turns []Record, summary *Record) []Record {
	if summary == nil {
		return turns
	}
	return slices.DeleteFunc(turns, func(r Record) bool { return !r.Time.After(summary.Time) })
}
