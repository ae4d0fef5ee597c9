// Package sandboxtest tries to break out of spokes. It is for those who run
// code in a spoke that they do not trust, and want to see on their own machine
// what holds: [App] is an app whose one purpose is to do what an app must not be
// able to do, and [TestLauncher] runs it, one attack a fresh spoke.
//
//	func TestMain(m *testing.M) {
//		sandboxtest.Main() // or spoke.Main with sandboxtest.App among the apps
//		os.Exit(m.Run())
//	}
//
//	func TestSpokesAreConfined(t *testing.T) {
//		sandboxtest.TestLauncher(t, sandboxtest.Config{
//			Confined: spoke.Process(spoke.ProcessConfig{}), Control: sandboxtest.Unconfined(),
//		})
//	}
//
// Every [Attack] has a name and the guarantee that does not hold
// where it works. It is tried twice, in the isolation and in an ordinary
// process, the control. Where the control fails, too (the kernel lacks what it
// needs, or the user may not), a refusal shows nothing and does not count.
//
// # Trust
//
// The attacks are aimed at what a run makes for them: files in a temporary
// directory, listeners on the loopback interface, a process that counts its
// signals. What they do elsewhere is look, or ask with arguments that the kernel
// refuses after it has checked the right. They are harmless where they work.
//
// A row of refusals is no proof. It says that these attacks failed on this
// machine as this user, and nothing of holes in the kernel.
//
// On systems other than Linux [Run] gives [errors.ErrUnsupported].
//
// # Source
//
// ADR 10; docs/security.md for the promise that each attack is aimed at.
package sandboxtest
