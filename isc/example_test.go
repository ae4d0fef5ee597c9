package isc_test

import (
	"errors"
	"fmt"

	"github.com/isolategpt/isolategpt/isc"
)

func ExampleFormat_Check() {
	fare := isc.MustFormat(`{"type":"object","required":["fare"],"additionalProperties":false,
		"properties":{"fare":{"type":"number","minimum":0},"note":{"type":"string"}}}`)

	body, err := fare.Check([]byte(`{ "note": "shared", "fare": 51.80 }`))
	fmt.Println(string(body), err)

	_, err = fare.Check([]byte(`{"fare":51.80,"Fare":1}`))
	fmt.Println(errors.Is(err, isc.ErrMalformed))

	_, err = fare.Check([]byte(`{"fare":"fifty"}`))
	fmt.Println(err)
	// Output:
	// {"fare":51.80,"note":"shared"} <nil>
	// true
	// isc: does not fit the format: #/properties/fare: type
}

func ExampleFormat_Closed() {
	f := isc.MustFormat(`{"type":"object","additionalProperties":false,"properties":{
		"when":{"type":"string","format":"date"},"seats":{"type":"integer","minimum":1,"maximum":8},"note":{"type":"string"}}}`)
	closed, open := f.Closed()
	fmt.Println(closed, open)
	// Output: false [/note]
}

func ExampleManifest() {
	m := isc.Manifest{
		ID:   "metro",
		Name: "Metro Hail",
		Functionalities: []isc.Functionality{{
			Name:     "ride.fare",
			Request:  isc.MustFormat(`{"type":"object","properties":{"to":{"type":"string"}}}`),
			Response: isc.MustFormat(`{"type":"number"}`),
			Effect:   isc.Read,
		}},
		Hosts: []string{"https://api.metro.example"},
	}
	fmt.Println(m.Validate())

	m.Hosts = []string{"api.metro.example"}
	before := m.Pin("ride.fare")
	m.Version = "2.0.0"
	fmt.Println(m.Validate(), m.Pin("ride.fare") == before)
	// Output:
	// isc: manifest: hosts: "https://api.metro.example": must be a plain host name in lower-case ASCII: no scheme, port, wildcard or address
	// <nil> true
}

func ExampleSelect() {
	doc := []byte(`{"rides":[{"fare":61.80},{"fare":57.00}]}`)
	fares, err := isc.Select(doc, "/rides/*/fare")
	fmt.Printf("%s %v\n", fares, err)
	// Output: [61.80 57.00] <nil>
}

func ExampleVisible() {
	fmt.Println(isc.Visible("https://safe.example/\u202emoc.live"))
	// Output: https://safe.example/<U+202E>moc.live
}
