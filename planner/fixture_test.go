package planner_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/planner"
)

func functionality(name string, effect isc.Effect, request, response string) isc.Functionality {
	return isc.Functionality{
		Name: isc.FunctionalityName(name), Effect: effect,
		Request: isc.MustFormat(request), Response: isc.MustFormat(response),
	}
}

const (
	nothing  = `{"type":"object","properties":{},"additionalProperties":false}`
	fareIn   = `{"type":"object","properties":{"from":{"type":"string"},"to":{"type":"string"},"seats":{"type":"integer"},"class":{"enum":["basic","comfort"]}},"required":["from","to"],"additionalProperties":false}`
	fareOut  = `{"type":"object","properties":{"fare":{"type":"number"}},"required":["fare"],"additionalProperties":false}`
	mailList = `{"type":"object","properties":{"mails":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string","format":"uuid"},"from":{"type":"string"},"subject":{"type":"string"},"unread":{"type":"boolean"},"day":{"type":"string","format":"date"},"size":{"type":"integer"},"kind":{"enum":["news","note"]}},"required":["id","from","subject"],"additionalProperties":false}}},"required":["mails"],"additionalProperties":false}`
	mailSend = `{"type":"object","properties":{"to":{"type":"string","x-isolate-role":"destination"},"body":{"type":"string"},"on":{"type":"string","format":"date"},"cc":{"type":"array","items":{"type":"string","x-isolate-role":"destination"}}},"required":["to","body"],"additionalProperties":false}`
	mailDel  = `{"type":"object","properties":{"id":{"type":"string","format":"uuid","x-isolate-role":"record"}},"required":["id"],"additionalProperties":false}`
	okOut    = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}`
	textOut  = `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`
)

func metro() isc.Manifest {
	return isc.Manifest{ID: "metro-hail", Name: "Metro Hail", Functionalities: []isc.Functionality{functionality("ride.fare", isc.Read, fareIn, fareOut)}}
}

func quick() isc.Manifest {
	return isc.Manifest{ID: "quick-ride", Name: "Quick Ride", Functionalities: []isc.Functionality{functionality("ride.fare", isc.Read, fareIn, fareOut)}}
}

func mail() isc.Manifest {
	return isc.Manifest{
		ID: "mail", Name: "Mail", Instructions: "Be brief.", Functionalities: []isc.Functionality{
			functionality("mail.list", isc.Read, nothing, mailList),
			functionality("mail.send", isc.Irreversible, mailSend, okOut),
			functionality("mail.delete", isc.Irreversible, mailDel, okOut),
		},
	}
}

func notes() isc.Manifest {
	return isc.Manifest{ID: "notes", Name: "Notes", Functionalities: []isc.Functionality{
		functionality("note.read", isc.Read, `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`, textOut),
		functionality("note.write", isc.Write, `{"type":"object","properties":{"name":{"type":"string"},"text":{"type":"string"}},"required":["name","text"],"additionalProperties":false}`, okOut),
	}}
}

// rideCatalogue has two apps for fares, one for mail and one for notes, and a
// functionality that nobody serves.
func rideCatalogue(tb testing.TB) *planner.Catalogue {
	tb.Helper()
	cat, err := planner.NewCatalogue(planner.CatalogueConfig{
		Manifests: []isc.Manifest{metro(), quick(), mail(), notes()},
		Known:     []isc.Functionality{functionality("weather.day", isc.Read, nothing, textOut)},
		Vanilla:   []planner.Vanilla{{Name: "careful", Description: "reads twice"}},
	})
	require.NoError(tb, err)
	return cat
}

// decode is for plans that a test wrote.
func decode(tb testing.TB, raw string) *planner.Plan {
	tb.Helper()
	p, err := planner.DecodePlan([]byte(raw))
	require.NoError(tb, err)
	return p
}
