"""A miniature tensor-parallel inference server: `python -m optrack.demo.server --port 30000`.

This process binds the port, starts the ranks (`rank`) and answers `GET /health`, `GET /server_info` and
`POST /generate`, one request at a time.
"""

import argparse
import json
import logging
import multiprocessing
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from socketserver import TCPServer
from typing import Any

STOP_S = 0.3
"""So long a rank may take to end when asked."""

MAX_TP = 8
MAX_NEW_TOKENS = 4096
MAX_BODY_BYTES = 1 << 20
SYLLABLES = [c + v for c in "bcdfghjklmnprstvwz" for v in ("a", "e", "i", "o", "u", "an ", "er ")]
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class StopRequested(Exception):  # noqa: N818 (not an error)
    """SIGINT or SIGTERM has come."""


class RankFailedError(Exception):
    """A rank ended, or refused its settings; `exit_code` is what the server should end with."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Engine:
    """The group of ranks; `settings` are the effective `NCCL_*` settings, as each rank read them."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._tp = args.tp
        self._options = ["--tp", str(args.tp), "--layers", str(args.layers)]
        self._options += ["--disable-graph"] if args.disable_graph else []
        self._processes: list[subprocess.Popen[bytes]] = []
        self._pipes: list[Connection] = []
        self._turn = threading.Lock()
        self.settings: list[dict[str, str]] = []

    def start(self) -> None:
        """Start the ranks and wait until all are ready; raises RankFailedError if one never will be."""
        for rank in range(self._tp):
            ours, theirs = multiprocessing.Pipe()
            self._pipes.append(ours)
            options = ["--rank", str(rank), "--pipe", str(theirs.fileno()), *self._options]
            self._processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", "optrack.demo.rank", *options],
                    stdin=subprocess.DEVNULL,
                    env=os.environ | _ONE_THREAD,  # a rank has one core: threads would only get in its way
                    pass_fds=[theirs.fileno()],
                )
            )
            theirs.close()
        greetings = [self._hear(rank) for rank in range(self._tp)]
        self.settings = [greeting["nccl"] for greeting in greetings]
        self._tell(([greeting["port"] for greeting in greetings], secrets.token_bytes(16)))
        for rank in range(self._tp):
            self._hear(rank)

    def generate(self, prompt: list[int], count: int) -> Generator[tuple[int, float], None, None]:
        """Yield each token with the seconds that its decode step took; RankFailedError if a rank is lost."""
        with self._turn:
            self._tell({"prompt": prompt, "max_new_tokens": count})
            left = count
            try:
                while left:
                    token, seconds = self._hear(0)
                    left -= 1
                    yield token, seconds
            finally:  # the client may have gone: the ranks still decode to the end
                for _ in range(left):
                    self._hear(0)

    def wait(self) -> str:
        """Wait until a rank ends, which none should, and say which and how."""
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        ended = {rank: code for rank, p in enumerate(self._processes) if (code := p.poll()) is not None}
        if -signal.SIGTERM in ended.values():
            time.sleep(STOP_S)  # whoever stops a whole tree may reach a rank first: our signal is on its way
        return ", ".join(f"rank {rank} ended with status {code}" for rank, code in ended.items())

    def stop(self) -> None:
        """End every rank: ask first, then insist. Returns when none is left."""
        for process in self._processes:
            process.terminate()
        deadline = time.monotonic() + STOP_S
        for process in self._processes:
            try:
                process.wait(max(deadline - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _tell(self, value: object) -> None:
        for rank, pipe in enumerate(self._pipes):
            try:
                pipe.send(value)
            except OSError as error:
                raise RankFailedError(f"rank {rank} has ended: see the log above") from error

    def _hear(self, rank: int) -> Any:
        try:
            value = self._pipes[rank].recv()
        except (EOFError, OSError) as error:
            raise RankFailedError(f"rank {rank} has ended: see the log above") from error
        if isinstance(value, dict) and "error" in value:
            raise RankFailedError(value["error"], exit_code=2)
        return value


class FrontEnd(ThreadingHTTPServer):
    """Listens as soon as it is made, and answers 503 until `engine` is set."""

    daemon_threads = True

    def __init__(self, host: str, port: int, arguments: dict[str, Any]) -> None:
        super().__init__((host, port), Handler)
        self.arguments = arguments
        self.engine: Engine | None = None

    def server_bind(self) -> None:
        """Bind without asking a name server who we are, as the library's own version does."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]


class Handler(BaseHTTPRequestHandler):
    """Answers one client."""

    server: FrontEnd
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Say whether the server is ready, or how it was set up."""
        engine = self.server.engine
        if self.path == "/health":
            self._answer(200 if engine else 503, {"status": "ok" if engine else "starting"})
        elif self.path == "/server_info":
            self._answer(200, self.server.arguments | {"nccl": engine.settings if engine else []})
        else:
            self._answer(404, {"error": f"no such page: {self.path}"})

    def do_POST(self) -> None:
        """Decode a prompt: the text as a whole or, with `"stream": true`, a line of JSON a token."""
        if self.path != "/generate" or self.server.engine is None:
            self._answer(503 if self.path == "/generate" else 404, {"error": f"not served: {self.path}"})
            return
        try:
            request = self._request()
        except ValueError as error:
            self._answer(400, {"error": str(error)})
            return
        pieces = _pieces(self.server.engine, request["prompt"], request.get("max_new_tokens", 16))
        with closing(pieces):
            try:
                if request.get("stream"):
                    self._start(200, "application/x-ndjson")
                    for piece in pieces:
                        self.wfile.write(json.dumps(piece).encode() + b"\n")
                else:
                    *tokens, last = pieces
                    self._answer(200, {"text": "".join(token["text"] for token in tokens)} | last)
            except RankFailedError as error:
                self._answer(500, {"error": str(error)})
            except ConnectionError:
                pass  # the client has left; there is nobody to tell

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's name)
        """Keep requests out of the log: it is for the decode lines."""

    def _request(self) -> dict[str, Any]:
        """Return the request's body; raises ValueError, with a reason for the client, if it can't be served."""
        length = int(self.headers.get("Content-Length", "-1"))
        body = json.loads(self.rfile.read(length)) if 0 <= length <= MAX_BODY_BYTES else None
        if not isinstance(body, dict) or not isinstance(body.get("prompt"), str):
            raise ValueError('the body has to be an object with a text as "prompt"')
        count = body.get("max_new_tokens", 16)
        if not isinstance(count, int) or not 1 <= count <= MAX_NEW_TOKENS:
            raise ValueError(f'"max_new_tokens" has to be a whole number from 1 to {MAX_NEW_TOKENS}')
        return body

    def _start(self, status: int, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()

    def _answer(self, status: int, value: object) -> None:
        self._start(status, "application/json")
        self.wfile.write(json.dumps(value).encode() + b"\n")


def _pieces(engine: Engine, prompt: str, count: int) -> Generator[dict[str, Any], None, None]:
    """Yield the text and step time of each token as it comes, then what is known about the whole request."""
    begin = time.perf_counter()
    tokens = [byte % len(SYLLABLES) for byte in prompt.encode()] or [0]
    with closing(engine.generate(tokens, count)) as decoded:
        for token, seconds in decoded:
            yield {"text": SYLLABLES[token], "step_ms": round(1000 * seconds, 4)}
    seconds = time.perf_counter() - begin
    yield {"meta_info": {"prompt_tokens": len(tokens), "completion_tokens": count, "e2e_latency": seconds}}


def main() -> int:
    """Serve until told to stop (0), a rank fails (1) or a setting turns out to be unusable (2)."""
    parser = argparse.ArgumentParser(description="A miniature tensor-parallel inference server.")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, required=True, help="the port to listen on")
    parser.add_argument("--tp", type=int, default=2, choices=range(1, MAX_TP + 1), help="ranks (%(default)s)")
    parser.add_argument("--layers", type=int, default=3, help="all-reduces in a decode step (%(default)s)")
    parser.add_argument("--disable-graph", action="store_true", help="don't capture: slower, fewer limits")
    args = parser.parse_args()
    form = "[%(asctime)s] %(message)s"
    logging.basicConfig(format=form, datefmt="%Y-%m-%d %H:%M:%S", level=logging.INFO)
    try:
        front = FrontEnd(args.host, args.port, vars(args))
    except OSError as error:
        why = f"[Errno {error.errno}] {(error.strerror or str(error)).lower()}"
        logging.info("Can't listen on %s:%d: %s", args.host, args.port, why)
        return 1
    engine = Engine(args)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _request_stop)
    threading.Thread(target=front.serve_forever, args=[0.05], daemon=True).start()
    try:
        logging.info("server_args=%s", vars(args))
        engine.start()
        for _ in engine.generate([0], 32):
            pass
        front.engine = engine
        logging.info("The server is fired up and ready to roll!")
        raise RankFailedError(engine.wait())
    except RankFailedError as error:
        logging.info("The server can't go on: %s", error)
        return error.exit_code
    except StopRequested:
        logging.info("Stopping.")
        return 0
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        engine.stop()
        front.shutdown()
        front.server_close()


def _request_stop(number: int, _frame: object) -> None:
    raise StopRequested


if __name__ == "__main__":
    sys.exit(main())
