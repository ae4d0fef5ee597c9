package egress

import (
	"net/http"
	"net/textproto"
	"strings"
)

// hopByHop are the fields between two neighbours, who set their own.
const hopByHop = " connection keep-alive te trailer transfer-encoding upgrade http2-settings expect content-length host "

// unsent are fields of a spoke that do not leave: what a server would take for
// somebody's authority or for a proxy's word.
const unsent = hopByHop + "cookie cookie2 authorization forwarded x-real-ip via "

// ungiven are fields of an answer that do not come in.
const ungiven = " connection keep-alive te trailer transfer-encoding upgrade set-cookie set-cookie2 alt-svc "

// outgoing is what of a spoke's header is sent.
func outgoing(header map[string][]string) http.Header {
	return filtered(header, unsent, "proxy-", "x-forwarded-")
}

// incoming is what of an answer's header a spoke is given.
func incoming(header map[string][]string) http.Header {
	return filtered(header, ungiven, "proxy-")
}

// filtered copies a header without the named fields, those with the prefixes,
// and those that its Connection fields name.
func filtered(header map[string][]string, names string, prefixes ...string) http.Header {
	for name, values := range header {
		if folded(name) == "connection" {
			for word := range strings.SplitSeq(strings.Join(values, ","), ",") {
				names += folded(strings.TrimSpace(word)) + " "
			}
		}
	}
	out := http.Header{}
next:
	for name, values := range header {
		f := folded(name)
		if strings.Contains(names, " "+f+" ") {
			continue
		}
		for _, p := range prefixes {
			if strings.HasPrefix(f, p) {
				continue next
			}
		}
		key := textproto.CanonicalMIMEHeaderKey(name)
		out[key] = append(out[key], values...)
	}
	return out
}

// folded is the form in which names of fields are compared. Many servers take
// "_" for "-".
func folded(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }
