package isc_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

const rideSchema = `{"type":"object","additionalProperties":false,"required":["from","to","when","seats"],"properties":{
	"from":{"type":"string","maxLength":80},"to":{"type":"string","maxLength":80},
	"when":{"type":"string","format":"date-time"},"seats":{"type":"integer","minimum":1,"maximum":8},
	"class":{"enum":["economy","business"]},"tags":{"type":"array","items":{"type":"string"},"maxItems":8},
	"price":{"type":"object","properties":{"amount":{"type":"number","minimum":0},"currency":{"type":"string","pattern":"^[A-Z]{3}$"}}}}}`

var rideBody = []byte(`{"from":"Main Station, platform 4","to":"12 Hill Street","when":"2026-01-30T10:00:00Z","seats":2,` +
	`"class":"economy","tags":["quiet","early"],"price":{"amount":61.80,"currency":"USD"}}`)

// BenchmarkFormatCheck is to take at most 1.3 times BenchmarkPlain.
func BenchmarkFormatCheck(b *testing.B) {
	f := isc.MustFormat(rideSchema)
	b.ReportAllocs()
	b.SetBytes(int64(len(rideBody)))
	for b.Loop() {
		if _, err := f.Check(rideBody); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPlain is what a careless program does: decode, and validate.
func BenchmarkPlain(b *testing.B) {
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	if err := c.AddResource("urn:ride", bytes.NewReader([]byte(rideSchema))); err != nil {
		b.Fatal(err)
	}
	s := c.MustCompile("urn:ride")
	b.ReportAllocs()
	b.SetBytes(int64(len(rideBody)))
	for b.Loop() {
		d := json.NewDecoder(bytes.NewReader(rideBody))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			b.Fatal(err)
		}
		if err := s.Validate(v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCanonical(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := isc.Canonical(rideBody); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPipe(b *testing.B) {
	hub, spoke := isc.Pipe()
	defer func() { _ = hub.Close(); _ = spoke.Close() }()
	m := isc.Result{Status: isc.StatusDone, Body: rideBody}
	b.ReportAllocs()
	for b.Loop() {
		if err := spoke.Send(b.Context(), m); err != nil {
			b.Fatal(err)
		}
		if _, err := hub.Recv(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
