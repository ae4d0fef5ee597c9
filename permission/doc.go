// Package permission decides what may happen, and asks the person where the
// decision is theirs.
//
// A [Gate] guarantees that nothing is allowed without a policy's rule, a grant
// that covers exactly this, or a person's answer to exactly this; that every
// doubt denies, with its own reason; that what a person was shown is what the
// answer is bound to, by id and digest; that an irreversible act is asked each
// time; and that a grant taken back counts no more from the next check on. It
// does not guarantee that the embedding program's prompter shows a request
// truly, or that the caller does what it asked about and nothing else: that is
// the hub's part.
//
//	gate, err := permission.NewGate(permission.Config{
//		Prompter: terminal.New(os.Stdin, os.Stderr),
//		Store:    permission.InMemoryStore(),
//		Policy:   permission.Balanced(),
//	})
//	session := gate.Session("alice")
//	defer session.Close()
//	run := session.Run(permission.RunConfig{})
//	if v := run.Check(ctx, question); !v.Allowed() {
//		log.Print(v.Reason)
//	}
//
// Trust boundary: the policy, the store and the prompter are the embedding
// program's and are trusted to be what they are, but not to work: their errors,
// panics and silence deny. Names, purposes and payloads in a [Question] are
// untrusted text.
//
// # Source
//
// Paper §IV-C3 and App. A-D: the three lifetimes, irreversible actions, the
// dialog with the hub's own view of the plan.
package permission
