package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/permission/terminal"
)

// prompter answers dialogs as -consent says. One prompter serves the whole
// program, since a pipe can be read ahead only once.
func (o *options) prompter() permission.ConsentPrompter {
	switch {
	case o.consent == consentAllow:
		return permission.PrompterFunc(trusting)
	case o.consent == consentDeny:
		return permission.PrompterFunc(careful)
	case o.asking == nil && isTerminal(o.in):
		o.asking = terminal.New(o.in, o.errOut)
	case o.asking == nil:
		o.asking = terminal.New(o.in, o.errOut, terminal.Pipe())
	}
	return o.asking
}

func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

var errNotGiven = errors.New("the user gives no answer")

// answer is what the person says when data is missing: nothing, unless somebody
// sits there.
func (o *options) answer(ctx context.Context, q hub.Question) (json.RawMessage, error) {
	if o.consent != consentAsk || !isTerminal(o.in) {
		return nil, errNotGiven
	}
	fmt.Fprintf(o.errOut, "%s\nYour answer, or nothing: ", q.Text)
	lines := make(chan string, 1)
	go func() { // ends with the next line, if not before
		line, _ := bufio.NewReader(o.in).ReadString('\n')
		lines <- strings.TrimSpace(line)
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case line := <-lines:
		if line == "" {
			return nil, errNotGiven
		}
		return json.Marshal(line)
	}
}
