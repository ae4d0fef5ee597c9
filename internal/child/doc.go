// Package child is a parent's side of a process that runs this program once
// more: how it is started, watched and ended.
//
// What it guarantees of every child, whatever that does:
//
//   - it inherits an environment, descriptors 0 to 2 and the files that were
//     named, and nothing else;
//   - it leads its own process group and is ended by a ladder that ends with
//     SIGKILL to the group; it is reaped, and of this side no descriptor and no
//     goroutine is left;
//   - on Linux it is killed when this process ends, however that ends, and its
//     being stopped by a signal is seen at once;
//   - what it writes costs bounded memory and time.
//
// It does not confine. That is what the child does to itself (package sandbox).
// On systems without Unix processes Start gives [errors.ErrUnsupported].
//
//	c, err := child.Start(child.Config{Name: "taxi", Env: []string{"A=1"}, Files: []*os.File{theirs}})
//	…
//	err = c.End(func() { ours.Close() })
//
// # Threads
//
// On Linux the signal that ends a child with its parent is sent when the thread
// that started it ends. One goroutine, locked to its thread, therefore starts all
// children. It exists from the first start until the last child was reaped.
//
// # Source
//
// Paper App. A-A (each spoke is a process). The ladder is this project's.
package child
