package foreign

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxFrame bounds a frame, in bytes of JSON.
const MaxFrame = 1 << 20

var errFrame = errors.New("foreign: malformed frame")

// WriteFrame writes v as one frame: the length in four bytes, the most
// significant first, and that many bytes of JSON.
func WriteFrame(w io.Writer, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("foreign: encoding a frame: %w", err)
	}
	if len(body) > MaxFrame {
		return fmt.Errorf("foreign: a frame of %d bytes is over %d", len(body), MaxFrame)
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	return err
}

// ReadFrame reads one frame into v. It refuses unknown members, anything after
// the value, and frames that are empty or over [MaxFrame], the latter before a
// byte of them is read. The end of the stream before a frame is io.EOF itself.
func ReadFrame(r io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > MaxFrame {
		return fmt.Errorf("%w: of %d bytes", errFrame, n)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%w: something follows the value", errFrame)
	}
	return nil
}
