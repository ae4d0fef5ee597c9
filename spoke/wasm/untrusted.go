package wasm

import (
	"context"
	"runtime"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
)

// Untrusted is the launcher for apps whose code nobody answers for, on the system
// that the program stands on. On Linux it is [spoke.Process] with cfg, in which a
// module has both walls around it; pass [App.Single] to [spoke.Main]. Elsewhere,
// where processes cannot be confined, it launches modules, and vanilla spokes,
// which have no app's code, in this program; any other app is a
// [*spoke.UnmetError]. Call end when its spokes are closed.
func Untrusted(cfg spoke.ProcessConfig) (l spoke.Launcher, end func() error) {
	return untrustedOn(runtime.GOOS, cfg)
}

func untrustedOn(system string, cfg spoke.ProcessConfig) (l spoke.Launcher, end func() error) {
	if system == "linux" {
		p := spoke.Process(cfg)
		return p, p.Close
	}
	return Launcher{Other: vanillaOnly{}}, func() error { return nil }
}

// vanillaOnly launches spokes without an app in this program.
type vanillaOnly struct{}

func (vanillaOnly) Launch(ctx context.Context, spec spoke.Spec) (*spoke.Instance, error) {
	if spec.App != nil {
		none := isc.Isolation{Name: kind, Layers: []isc.Layer{{Name: "webassembly", Detail: "the app is no module"}}}
		return nil, &spoke.UnmetError{App: idOf(spec.App), Isolation: none.Preferring(spec.Prefer), Missing: isc.FullIsolation | spec.Require}
	}
	return spoke.InProcess().Launch(ctx, spec)
}
