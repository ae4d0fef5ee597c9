// Attempts of a hostile program. It prints one JSON object: what came of each.
import fs from "node:fs";
import net from "node:net";
import dgram from "node:dgram";
import dns from "node:dns/promises";
import path from "node:path";
import { spawnSync } from "node:child_process";
import { Worker } from "node:worker_threads";

const [hub, tcp, udp] = process.argv.slice(2, 5).map(Number);
const [own, readable, outside] = process.argv.slice(5, 8);
const secret = outside + "/secret";
const results = {};

async function attempt(name, f) {
  try {
    await f();
    results[name] = "worked";
  } catch (e) {
    results[name] = "refused: " + e;
  }
}

function connect(options) {
  return new Promise((done, fail) => {
    const s = net.connect(options, () => { s.destroy(); done(); });
    s.on("error", fail);
  });
}

function send() {
  return new Promise((done, fail) => {
    const s = dgram.createSocket("udp4");
    s.on("error", fail);
    s.send("x", udp, "127.0.0.1", (e) => { e ? fail(e) : (s.close(), done()); });
  });
}

function run(program, args) {
  const r = spawnSync(program, args);
  if (r.error) throw r.error;
  if (r.status !== 0) throw new Error("status " + r.status);
}

await attempt("read /etc/passwd", () => fs.readFileSync("/etc/passwd"));
await attempt("list /", () => fs.readdirSync("/"));
await attempt("list /tmp", () => fs.readdirSync("/tmp"));
await attempt("read outside", () => fs.readFileSync(secret));
await attempt("list outside", () => fs.readdirSync(outside));
await attempt("write outside", () => fs.writeFileSync(outside + "/new", "x"));
await attempt("truncate outside", () => fs.truncateSync(outside + "/victim"));
await attempt("remove outside", () => fs.unlinkSync(outside + "/gone"));
await attempt("write what is read only", () => fs.writeFileSync(readable, "x"));
await attempt("symbolic link to outside", () => {
  fs.symlinkSync(secret, own + "/link");
  fs.readFileSync(own + "/link");
});
await attempt("hard link to outside", () => {
  fs.linkSync(secret, own + "/hard");
  fs.readFileSync(own + "/hard");
});
await attempt("move in from outside", () => fs.renameSync(outside + "/moved", own + "/moved"));
await attempt("change mode", () => {
  fs.writeFileSync(own + "/mode", "x");
  fs.chmodSync(own + "/mode", 0o700);
});
await attempt("change mode outside", () => fs.chmodSync(outside + "/victim", 0o666));
await attempt("list /proc", () => fs.readdirSync("/proc"));
await attempt("read the hub's environment", () => fs.readFileSync(`/proc/${hub}/environ`));
await attempt("run sh", () => run("/bin/sh", ["-c", ":"]));
await attempt("TCP", () => connect({ host: "127.0.0.1", port: tcp }));
await attempt("UDP", send);
await attempt("resolve", () => dns.lookup("localhost"));
await attempt("unix socket", () => connect({ path: outside + "/socket" }));
await attempt("signal the hub", () => process.kill(hub, 0));

// What it may.
await attempt("ok: read", () => fs.readFileSync(readable));
await attempt("ok: write, move and list", () => {
  fs.writeFileSync(own + "/a", "x");
  fs.renameSync(own + "/a", own + "/b");
  fs.mkdirSync(own + "/d");
  if (!fs.readdirSync(own).includes("b")) throw new Error("not there");
});
await attempt("ok: thread", () => new Promise((done, fail) => {
  const w = new Worker("1", { eval: true });
  w.on("error", fail);
  w.on("exit", done);
}));
await attempt("ok: clean environment", () => {
  const names = Object.keys(process.env).join();
  if (names !== "GREETING") throw new Error(names);
});
await attempt("ok: real path", () => fs.realpathSync(path.dirname(readable)));

console.log(JSON.stringify(results));
process.exit(0);
