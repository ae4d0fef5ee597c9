package langchain

import (
	"context"
	"errors"

	"github.com/isolategpt/isolategpt/llm"
)

// errBroke stops a provider whose reader broke off; nobody sees it.
var errBroke = errors.New("langchain: the reader broke off")

// stream runs the provider in a goroutine of its own, since nothing says in
// which it calls the streaming function, and waits for its end in every case.
func (m *Model) stream(ctx context.Context, t *turn, yield func(llm.Chunk, error) bool) {
	ctx2, cancel := context.WithCancel(ctx)
	texts := make(chan string)
	var res *llm.Response
	var err error
	go func() {
		defer close(texts)
		res, err = m.call(ctx2, t, func(_ context.Context, chunk []byte) error {
			if len(chunk) == 0 {
				return nil
			}
			select {
			case texts <- string(chunk):
				return nil
			case <-ctx2.Done():
				return errBroke
			}
		})
	}()
	defer func() { // a panic of the reader passes here as well
		cancel()
		for range texts {
		}
	}()
	for text := range texts {
		if !yield(llm.Chunk{Text: text}, nil) {
			return
		}
	}
	if err != nil {
		yield(llm.Chunk{}, err)
		return
	}
	yield(llm.Chunk{Response: res}, nil)
}
