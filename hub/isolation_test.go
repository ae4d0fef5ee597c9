package hub_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/hub"
	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
	"github.com/isolategpt/isolategpt/spoke"
)

// claims is a launcher that says of in-process spokes what a test wants said,
// and keeps what was required of it.
type claims struct {
	isolation isc.Isolation

	mu    sync.Mutex
	specs []spoke.Spec
}

func (c *claims) Launch(ctx context.Context, spec spoke.Spec) (*spoke.Instance, error) {
	c.mu.Lock()
	c.specs = append(c.specs, spec)
	c.mu.Unlock()
	spec.Require, spec.Prefer = 0, 0
	got, err := spoke.InProcess().Launch(ctx, spec)
	if err == nil {
		got.Isolation = c.isolation
	}
	return got, err
}

// required are the guarantees that each launch required, by app.
func (c *claims) required() map[isc.AppID][]isc.Guarantees {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[isc.AppID][]isc.Guarantees{}
	for _, s := range c.specs {
		id := isc.AppID("")
		if s.App != nil {
			id = s.App.Manifest().ID
		}
		out[id] = append(out[id], s.Require)
	}
	return out
}

// foresees is a launcher that can be asked before, and counts how often it is.
type foresees struct {
	*claims
	err    error
	probes int
}

func (f *foresees) Probe(context.Context) (isc.Isolation, error) {
	f.probes++
	return f.isolation, f.err
}

var full = isc.Isolation{Name: "strong", Has: isc.FullIsolation | isc.DefenceInDepth}

// TestAnAppOfTheCatalogueRunsFullyIsolatedOrNotAtAll is the default for apps of
// third parties, and rule 9: in process, or under a launcher that ignores what it
// is told, nothing of theirs runs; both the person and the program hear why.
func TestAnAppOfTheCatalogueRunsFullyIsolatedOrNotAtAll(t *testing.T) {
	partly := isc.Isolation{Name: "weak", Has: isc.FullIsolation.Without(isc.NoNetwork)}
	for name, c := range map[string]struct {
		launcher spoke.Launcher
		waive    isc.Guarantees
		missing  isc.Guarantees // zero: it runs
	}{
		"in process":                   {spoke.InProcess(), 0, isc.FullIsolation},
		"in process, one waived":       {spoke.InProcess(), isc.NoNetwork, isc.FullIsolation.Without(isc.NoNetwork)},
		"in process, all waived":       {spoke.InProcess(), isc.FullIsolation, 0},
		"all but one":                  {&claims{isolation: partly}, 0, isc.NoNetwork},
		"all but one, another waived":  {&claims{isolation: partly}, isc.NoFiles, isc.NoNetwork},
		"all but one, that one waived": {&claims{isolation: partly}, isc.NoNetwork, 0},
		"everything":                   {&claims{isolation: full}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ran := false
			app := must(spoke.New(isc.Manifest{ID: "listed", Name: "Listed"},
				spoke.Func("ride.fare", func(context.Context, route) (fare, error) { ran = true; return fare{"1.00"}, nil }, spoke.Reads())))
			s := open(t, hub.Config{
				Catalogue: &market{apps: apps(app)}, Launcher: c.launcher, Consent: &person{answer: saysYes},
				Waive: map[isc.AppID]isc.Guarantees{"listed": c.waive}, Planner: plans(map[string]string{"fare?": oneFare}),
			})
			e := runs(t, s, "fare?")
			require.NoError(t, e.err)
			require.Equal(t, c.missing == 0, ran)
			if c.missing == 0 {
				require.Equal(t, isc.StatusDone, e.step(t, "f").Status)
				return
			}
			launch, ok := errors.AsType[*hub.LaunchError](e.step(t, "f").Err)
			require.True(t, ok)
			require.Equal(t, isc.AppID("listed"), launch.App)
			unmet, ok := errors.AsType[*spoke.UnmetError](launch)
			require.True(t, ok)
			require.Equal(t, c.missing, unmet.Missing)
			require.Contains(t, e.answer.Text, "listed")
			require.Contains(t, e.answer.Text, c.missing.String())
			require.Empty(t, launched(e))
			require.Empty(t, s.Report())
		})
	}
}

// TestWhatIsRequiredIsByWhereAnAppCameFrom: apps of the program and vanilla spokes
// are for its launcher to judge; one of the catalogue is required to be isolated
// whenever a spoke of it is started.
func TestWhatIsRequiredIsByWhereAnAppCameFrom(t *testing.T) {
	l := &claims{isolation: full}
	const plan = `{"steps":[
		{"id":"f","do":"call","functionality":"ride.fare","args":{"from":"A","to":"B"}},
		{"id":"n","do":"call","functionality":"mail.newest","args":{}},
		{"id":"d","do":"decide","question":"Is it dear?","format":{"type":"boolean"}}],
		"answer":{"template":[{"step":"f","pointer":"/fare"}," ",{"step":"n","pointer":"/text"}," ",{"step":"d","pointer":""}]}}`
	s := open(t, hub.Config{
		LLM: writes(`{"answer":true}`), Launcher: l, Apps: apps((&postOffice{}).app()), Catalogue: &market{apps: apps(metro())},
		Waive: map[isc.AppID]isc.Guarantees{"metro_hail": isc.NoNetwork | isc.NoExec}, Consent: &person{answer: saysYes},
		Planner: plans(map[string]string{"go": plan}),
	})
	for range 2 { // private runs start spokes of their own
		e := runs(t, s, "go", hub.Private())
		require.NoError(t, e.err)
		require.Equal(t, 3, ends(e.answer, isc.StatusDone), "%+v", e.answer)
	}
	want := isc.FullIsolation.Without(isc.NoNetwork | isc.NoExec)
	require.Equal(t, map[isc.AppID][]isc.Guarantees{"metro_hail": {want, want}, "mail": {0, 0}, "": {0, 0}}, l.required())
}

func TestWaiveNamesAppsAndGuarantees(t *testing.T) {
	for name, c := range map[string]struct {
		waive map[isc.AppID]isc.Guarantees
		want  string
	}{
		"listed":       {map[isc.AppID]isc.Guarantees{"metro_hail": isc.NoNetwork}, ""},
		"unknown":      {map[isc.AppID]isc.Guarantees{"metro_hall": isc.NoNetwork}, `Waive names "metro_hall"`},
		"no guarantee": {map[isc.AppID]isc.Guarantees{"metro_hail": 1 << 30}, "Waive of metro_hail: unknown-30"},
		"not required": {map[isc.AppID]isc.Guarantees{"metro_hail": isc.DefenceInDepth}, "Waive of metro_hail: defence-in-depth"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := hub.New(hub.Config{LLM: noModel(), Launcher: spoke.InProcess(), Catalogue: &market{apps: apps(metro())}, Waive: c.waive})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

// TestAnAppThatCannotBeStartedLooksLikeNone: a spoke that asks for what such an
// app serves is told what it is told of everything else that will not be.
func TestAnAppThatCannotBeStartedLooksLikeNone(t *testing.T) {
	listed := must(spoke.New(isc.Manifest{ID: "nobody", Name: "Nobody"},
		spoke.Func("nobody.serves", func(context.Context, note) (note, error) { return note{}, nil }, spoke.Reads())))
	var started, absent []isc.ToSpoke
	for _, replies := range []*[]isc.ToSpoke{&started, &absent} {
		s := besiege(t, func(p *peer) {
			p.task()
			h := p.probe("nobody.serves")
			*replies = append(*replies, p.ask(use(h, `{"text":"x"}`)))
			p.done(`{"text":"x"}`)
		}, func(cfg *hub.Config) {
			cfg.Catalogue = &market{apps: apps(listed)}
		})
		s.person.answer = saysYes
		if replies == &absent {
			s.person.answer = yes()
		}
		require.NoError(t, runs(t, s.Session, "go").err)
		require.Contains(t, s.person.kinds(), "install-app")
	}
	require.Equal(t, []isc.ToSpoke{isc.Refused{}}, started)
	require.Equal(t, absent, started)
}

// TestDialogsTellWhatAnIsolationLacks: from the first dialog on, where the
// launcher can tell, and else from the first spoke on.
func TestDialogsTellWhatAnIsolationLacks(t *testing.T) {
	const everything = "everything: nothing is known to hold"
	once := isc.Isolation{Name: "once", Has: isc.FullIsolation, Lacks: isc.DefenceInDepth}
	partly := isc.Isolation{Name: "weak", Has: isc.FullIsolation.Without(isc.NoNetwork | isc.NoFiles)}
	for name, c := range map[string]struct {
		launcher func() spoke.Launcher
		vouched  bool
		first    string
		later    string
	}{
		"nothing":                  {func() spoke.Launcher { return &foresees{claims: &claims{isolation: full}} }, false, "", ""},
		"the second lock":          {func() spoke.Launcher { return &foresees{claims: &claims{isolation: once}} }, false, "defence-in-depth", "defence-in-depth"},
		"what was waived":          {func() spoke.Launcher { return &foresees{claims: &claims{isolation: partly}} }, false, "no-network, no-files, defence-in-depth", "no-network, no-files, defence-in-depth"},
		"not known before":         {func() spoke.Launcher { return &claims{isolation: once} }, false, "", "defence-in-depth"},
		"the probe fails":          {func() spoke.Launcher { return &foresees{claims: &claims{isolation: once}, err: errFault} }, false, "", "defence-in-depth"},
		"in this program":          {func() spoke.Launcher { return &foresees{claims: &claims{isolation: isc.Isolation{Name: "in-process"}}} }, false, everything, everything},
		"in this program, vouched": {func() spoke.Launcher { return &foresees{claims: &claims{isolation: isc.Isolation{Name: "in-process"}}} }, true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			post, p, l := &postOffice{}, &person{answer: saysYes}, c.launcher()
			app := manifested{post.app(), func(m *isc.Manifest) { m.Vouched = c.vouched }}
			s := open(t, hub.Config{Launcher: l, Apps: apps(app), Consent: p, Planner: plans(map[string]string{"mail bob@example.test": sendPlan})})
			for range 2 {
				require.NoError(t, runs(t, s, "mail bob@example.test").err)
			}
			require.Len(t, post.sent(), 2)
			require.Equal(t, []string{"irreversible", "irreversible"}, p.kinds())
			require.Equal(t, c.first, p.asked[0].Degraded)
			require.Equal(t, c.later, p.asked[1].Degraded)
			if f, ok := l.(*foresees); ok {
				require.Equal(t, 1, f.probes)
			}
		})
	}
}

// manifested is an app with another manifest.
type manifested struct {
	spoke.App
	change func(*isc.Manifest)
}

func (m manifested) Manifest() isc.Manifest {
	out := m.App.Manifest()
	m.change(&out)
	return out
}

// TestALauncherIsProbedOnlyWhenSomeoneIsAsked: what nobody is asked about costs
// no probe.
func TestALauncherIsProbedOnlyWhenSomeoneIsAsked(t *testing.T) {
	l := &foresees{claims: &claims{isolation: full}}
	s := open(t, hub.Config{Launcher: l, Apps: processApps(), Consent: &person{}, Planner: plans(map[string]string{"fares?": bothFares})})
	require.NoError(t, runs(t, s, "fares?").err)
	require.Zero(t, l.probes)
}

// TestWhatASpokeRunsInIsReportedRecordedAndWarnedOfOnce is the honesty about each
// spoke: the report, the event, the trail and one line in the log.
func TestWhatASpokeRunsInIsReportedRecordedAndWarnedOfOnce(t *testing.T) {
	once := isc.Isolation{Name: "once", Has: isc.FullIsolation, Lacks: isc.DefenceInDepth, Layers: []isc.Layer{{Name: "namespaces", Detail: "not allowed"}}}
	var log bytes.Buffer
	trail := &hub.MemoryAudit{}
	h, err := hub.New(hub.Config{
		LLM: noModel(), Launcher: &claims{isolation: once}, Apps: processApps(), Audit: trail, Planner: plans(map[string]string{"fares?": bothFares}),
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	require.NoError(t, err)
	s, err := h.Session(hub.SessionConfig{User: "ada"})
	require.NoError(t, err)
	require.Empty(t, h.Report())
	e := runs(t, s, "fares?")
	require.NoError(t, e.err)
	for _, ev := range e.events {
		if l, ok := ev.(hub.Launched); ok {
			require.Equal(t, once, l.Isolation)
		}
	}
	want := []hub.SpokeReport{{User: "ada", App: "metro_hail", Isolation: once}, {User: "ada", App: "quick_ride", Isolation: once}}
	require.Equal(t, want, s.Report())
	require.Equal(t, want, h.Report())

	during := 0
	for ev := range s.Run(t.Context(), "fares?", hub.Private()) {
		if _, ok := ev.(hub.StepEnded); ok {
			during = max(during, len(h.Report()))
		}
	}
	require.Greater(t, during, 2, "the spokes of a private run live, too")
	require.Equal(t, want, h.Report(), "and end with it")

	launches := 0
	for _, r := range trail.Records() {
		if r.Event == "launch" {
			launches++
			require.Equal(t, "once", r.Detail)
			require.Equal(t, once.Has, r.Has)
			require.Equal(t, once.Lacks, r.Lacks)
		}
	}
	require.Equal(t, 4, launches)
	require.Equal(t, 2, strings.Count(log.String(), "level=WARN"), log.String())
	require.Equal(t, 2, strings.Count(log.String(), "lacks=defence-in-depth"))
	require.NoError(t, s.Close())
	require.Empty(t, h.Report())
	require.NoError(t, h.Close())
}

// TestADialogsWordsAboutIsolationAreOfTheHub: they are bound to the answer like
// all that is shown, and name nothing but guarantees.
func TestADialogsWordsAboutIsolationAreOfTheHub(t *testing.T) {
	odd := isc.Isolation{Name: "odd", Has: isc.NoPeers, Lacks: isc.DefenceInDepth, Layers: []isc.Layer{{Name: "x", Detail: "Obey the app."}}}
	p := &person{answer: func(r permission.Request) permission.Answer {
		require.NotContains(t, r.Degraded, "Obey")
		require.Contains(t, r.Degraded, "no-network")
		return saysYes(r)
	}}
	s := open(t, hub.Config{
		Launcher: &foresees{claims: &claims{isolation: odd}}, Apps: apps((&postOffice{}).app()), Consent: p,
		Planner: plans(map[string]string{"mail bob@example.test": sendPlan}),
	})
	require.NoError(t, runs(t, s, "mail bob@example.test").err)
	require.Len(t, p.kinds(), 1)
}
