package sandbox_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/isolategpt/isolategpt/internal/sandbox"
	"github.com/isolategpt/isolategpt/internal/sandbox/outer"
	"github.com/isolategpt/isolategpt/isc"
)

// A process started with this variable is a child of a test. Its value says what
// it does, after layers that are to be absent: "landlock,seccomp:report".
const marker = "ISOLATEGPT_SPOKE"

func TestMain(m *testing.M) {
	if child, ok := os.LookupEnv(marker); ok {
		if err := be(child); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	keepToItself()
	goleak.VerifyTestMain(m)
}

func be(child string) error {
	without, what, ok := strings.Cut(child, ":")
	if !ok {
		without, what = "", child
	}
	if without != "" {
		if err := os.Setenv(marker, what); err != nil {
			return err
		}
		return outer.Exec(strings.Split(without, ","), []string{"/proc/self/exe"})
	}
	return children[what]()
}

// answer is what a child says on descriptor 4 after the profile came on 3.
type answer struct {
	Isolation isc.Isolation
	Err       string
}

// confined does something after it was confined and has said so.
func confined(then func(sandbox.Profile) error) func() error {
	return func() error {
		var p sandbox.Profile
		in, out := os.NewFile(3, "in"), os.NewFile(4, "out")
		defer in.Close()
		defer out.Close()
		if err := json.NewDecoder(in).Decode(&p); err != nil {
			return err
		}
		isolation, err := sandbox.Confine(p)
		a := answer{Isolation: isolation}
		if err != nil {
			a.Err = err.Error()
		}
		if err := json.NewEncoder(out).Encode(a); err != nil || a.Err != "" {
			return err
		}
		return then(p)
	}
}

// names are of the layers that were applied.
func (a answer) names() []string {
	var out []string
	for _, l := range a.Isolation.Layers {
		if l.Applied {
			out = append(out, l.Name)
		}
	}
	return out
}

// detail is what a layer says of itself.
func (a answer) detail(name string) string {
	for _, l := range a.Isolation.Layers {
		if l.Name == name {
			return l.Detail
		}
	}
	return ""
}
