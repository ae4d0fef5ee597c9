//go:build !linux || !(amd64 || arm64)

package outer

import (
	"errors"
	"fmt"
)

func execWithout([]string, []string) error {
	return fmt.Errorf("outer: no filters here: %w", errors.ErrUnsupported)
}
