package isc

import (
	"net/netip"
	"net/url"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
)

// formats are the string formats that are checked, by checkers of our own: the
// library's take "+1:00:00Z" for a time and `x <a@b>` for an address.
var formats = map[string]func(string) bool{
	"date": isDate, "time": isTime, "date-time": isDateTime, "duration": matches(durationShape),
	"uuid": matches(uuidShape), "ipv4": isIPv4, "ipv6": isIPv6,
	"email": isEmail, "hostname": func(s string) bool { return len(s) <= 253 && matches(hostShape)(s) },
	"uri": isURI, "uri-reference": isURIReference, "iri": isIRI, "iri-reference": isIRIReference,
	"json-pointer": func(s string) bool { _, err := splitPointer(s); return err == nil },
	"regex":        isRegex,
}

// closedFormats cannot carry an instruction.
var closedFormats = map[string]bool{
	"date": true, "time": true, "date-time": true, "uuid": true, "ipv4": true, "ipv6": true,
}

// urlFormats can carry anything in their query.
var urlFormats = map[string]bool{"uri": true, "uri-reference": true, "iri": true, "iri-reference": true}

var (
	uuidShape     = regexp.MustCompile(`^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$`)
	durationShape = regexp.MustCompile(`^P(\d{1,9}W|(\d{1,9}Y)?(\d{1,9}M)?(\d{1,9}D)?(T(\d{1,9}H)?(\d{1,9}M)?(\d{1,9}S)?)?)$`)
	hostShape     = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$`)
	localShape    = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$")
	uriShape      = regexp.MustCompile(`^([A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$`)
	iriShape      = regexp.MustCompile("^[^\\s<>\"{}|\\\\^`\\x00-\\x20\\x7f]*$")
)

func matches(re *regexp.Regexp) func(string) bool { return re.MatchString }

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil && len(s) == len(time.DateOnly)
}

// isTime takes hh:mm:ss, at most nine digits of a second's fraction, and a zone.
func isTime(s string) bool {
	if len(s) < len("00:00:00Z") || s[2] != ':' || s[5] != ':' {
		return false
	}
	h, m, sec := below(s[0:2], 24), below(s[3:5], 60), below(s[6:8], 61)
	rest, ok := cutFraction(s[8:])
	offset, zoned := zone(rest)
	if h < 0 || m < 0 || sec < 0 || !ok || !zoned {
		return false
	}
	// A leap second ends the last minute of a day in UTC.
	const day = 24 * 60
	return sec < 60 || (h*60+m-offset+2*day)%day == day-1
}

func cutFraction(s string) (rest string, ok bool) {
	if s == "" || s[0] != '.' {
		return s, true
	}
	n := 1
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[n:], n > 1 && n <= 10
}

// zone is the offset of a time zone in minutes.
func zone(s string) (offset int, ok bool) {
	if s == "Z" || s == "z" {
		return 0, true
	}
	if len(s) != len("+00:00") || s[3] != ':' || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	h, m := below(s[1:3], 24), below(s[4:6], 60)
	if h < 0 || m < 0 {
		return 0, false
	}
	offset = h*60 + m
	if s[0] == '-' {
		offset = -offset
	}
	return offset, true
}

// below is the number that two digits make, or -1 if they make none below most.
func below(s string, most int) int {
	if s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9' {
		return -1
	}
	if n := int(s[0]-'0')*10 + int(s[1]-'0'); n < most {
		return n
	}
	return -1
}

func isDateTime(s string) bool {
	const date = len(time.DateOnly)
	return len(s) > date && (s[date] == 'T' || s[date] == 't') && isDate(s[:date]) && isTime(s[date+1:])
}

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}

func isEmail(s string) bool {
	at := strings.LastIndexByte(s, '@')
	return len(s) <= 254 && at > 0 && at <= 64 && localShape.MatchString(s[:at]) && hostShape.MatchString(s[at+1:])
}

func isURI(s string) bool { return isURIReference(s) && isAbsolute(s) }

func isURIReference(s string) bool {
	if !uriShape.MatchString(s) {
		return false
	}
	_, err := url.Parse(s)
	return err == nil
}

func isIRI(s string) bool { return isIRIReference(s) && isAbsolute(s) }

func isIRIReference(s string) bool {
	if !iriShape.MatchString(s) || HasHidden(s) {
		return false
	}
	_, err := url.Parse(s)
	return err == nil
}

func isAbsolute(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.IsAbs()
}

func isRegex(s string) bool {
	if len(s) > maxPatternLength {
		return false
	}
	_, err := syntax.Parse(s, syntax.Perl)
	return err == nil
}
