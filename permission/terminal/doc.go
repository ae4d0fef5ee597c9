// Package terminal asks for consent on a plain terminal.
//
// A [Prompter] guarantees that text which an app or anybody else wrote stands
// only to the right of a bar ("|"), on lines that the prompter began, with
// everything invisible written out; that every value of the payload can be read
// in full; that Enter, the end of input, and whatever is not an offered key
// denies or asks again; and that what was typed before the dialog stood for half
// a second is thrown away. It uses no colour and moves no cursor, so it reads the
// same on any terminal and aloud. It does not guarantee that other output of the
// program stays out of the dialog: that is the embedding program's part.
//
//	gate, err := permission.NewGate(permission.Config{
//		Prompter: terminal.New(os.Stdin, os.Stderr),
//		Store:    store,
//		Policy:   permission.Balanced(),
//	})
//
// Trust boundary: the request's structure is the gate's; every string in it is
// untrusted. What is typed is the person's.
//
// # Source
//
// Paper Fig. 4; design, consent page, section 3 (twenty rules for prompters).
package terminal
