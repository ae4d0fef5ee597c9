package openai

import (
	"errors"
	"io"

	"github.com/isolategpt/isolategpt/llm"
	"github.com/isolategpt/isolategpt/llm/internal/provider"
)

// errBroke ends a stream whose reader broke off; nobody sees it.
var errBroke = errors.New("openai: the reader broke off")

// limit makes reading more than n bytes an error, where io.LimitReader would
// make it look like the end.
func limit(r io.Reader, n int64) io.Reader { return &limited{r: r, left: n, max: n} }

type limited struct {
	r         io.Reader
	left, max int64
}

func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	if int64(n) > l.left {
		return int(l.left), provider.Errorf(llm.Malformed, "the reply is over %d bytes", l.max)
	}
	l.left -= int64(n)
	return n, err
}
