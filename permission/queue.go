package permission

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// errStuck is for a question behind one whose prompter did not return.
var errStuck = errors.New("the prompter is still busy with a question that has ended")

// queues let one prompt of each user through at a time, in order of arrival, and
// number them: a row of prompts begins when nobody waits. No user waits for
// another.
type queues struct {
	mu   sync.Mutex
	rows map[string]*row // by user; there while one of the user is being asked
}

// row is one user's.
type row struct {
	stuck   bool
	waiting []chan error
	shown   int // prompts of this row that were shown or given up
}

func newQueues() *queues { return &queues{rows: map[string]*row{}} }

// enter waits for the user's turn. When it returns nil, leave must be called.
func (q *queues) enter(ctx context.Context, user string) error {
	q.mu.Lock()
	r := q.rows[user]
	if r == nil {
		q.rows[user] = &row{}
		q.mu.Unlock()
		return nil
	}
	if r.stuck {
		q.mu.Unlock()
		return errStuck
	}
	turn := make(chan error, 1)
	r.waiting = append(r.waiting, turn)
	q.mu.Unlock()
	select {
	case err := <-turn:
		return err
	case <-ctx.Done():
		return q.giveUp(ctx, user, turn)
	}
}

// giveUp takes turn out of the row. If the turn came in the meantime it is
// passed on.
func (q *queues) giveUp(ctx context.Context, user string, turn chan error) error {
	if !q.withdraw(user, turn) {
		if err := <-turn; err == nil {
			q.leave(user)
		}
	}
	return context.Cause(ctx)
}

// withdraw says whether turn was still waiting.
func (q *queues) withdraw(user string, turn chan error) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.rows[user]
	if r == nil {
		return false
	}
	i := slices.Index(r.waiting, turn)
	if i >= 0 {
		r.waiting = slices.Delete(r.waiting, i, i+1)
	}
	return i >= 0
}

// place counts a prompt that is about to be shown: 2 of 5. The caller has the
// turn.
func (q *queues) place(user string) (index, of int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.rows[user]
	r.shown++
	return r.shown, r.shown + len(r.waiting)
}

// leave lets the user's next one through. The caller has the turn.
func (q *queues) leave(user string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.rows[user]
	r.stuck = false
	if len(r.waiting) == 0 {
		delete(q.rows, user)
		return
	}
	next := r.waiting[0]
	r.waiting = r.waiting[1:]
	next <- nil
}

// block turns all of the user away until leave: the prompter hangs. The caller
// has the turn.
func (q *queues) block(user string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.rows[user]
	r.stuck = true
	for _, turn := range r.waiting {
		turn <- errStuck
	}
	r.waiting = nil
}

// usedIDs remembers the last requests that are over, to tell an answer given
// twice from an answer to nothing.
type usedIDs struct {
	mu  sync.Mutex
	ids []string
}

const maxUsed = 256

func (u *usedIDs) add(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ids = append(u.ids, id)
	if len(u.ids) > maxUsed {
		u.ids = slices.Delete(u.ids, 0, len(u.ids)-maxUsed)
	}
}

func (u *usedIDs) has(id string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Contains(u.ids, id)
}
