"""Attempts of a hostile program. It prints one JSON object: what came of each."""
import json, os, resource, shutil, socket, subprocess, sys, threading, time

hub, tcp, udp = (int(a) for a in sys.argv[1:4])
own, readable, outside, abstract = sys.argv[4:8]
secret, sock = outside + "/secret", outside + "/socket"
results = {}


def attempt(name):
    def run(f):
        try:
            f()
            results[name] = "worked"
        except BaseException as e:
            results[name] = "refused: %s %s" % (type(e).__name__, e)
    return run


def read(path):
    with open(path) as f:
        f.read()


def write(path):
    with open(path, "w") as f:
        f.write("x")


def connect(family, kind, address):
    with socket.socket(family, kind) as s:
        s.settimeout(2)
        s.connect(address)
        s.send(b"x")


def execute(path):
    pid = os.fork()
    if pid == 0:
        try:
            os.execve(path, ["x", "-I", "-S", "-c", ""], {})
        finally:
            os._exit(1)
    if os.waitpid(pid, 0)[1] != 0:
        raise OSError("it was not executed")


@attempt("read /etc/passwd")
def _(): read("/etc/passwd")

@attempt("list /")
def _(): os.listdir("/")

@attempt("list /tmp")
def _(): os.listdir("/tmp")

@attempt("read outside")
def _(): read(secret)

@attempt("list outside")
def _(): os.listdir(outside)

@attempt("write outside")
def _(): write(outside + "/new")

@attempt("truncate outside")
def _(): os.truncate(outside + "/victim", 0)

@attempt("make a directory outside")
def _(): os.mkdir(outside + "/dir")

@attempt("remove outside")
def _(): os.unlink(outside + "/gone")

@attempt("write what is read only")
def _(): write(readable)

@attempt("remove what is read only")
def _(): os.unlink(os.path.dirname(readable) + "/gone")

@attempt("symbolic link to outside")
def _():
    os.symlink(secret, own + "/link")
    read(own + "/link")

@attempt("hard link to outside")
def _():
    os.link(secret, own + "/hard")
    read(own + "/hard")

@attempt("move in from outside")
def _():
    os.rename(outside + "/moved", own + "/moved")
    read(own + "/moved")

@attempt("move out")
def _():
    write(own + "/mine")
    os.rename(own + "/mine", outside + "/mine")

@attempt("change mode")
def _():
    write(own + "/mode")
    os.chmod(own + "/mode", 0o700)

@attempt("change mode outside")
def _(): os.chmod(outside + "/victim", 0o666)

@attempt("change times outside")
def _(): os.utime(outside + "/victim")

@attempt("list /proc")
def _(): os.listdir("/proc")

@attempt("read the hub's environment")
def _(): read("/proc/%d/environ" % hub)

@attempt("read own memory map")
def _(): read("/proc/self/maps")

@attempt("run sh")
def _(): subprocess.run(["/bin/sh", "-c", ":"], check=True)

@attempt("run what it wrote")
def _():
    shutil.copyfile(sys.executable, own + "/program")
    os.chmod(own + "/program", 0o700)
    execute(own + "/program")

@attempt("run memory")
def _():
    fd = os.memfd_create("x", 0)
    with open(sys.executable, "rb") as f:
        os.write(fd, b"#!" + sys.executable.encode() + b"\n")
    execute(fd)

@attempt("TCP")
def _(): connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", tcp))

@attempt("MPTCP")
def _():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as s:
        s.settimeout(2)
        s.connect(("127.0.0.1", tcp))

@attempt("listen")
def _():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()

@attempt("UDP")
def _(): connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", udp))

@attempt("resolve")
def _(): socket.getaddrinfo("localhost", 80)

@attempt("netlink")
def _(): socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close()

@attempt("unix socket")
def _(): connect(socket.AF_UNIX, socket.SOCK_STREAM, sock)

@attempt("abstract unix socket")
def _(): connect(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + abstract)

@attempt("signal the hub")
def _(): os.kill(hub, 0)

@attempt("limit the hub")
def _(): resource.prlimit(hub, resource.RLIMIT_CORE)

# What it may.

@attempt("ok: read")
def _(): read(readable)

@attempt("ok: write, move and list")
def _():
    write(own + "/a")
    os.rename(own + "/a", own + "/b")
    os.mkdir(own + "/d")
    assert "b" in os.listdir(own)
    os.unlink(own + "/b")

@attempt("ok: thread")
def _():
    t = threading.Thread(target=lambda: None)
    t.start()
    t.join()

@attempt("ok: /dev/null and randomness")
def _():
    write("/dev/null")
    with open("/dev/urandom", "rb") as f:
        f.read(1)

@attempt("ok: clean environment")
def _(): assert set(os.environ) <= {"GREETING", "LC_CTYPE"} and os.environ["GREETING"] == "hello", os.environ

@attempt("ok: no descriptor")
def _():
    for fd in range(3, 256):
        try:
            os.fstat(fd)
        except OSError:
            continue
        raise AssertionError(fd)

print(json.dumps(results))
