// Package spoketest is the conformance suite of isolations: what every
// [spoke.Launcher] must do, whatever it runs a spoke in.
//
//	func TestMain(m *testing.M) {
//		spoke.Main(spoketest.Apps()...) // for launchers that execute the program again
//		os.Exit(m.Run())
//	}
//
//	func TestProcess(t *testing.T) {
//		spoketest.TestLauncher(t, func(testing.TB) spoke.Launcher { return spoke.Process(spoke.ProcessConfig{}) })
//	}
//
// Of confinement it checks what a launcher says, and that it starts nothing that
// has less than what is required. What code inside a spoke can reach is the
// isolation's own promise, with tests of its own. The suite trusts the
// launcher and nothing of the spoke.
//
// # Source
//
// Paper §IV-B5 and §IV-C4, as messages; design, section 5 (isolations behave
// alike because they speak the same messages).
package spoketest
