//go:build unix

package spoke

import (
	"debug/elf"
	"errors"
	"fmt"
)

// checkStatic refuses a program that needs other files to run: a confined process
// has none.
func checkStatic(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("not a program that can be executed here: %w", err)
	}
	defer func() { _ = f.Close() }()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return errors.New("it is linked dynamically; build it with CGO_ENABLED=0, so that it needs no other file")
		}
	}
	return nil
}
