// Package isc is the protocol between the hub and its spokes, and the only thing
// they share: names and manifests of apps, formats of messages, strict decoding
// with one canonical form, labels, handles, the two unions of messages, and the
// connections that carry them.
//
// It guarantees that what one side checked is what the other side gets: a body
// is decoded strictly, checked against a [Format], and passed on as the canonical
// bytes that were checked. No input, however hostile, makes it panic, load a file
// or open a socket, and the time and memory that it takes are bounded. Errors
// hold nothing of a message.
//
// It does not say what may be sent to whom: that is for package permission and
// the hub. That a format is closed (see [Format.Closed]) means that its values
// cannot carry an instruction, not that they are true.
//
//	fare := isc.MustFormat(`{"type":"object","additionalProperties":false,
//		"properties":{"fare":{"type":"number","minimum":0,"maximum":1000}}}`)
//	body, err := fare.Check(fromTheApp) // canonical, or refused
//	closed, open := fare.Closed()       // true, nil
//
//	hub, spoke := isc.Pipe()
//	err = spoke.Send(ctx, isc.Result{Status: isc.StatusDone, Body: body})
//
// # Trust
//
// Everything that comes out of a spoke is untrusted: manifests, schemas, bodies,
// and the text in them. No message names its sender; the hub knows who speaks by
// the connection. Labels and grants never pass through this package's messages.
//
// # Source
//
// Paper §IV-C (inter-spoke communication: probe, request, response, formats,
// ephemeral identifiers); JSON Schema drafts 4 to 2020-12; RFC 6901 (JSON
// Pointer). Deviation: the canonical form keeps number literals as they are
// written and sorts keys by their bytes, so it is not that of RFC 8785.
package isc
