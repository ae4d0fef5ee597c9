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
//     descriptor, holds bounded memory and threads, ends with this program and by
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
// # Apps
//
// A program can be an app of a hub: [NewApp] makes one of a manifest and a Config,
// [Launcher] starts a program for each of its spokes. They speak JSON, one object
// a line, on the program's standard streams. The program reads a call and writes
// what came of it, of at most 1 MiB, and nothing else at any other time:
//
//	down  {"call": {"functionality": "note.read", "body": {"name": "milk"}}}
//	up    {"result": {"text": "two bottles"}}
//	 or   {"error": "failed"}          or "refused", "missing", "budget"
//
// In between it may ask, one thing at a time, and reads the one reply:
//
//	up    {"use": {"name": "mail.send", "body": {…}}}        {"value": …}
//	up    {"need": [{"name": "home", "purpose": "to go"}]}   {"values": {"home": …}}
//	up    {"confirm": {"name": "note.drop", "body": {…}}}    {"value": true}
//	up    {"progress": "half way"}                           {"value": true}
//
// Each reply can be {"error": …} instead, of the same words. The methods of
// [spoke.Hub] say what they mean. A line has exactly one member and no key twice;
// a program that writes any other ends, and its spoke with it. At the end of its
// input it should end. In python:
//
//	import json, sys
//
//	def ask(question):
//	    print(json.dumps(question), flush=True)
//	    return json.loads(sys.stdin.readline())
//
//	for line in sys.stdin:
//	    call = json.loads(line)["call"]
//	    ask_reply = ask({"need": [{"name": "home", "purpose": "to greet"}]})
//	    home = ask_reply.get("values", {}).get("home", "nowhere")
//	    print(json.dumps({"result": {"text": "hello, " + home}}), flush=True)
//
// The hosts of the manifest are reached through the proxy if the hub has a way
// out (hub.Config.HTTP, which sends nothing of a program). The person is asked
// about each connection, with its host and without what is sent: what a program
// says within TLS nobody sees. Outside of a call no host is reached, and at its
// end its connections end.
//
// # Source
//
// The paper has no programs but its own apps. Who confines and probes:
// docs/adr/0010-guarantees.md. The proxy: docs/adr/0011-remote-hosts.md.
package foreign
