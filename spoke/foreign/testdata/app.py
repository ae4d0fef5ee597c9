"""An app: one JSON object a line, down and up."""
import http.client, json, os, sys, time


def say(o):
    print(json.dumps(o), flush=True)


def ask(o):
    say(o)
    reply = json.loads(sys.stdin.readline())
    if "error" in reply:
        raise RuntimeError(reply["error"])
    return reply.get("value", reply.get("values"))


def fetch(host, port, tunnel=True):
    c = http.client.HTTPConnection("127.0.0.1", 3128, timeout=20)
    try:
        if tunnel:
            c.set_tunnel(host, int(port))
            c.request("GET", "/")
        else:
            c.request("GET", "http://%s:%s/" % (host, port))
        r = c.getresponse()
        return "%d %s" % (r.status, r.read().decode())
    except OSError as e:
        return "refused " + str(e)


kept, calls = None, 0


def hold(host, port):
    global kept
    kept = http.client.HTTPConnection("127.0.0.1", 3128, timeout=20)
    kept.set_tunnel(host, int(port))
    kept.request("GET", "/")
    return kept.getresponse().read().decode()


def again():
    try:
        kept.sock.sendall(b"GET /again HTTP/1.1\r\nHost: x\r\n\r\n")
        return "sent" if kept.sock.recv(100) else "closed"
    except OSError as e:
        return "closed"


def work(text):
    words = text.split(" ")
    match words[0]:
        case "echo":
            return " ".join(words[1:])
        case "calls":
            return str(calls)
        case "use":
            return ask({"use": {"name": "note.read", "body": {"text": words[1]}}})["text"]
        case "need":
            return json.dumps(ask({"need": [{"name": "home", "purpose": "to go there"}]}))
        case "confirm":
            return str(ask({"confirm": {"name": "tool.change", "body": {"text": words[1]}}}))
        case "progress":
            ask({"progress": "half way"})
            return "told"
        case "fetch":
            return fetch(*words[1:])
        case "thrice":
            return ", ".join(fetch(*words[1:]) for _ in range(3))
        case "plain":
            return fetch(*words[1:], tunnel=False)
        case "hold":
            return hold(*words[1:])
        case "again":
            return again()
        case "exit":
            os._exit(int(words[1]))
        case "silence":
            time.sleep(3600)
        case "long":
            sys.stdout.write("x" * (2 << 20) + "\n")
            sys.stdout.flush()
        case "raw":
            print(" ".join(words[1:]), flush=True)
            time.sleep(3600)
        case "twice":
            say({"result": {"text": "early"}})
            return "late"
        case "close":
            os.close(1)
            time.sleep(3600)
        case "deaf":
            os.close(0)
            say({"progress": "x"})
            time.sleep(3600)
        case error:
            raise RuntimeError(error)


for line in sys.stdin:
    calls += 1
    call = json.loads(line)["call"]
    try:
        say({"result": {"text": work(call["body"]["text"])}})
    except RuntimeError as e:
        say({"error": str(e)})
