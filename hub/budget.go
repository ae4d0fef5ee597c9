package hub

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// ErrBudget says that a run used up one of its [Limits].
var ErrBudget = errors.New("hub: over budget")

// Limits bound one run. A zero field means its default.
type Limits struct {
	ModelCalls int           // turns of all models together; 64
	Tokens     int           // of all models together, in and out; 400,000
	Calls      int           // uses of functionalities; 128
	Bytes      int           // of all message bodies between hub and spokes; 16 MiB
	Depth      int           // of apps asking apps; 3
	Prompts    int           // dialogs; 20
	Strikes    int           // illegal messages of one spoke before it is closed; 8
	Messages   int           // of one spoke in one task; 256
	Parallel   int           // spokes of one app at once; 8
	Fetches    int           // requests of apps to remote hosts; 64
	Crashes    int           // lost spokes of one app in one session before it is started no more; 3
	TaskTurns  int           // model turns of one task of a spoke; 12
	TaskCalls  int           // calls and requests of one task of a spoke, and its requests to remote hosts; 32
	TaskBytes  int           // of the message bodies that a spoke sends in one task; 4 MiB
	TaskTokens int           // of one task of a spoke, in and out; 100,000
	Prompt     time.Duration // a person's time for one dialog; 2 minutes
	Silence    time.Duration // a spoke's time until its next message, its model's thinking included; 5 minutes
	Wall       time.Duration // 10 minutes
}

func (l Limits) withDefaults() Limits {
	set := func(p *int, n int) {
		if *p == 0 {
			*p = n
		}
	}
	set(&l.ModelCalls, 64)
	set(&l.Tokens, 400_000)
	set(&l.Calls, 128)
	set(&l.Bytes, 16<<20)
	set(&l.Depth, 3)
	set(&l.Prompts, 20)
	set(&l.Strikes, 8)
	set(&l.Messages, 256)
	set(&l.Parallel, 8)
	set(&l.Fetches, 64)
	set(&l.Crashes, 3)
	set(&l.TaskTurns, 12)
	set(&l.TaskCalls, 32)
	set(&l.TaskBytes, 4<<20)
	set(&l.TaskTokens, 100_000)
	for p, d := range map[*time.Duration]time.Duration{&l.Prompt: 2 * time.Minute, &l.Silence: 5 * time.Minute, &l.Wall: 10 * time.Minute} {
		if *p == 0 {
			*p = d
		}
	}
	return l
}

func (l Limits) validate() error {
	for _, n := range []int{l.ModelCalls, l.Tokens, l.Calls, l.Bytes, l.Depth, l.Prompts, l.Strikes, l.Messages, l.Parallel, l.Fetches, l.Crashes, l.TaskTurns, l.TaskCalls, l.TaskBytes, l.TaskTokens, int(l.Prompt), int(l.Silence), int(l.Wall)} {
		if n < 0 {
			return errors.New("hub: config: a limit below zero; leave it zero for the default")
		}
	}
	return nil
}

// budget counts what one run used. It is safe for concurrent use.
type budget struct {
	limits     Limits
	modelCalls atomic.Int64
	tokens     atomic.Int64
	calls      atomic.Int64
	fetches    atomic.Int64
	bytes      atomic.Int64
}

// spend adds n and says whether the limit still holds.
func spend(counter *atomic.Int64, n, limit int, what string) error {
	if counter.Add(int64(n)) > int64(limit) {
		return fmt.Errorf("%w: more than %d %s in one run", ErrBudget, limit, what)
	}
	return nil
}

// modelCall is spent before a model is called.
func (b *budget) modelCall() error {
	if b.tokens.Load() >= int64(b.limits.Tokens) {
		return fmt.Errorf("%w: more than %d tokens in one run", ErrBudget, b.limits.Tokens)
	}
	return spend(&b.modelCalls, 1, b.limits.ModelCalls, "model calls")
}

func (b *budget) call() error { return spend(&b.calls, 1, b.limits.Calls, "calls") }

func (b *budget) fetch() error {
	return spend(&b.fetches, 1, b.limits.Fetches, "requests to remote hosts")
}

func (b *budget) body(n int) error { return spend(&b.bytes, n, b.limits.Bytes, "message bytes") }

// Usage is what a run used.
type Usage struct {
	ModelCalls int
	Tokens     int
	Calls      int
}

func (b *budget) usage() Usage {
	return Usage{ModelCalls: int(b.modelCalls.Load()), Tokens: int(b.tokens.Load()), Calls: int(b.calls.Load())}
}
