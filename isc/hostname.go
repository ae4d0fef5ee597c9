package isc

import (
	"errors"
	"strings"
)

var errHost = errors.New("must be a plain host name in lower-case ASCII: no scheme, port, wildcard or address")

// validHost takes host names as they are compared: lower case, ASCII (punycode
// for the rest), no trailing dot, and no IP address.
func validHost(host string) error {
	if len(host) > 253 || !hostShape.MatchString(host) || strings.ToLower(host) != host {
		return errHost
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return errHost
	}
	return nil
}
