package foreign_test

import (
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/spoke"
	"github.com/isolategpt/isolategpt/spoke/foreign"
)

// A python program as an app, which a hub is given with the launcher.
func ExampleNewApp() {
	note := isc.MustFormat(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`)
	_, library, err := foreign.Needs("/usr/lib/python3.12")
	if err != nil {
		return // it is not there
	}
	app, err := foreign.NewApp(isc.Manifest{
		ID: "weather", Name: "Weather", Hosts: []string{"api.weather.example"},
		Functionalities: []isc.Functionality{{Name: "weather.now", Request: note, Response: note, Effect: isc.Read}},
	}, foreign.Config{
		Path: "/usr/bin/python3",
		Args: []string{"-I", "-S", "/srv/weather.py"},
		Read: append(library, "/srv/weather.py"),
	})
	launcher := foreign.Launcher{Other: spoke.Process(spoke.ProcessConfig{})}
	fmt.Println(app, launcher, err)
}
