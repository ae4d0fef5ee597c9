package wasm

// maxOutput is how much of a guest's output is kept, in bytes.
const maxOutput = 16 << 10

// output keeps the end of what a guest writes. Only one goroutine uses it at a
// time.
type output struct{ buf []byte }

func (o *output) write(p []byte) {
	o.buf = append(o.buf, p[max(0, len(p)-maxOutput):]...)
	if extra := len(o.buf) - maxOutput; extra > 0 {
		o.buf = append(o.buf[:0], o.buf[extra:]...)
	}
}
