package sandbox

import "github.com/isolategpt/isolategpt/internal/sandbox/filter"

// image is the one execution that the filter lets pass: by the addresses of its
// three arguments, each chosen at random among all that a process has. They end
// with the program that made them, so that the program executed cannot make that
// call again: it would have to guess all three at once.
//
// The addresses must never be told to anybody.
type image struct {
	path, args, env uint64
	thread          int // that has the signal at the parent's death, and must execute
}

// rule passes the image's execution and no other.
func (m *image) rule() filter.Rule {
	return filter.Rule{Calls: []string{"execve"}, Rest: filter.EPERM, Clauses: []filter.Clause{{
		When: []filter.Cond{
			filter.Is(0, filter.All, m.path), filter.Is(1, filter.All, m.args), filter.Is(2, filter.All, m.env),
		},
		Answer: filter.Pass,
	}}}
}
