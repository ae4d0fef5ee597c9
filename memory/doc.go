// Package memory keeps what the hub and each spoke remember of a user, each in a
// scope of its own.
//
// A [Memory] guarantees that a record is read and removed only through the scope
// it was stored in, that nothing is shared with the caller, and that a record
// keeps the label it came with. It does not guarantee that what is remembered is
// true: what an app said stays what that app said, and a label is how to tell.
//
//	m := memory.InMemory()
//	view := memory.NewView(m, memory.AppScope("alice", "app.travel"))
//	err := view.Append(ctx, memory.Record{
//		Kind: memory.Entity, Key: "travel.return_date",
//		Value: json.RawMessage(`"2026-12-24"`), Label: isc.UserLabel(), Time: time.Now(),
//	})
//
// Trust boundary: scopes are made by the hub alone. A spoke gets a [View], which
// cannot name another scope; values may be an app's words.
//
// # Source
//
// Paper §IV-A3, §IV-B3 and App. A-C: full history, summaries and entities, the
// working memory, one memory for each spoke.
package memory
