// Package egress performs, outside of a spoke, what spokes may ask of remote
// hosts: one request at a time as a [Client], or a foreign program's connections
// as a [Proxy].
//
// It guarantees that no connection is made to an address that is not an ordinary
// public one (loopback, private, link-local, shared, translated, documentation
// and every other special range, and the addresses of this machine), decided on
// the address that is really connected to, so that no name server can change it
// in between; that no redirect is followed; that a spoke sends no cookie, no
// credential and no hop-by-hop header, and is given none; that the credentials
// which the program keeps for a host go to that host alone; and that sizes and
// times are bounded. It does not judge what a body says, and it asks nobody:
// which app may talk to which host is decided before, by the host side and the
// hub, or by [ProxyConfig.Authorize].
//
//	client, err := egress.New(egress.Config{Hosts: map[string]egress.Host{
//		"api.example.com": {Credentials: func(context.Context) (http.Header, error) {
//			return http.Header{"Authorization": {"Bearer " + key}}, nil
//		}},
//	}})
//
// # Trust
//
// Requests are a spoke's and answers are a remote host's: both may be an
// attacker's. The configuration is the program's. Errors name hosts and causes;
// they are for the program, and a spoke's host side passes none of them on.
//
// # Source
//
// ADR 0011. The paper has no network: its apps call their services freely.
package egress
