//go:build !linux

package spoke_test

func actAsEcho() {}
