package permission

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// errStuck is for a question behind one whose prompter did not return.
var errStuck = errors.New("the prompter is still busy with a question that has ended")

// queue lets one prompt through at a time, in order of arrival, and numbers
// them: a row of prompts begins when nobody waits.
type queue struct {
	mu      sync.Mutex
	busy    bool
	stuck   bool
	waiting []chan error
	shown   int // prompts of this row that were shown or given up
}

func newQueue() *queue { return &queue{} }

// enter waits for its turn. When it returns nil, leave must be called.
func (q *queue) enter(ctx context.Context) error {
	q.mu.Lock()
	if q.stuck {
		q.mu.Unlock()
		return errStuck
	}
	if !q.busy {
		q.busy = true
		q.mu.Unlock()
		return nil
	}
	turn := make(chan error, 1)
	q.waiting = append(q.waiting, turn)
	q.mu.Unlock()
	select {
	case err := <-turn:
		return err
	case <-ctx.Done():
		return q.giveUp(ctx, turn)
	}
}

// giveUp takes turn out of the row. If the turn came in the meantime it is
// passed on.
func (q *queue) giveUp(ctx context.Context, turn chan error) error {
	q.mu.Lock()
	i := slices.Index(q.waiting, turn)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	q.mu.Unlock()
	if i < 0 {
		if err := <-turn; err == nil {
			q.leave()
		}
	}
	return context.Cause(ctx)
}

// place counts a prompt that is about to be shown: 2 of 5.
func (q *queue) place() (index, of int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shown++
	return q.shown, q.shown + len(q.waiting)
}

// leave lets the next one through.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stuck = false
	if len(q.waiting) == 0 {
		q.busy, q.shown = false, 0
		return
	}
	next := q.waiting[0]
	q.waiting = q.waiting[1:]
	next <- nil
}

// block turns everybody away until leave: the prompter hangs.
func (q *queue) block() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stuck = true
	for _, turn := range q.waiting {
		turn <- errStuck
	}
	q.waiting = nil
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
