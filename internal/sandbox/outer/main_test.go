package outer_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/isolategpt/isolategpt/internal/sandbox/outer"
)

// A process started with this variable takes the layers away that it names, and
// then says what there is.
const marker = "ISOLATEGPT_OUTER"

func TestMain(m *testing.M) {
	without, ok := os.LookupEnv(marker)
	switch {
	case !ok:
		goleak.VerifyTestMain(m)
	case without == "":
		fmt.Print(strings.Join(found(), " "))
	default:
		_ = os.Setenv(marker, "")
		fmt.Print(outer.Exec(strings.Split(without, ","), []string{"/proc/self/exe"}))
		os.Exit(1)
	}
}
