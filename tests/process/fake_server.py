"""A server that misbehaves on request: `python fake_server.py --port N [--ready-after S] [--orphan] …`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def main() -> None:
    options = _options()
    if options.ignore_term:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, lambda number, frame: os._exit(0))
    for _ in range(options.orphans):
        _orphan(options.setsid, options.wipe)
    for _ in range(options.stubborn):
        _stubborn_child()
    say("loading")
    time.sleep(options.bind_after)
    begin = time.monotonic()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            time.sleep(options.slow)
            loading = time.monotonic() - begin < options.ready_after
            status = 503 if loading else 200
            if self.path == "/moved":
                status = 302
            self.send_response(status)
            if self.path == "/moved":
                self.send_header("Location", options.location)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            if options.access_log:
                say(str(args))

    port = options.port + options.shift
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    say(f"Uvicorn running on http://127.0.0.1:{port} (Press CTRL+C to quit)")
    if options.flood:
        line = "x" * 99 + "\n"
        for _ in range(options.flood // 100_000):
            sys.stdout.write(line * 1000)
        sys.stdout.flush()
    say("The server is fired up and ready to roll!")
    say(f"ready at {begin + options.ready_after:.4f}")
    if options.die_after is not None:
        threading.Thread(target=_die, args=(options,), daemon=True).start()
    server.serve_forever()


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _die(options: argparse.Namespace) -> None:
    time.sleep(options.die_after)
    say("RuntimeError: warmup error")
    os._exit(options.code)


def _orphan(setsid: bool, wipe: bool) -> None:
    """Fork twice, so that the grandchild loses its parent; it ignores SIGTERM and lives on.

    Its last argument is the current folder, by which a test knows it again.
    """
    if os.fork() == 0:
        if setsid:
            os.setsid()
        if os.fork() == 0:
            if setsid:
                os.setsid()
            program = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
            command = [sys.executable, "-S", "-c", program, str(Path.cwd())]
            os.execve(sys.executable, command, {} if wipe else dict(os.environ))
        os._exit(0)
    os.wait()


def _stubborn_child() -> None:
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        time.sleep(600)
        os._exit(0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--shift", type=int, default=0, help="listen on another port by so much")
    parser.add_argument("--bind-after", type=float, default=0.0)
    parser.add_argument("--ready-after", type=float, default=0.0, help="503 until then")
    parser.add_argument("--slow", type=float, default=0.0, help="seconds that each answer takes")
    parser.add_argument("--location", default="/health", help="where /moved redirects to")
    parser.add_argument("--die-after", type=float)
    parser.add_argument("--code", type=int, default=1)
    parser.add_argument("--flood", type=int, default=0, help="so many bytes of log before the ready line")
    parser.add_argument("--orphans", type=int, default=0)
    parser.add_argument("--stubborn", type=int, default=0, help="children that ignore signals")
    for flag in ("--setsid", "--wipe", "--ignore-term", "--access-log"):
        parser.add_argument(flag, action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
