// Package foreign starts programs that are not ours (node, python, a binary),
// confined to what is declared, with pipes to their standard streams: MCP servers
// above all.
//
// What it guarantees of a program before a byte of it runs, or nothing runs:
//
//   - it reads, executes and changes what [Config] declares and what [Needs]
//     finds that it is linked with, and sees nothing else;
//   - it starts no process and executes nothing undeclared;
//   - it has no network. With Config.Hosts it has one loopback port, behind which
//     an HTTP proxy is served from outside ([egress.Proxy]): it reaches the hosts
//     that are named, each time after Config.Authorize allowed it;
//   - it sees, signals and inspects no other process, inherits no variable and no
//     descriptor, holds bounded memory, ends with this program and by
//     [Program.Close].
//
// Each was tried from inside of its own process and failed ([Program.Isolation]).
// For memory that is two attempts, since the system's limit forgets what is made
// unwritable: one that this limit refuses, and one that it does not, which this
// program, as its parent, saw as it will see the program's, and then kills it.
// What is demanded and does not hold is a [*spoke.UnmetError]. Without user
// namespaces isc.NoFiles does not hold of a program: it reads nothing undeclared,
// but sees that it is there, with size and times. Whoever accepts that waives it
// by name.
//
// What is readable is executable for whoever has an interpreter: a program runs
// what it reads, in this same confinement. What a program writes to its streams
// and its hosts is its own, and not to be trusted.
//
// # Use
//
// The process begins as this program, so main must call [spoke.Main] first.
//
//	p, err := foreign.Start(ctx, foreign.Config{
//		Path:  "/srv/mcp/node_modules/.bin/mcp-server-filesystem", // a script: node is found by itself
//		Args:  []string{"/srv/data"},
//		Read:  []string{"/srv/mcp/node_modules"},
//		Write: []string{"/srv/data"},
//	})
//
// Node needs its modules in Read and 128 MiB of Memory; what it reads of /proc
// (process.memoryUsage) it does not get. Python needs its library, and
// what the extensions in that are linked with:
//
//	_, library, err := foreign.Needs("/usr/lib/python3.12")
//	p, err := foreign.Start(ctx, foreign.Config{
//		Path: "/usr/bin/python3",
//		Args: []string{"-I", "-S", "/srv/tool.py"},
//		Read: append(library, "/srv/tool.py"),
//	})
//
// A version manager's python or node is a script of a shell, which starts
// processes: name the program behind it. A program that starts others (npx, uvx,
// a shell) does not run; name what it would start.
//
// Most HTTP clients take the proxy from their environment; node does from
// version 24 on. It speaks to port 443 unless Config.Proxy says otherwise.
//
// What a program writes into Config.Write is bounded by the file system alone.
//
// It is for Linux on amd64 and arm64.
//
// # Source
//
// The paper has no programs but its own apps. Who confines and probes:
// docs/adr/0010-guarantees.md. The proxy: docs/adr/0011-remote-hosts.md.
package foreign
