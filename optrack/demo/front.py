"""The HTTP front end: `GET /health`, `GET /server_info`, `POST /generate`."""

import json
import time
from collections.abc import Generator
from contextlib import closing
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any

from optrack.demo.engine import Engine, RankFailedError
from optrack.demo.text import detokenise, tokenise

MAX_NEW_TOKENS = 4096
MAX_BODY_BYTES = 1 << 20

Pieces = Generator[dict[str, Any], None, None]


class BadRequestError(Exception):
    """The client asked for something that can't be done; the message is for the client."""


class FrontEnd(ThreadingHTTPServer):
    """Listens as soon as it is made, answers 503 until `engine` is set; each client has its thread."""

    daemon_threads = True

    def __init__(self, host: str, port: int, arguments: dict[str, Any]) -> None:
        """Binds the port; raises `OSError` if it is taken. `arguments` is what `/server_info` shows."""
        super().__init__((host, port), Handler)
        self.arguments = arguments
        self.engine: Engine | None = None

    def server_bind(self) -> None:
        """Binds without asking a name server who we are, as the library's own version does."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]


class Handler(BaseHTTPRequestHandler):
    """Answers one client."""

    server: FrontEnd
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """`/health` says whether the server is ready, `/server_info` how it was set up."""
        engine = self.server.engine
        if self.path == "/health":
            status = HTTPStatus.OK if engine else HTTPStatus.SERVICE_UNAVAILABLE
            self._answer(status, {"status": "ok" if engine else "starting"})
        elif self.path == "/server_info":
            self._answer(HTTPStatus.OK, self.server.arguments | {"nccl": engine.settings if engine else []})
        else:
            self._answer(HTTPStatus.NOT_FOUND, {"error": f"no such page: {self.path}"})

    def do_POST(self) -> None:
        """`/generate` decodes a prompt: the text as a whole or, with `"stream": true`, a line a token."""
        if self.path != "/generate":
            self._answer(HTTPStatus.NOT_FOUND, {"error": f"no such page: {self.path}"})
            return
        if self.server.engine is None:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, {"error": "the server is starting"})
            return
        try:
            prompt, max_new_tokens, stream = self._request()
        except BadRequestError as error:
            self._answer(HTTPStatus.BAD_REQUEST, {"error": str(error)})
            return
        pieces = _generate(self.server.engine, prompt, max_new_tokens)
        with closing(pieces):
            if stream:
                self._stream(pieces)
            else:
                self._whole(pieces)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Keeps requests out of the log: it is for the decode lines."""

    def _request(self) -> tuple[str, int, bool]:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > MAX_BODY_BYTES:
            raise BadRequestError(f"Content-Length has to be a number up to {MAX_BODY_BYTES}")
        try:
            body = json.loads(self.rfile.read(int(length)))
        except ValueError as error:
            raise BadRequestError(f"the body is not JSON: {error}") from error
        if not isinstance(body, dict) or not isinstance(body.get("prompt"), str):
            raise BadRequestError('the body has to be an object with a text as "prompt"')
        count = body.get("max_new_tokens", 16)
        if not isinstance(count, int) or not 1 <= count <= MAX_NEW_TOKENS:
            raise BadRequestError(f'"max_new_tokens" has to be a whole number from 1 to {MAX_NEW_TOKENS}')
        return body["prompt"], count, bool(body.get("stream"))

    def _whole(self, pieces: Pieces) -> None:
        try:
            *tokens, last = pieces
        except RankFailedError as error:
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": str(error)})
            return
        self._answer(HTTPStatus.OK, {"text": "".join(piece["text"] for piece in tokens)} | last)

    def _stream(self, pieces: Pieces) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/x-ndjson")
        self.end_headers()
        try:
            for piece in pieces:
                self.wfile.write(json.dumps(piece).encode() + b"\n")
        except RankFailedError as error:
            self.wfile.write(json.dumps({"error": str(error)}).encode() + b"\n")
        except ConnectionError:
            pass  # the client has left; there is nobody to tell

    def _answer(self, status: HTTPStatus, value: object) -> None:
        body = json.dumps(value).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _generate(engine: Engine, prompt: str, max_new_tokens: int) -> Pieces:
    """Yields the text and step time of each token as it comes, then what is known about the whole request."""
    began = time.perf_counter()
    tokens = tokenise(prompt)
    with closing(engine.generate(tokens, max_new_tokens)) as decoded:
        for token, seconds in decoded:
            yield {"text": detokenise(token), "step_ms": round(1000 * seconds, 4)}
    meta = {
        "prompt_tokens": len(tokens),
        "completion_tokens": max_new_tokens,
        "e2e_latency": time.perf_counter() - began,
    }
    yield {"meta_info": meta}
