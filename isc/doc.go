// Package isc is the protocol between the hub and its spokes, and the only thing they share.
package isc
