//go:build unix && !linux

package spoke_test

import "github.com/isolategpt/isolategpt/spoke"

// linuxApps are the apps of another system's tests.
func linuxApps() []spoke.App { return nil }
