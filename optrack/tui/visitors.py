"""The web application behind `optrack serve`: who may look, how many at once, and what their pages hold."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from string import Template
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.server import Server

_PAGE = Template((Path(__file__).parent / "serve.html").read_text(encoding="utf-8"))
_COLUMNS, _LINES = (20, 500), (5, 300)
_SCHEME = re.compile(r"https?://")
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def names_of(host: str) -> frozenset[str]:
    """Return the names in lower case under which a server on `host` may be called in a browser."""
    names = {host, "localhost", "127.0.0.1", "::1"}
    if host in ("0.0.0.0", "::"):
        names |= {socket.gethostname(), socket.getfqdn()}
    return frozenset(name.lower() for name in names)


def address(host: str, port: int) -> str:
    """Return host and port as a URL has them."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Visitors(Server):
    """Serves the screens to at most `most` visitors, each with a process, and to no page of another site."""

    def __init__(self, command: str, host: str, port: int, *, most: int) -> None:
        super().__init__(command, host=host, port=port, title="optrack")
        self._names = names_of(host)
        self._most = most
        self._visits = 0
        self._sockets: set[web.WebSocketResponse] = set()

    async def _make_app(self) -> web.Application:
        app = web.Application(middlewares=[self._guard])
        app.add_routes(
            [
                web.get("/", self.page),
                web.get("/ws", self.handle_websocket),
                web.get("/download/{key}", self.handle_download),
                web.get("/static/css/xterm.css", self.style),
                web.static("/static", self.statics_path),
            ]
        )
        app.on_response_prepare.append(self._protect)
        app.on_shutdown.append(self._close_all)
        return app

    def application(self) -> Awaitable[web.Application]:
        """Return the application, to be run."""
        return self._make_app()

    # who may look
    @web.middleware
    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Refuse what was addressed to another name than the served one, or comes from another site's page."""
        host = request.headers.get("Host", "")
        origins = request.headers.getall("Origin", [])
        if len(request.headers.getall("Host", [])) != 1 or not self._is_served(request, host):
            raise web.HTTPForbidden(text=self._refusal("address"))
        for origin in origins:
            scheme, _, name = origin.partition("://")
            if scheme.lower() != "http" or not self._is_served(request, name):
                raise web.HTTPForbidden(text=self._refusal("page"))
        return await handler(request)

    def _refusal(self, what: str) -> str:
        return f"This {what} isn't the served one. Open http://{address('localhost', self.port)}/\n"

    def _is_served(self, request: web.Request, host: str) -> bool:
        """Whether `NAME:PORT` is this server: a name of its host, or the address that the visitor came in by."""
        name, port = _split(host.lower())
        reached = request.transport.get_extra_info("sockname") if request.transport else None
        names = self._names | {reached[0]} if reached else self._names
        return name in names and port == self.port

    async def _protect(self, request: web.Request, response: web.StreamResponse) -> None:
        host = request.headers.get("Host", "")
        own = f" ws://{host}" if self._is_served(request, host) else ""
        response.headers["Content-Security-Policy"] = (
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
            f"font-src 'self'; connect-src 'self'{own}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        response.headers["X-Frame-Options"] = "DENY"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"

    # what they see
    async def page(self, request: web.Request) -> web.Response:
        """Return the page that shows the screens, or that as many look already as may."""
        if self._visits >= self._most:
            raise self._full()
        size = _within(request.query.get("fontsize"), (8, 40), 16)
        text = _PAGE.substitute(websocket=f"ws://{request.headers['Host']}/ws", font_size=size)
        return web.Response(text=text, content_type="text/html", headers={"Cache-Control": "no-store"})

    def _full(self) -> web.HTTPServiceUnavailable:
        people = "1 visitor looks" if self._most == 1 else f"{self._most} visitors look"
        return web.HTTPServiceUnavailable(
            text=f"{people} already, which is as many as may (--max-visitors). Try again later.\n",
            headers={"Retry-After": "10"},
        )

    async def style(self, request: web.Request) -> web.Response:
        """Return the terminal's style without the addresses in its comments."""
        text = (Path(self.statics_path) / "css" / "xterm.css").read_text(encoding="utf-8")
        return web.Response(text=_SCHEME.sub("", text), content_type="text/css")

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Run the screens for one visitor, until the visitor or the screens leave."""
        if self._visits >= self._most:
            raise self._full()
        self._visits += 1
        websocket = web.WebSocketResponse(heartbeat=15)
        try:
            await websocket.prepare(request)
            self._sockets.add(websocket)
            await self._show(request, websocket)
        finally:
            self._sockets.discard(websocket)
            self._visits -= 1
        return websocket

    async def _show(self, request: web.Request, websocket: web.WebSocketResponse) -> None:
        service = AppService(
            self.command,
            write_bytes=websocket.send_bytes,
            write_str=websocket.send_str,
            close=_closing(websocket),
            download_manager=self.download_manager,
        )
        try:
            width = _within(request.query.get("width"), _COLUMNS, 80)
            await service.start(width, _within(request.query.get("height"), _LINES, 24))
            await self._process_messages(websocket, service)
        finally:
            await service.stop()

    async def _process_messages(self, websocket: web.WebSocketResponse, app_service: AppService) -> None:
        async for message in websocket:
            if message.type is not WSMsgType.TEXT:
                continue
            try:
                kind, *rest = json.loads(message.data)
                await _obey(websocket, app_service, kind, rest[0] if rest else None)
            except (ValueError, TypeError, AttributeError, KeyError):
                await websocket.close(code=WSCloseCode.UNSUPPORTED_DATA)

    async def _close_all(self, app: web.Application) -> None:
        for websocket in tuple(self._sockets):
            await websocket.close(code=WSCloseCode.GOING_AWAY)


async def _obey(websocket: web.WebSocketResponse, service: AppService, kind: str, value: Any) -> None:
    match kind:
        case "stdin":
            await service.send_bytes(value.encode("utf-8", errors="replace"))
        case "resize":
            width = _within(value["width"], _COLUMNS, 80)
            await service.set_terminal_size(width, _within(value["height"], _LINES, 24))
        case "ping":
            await websocket.send_json(["pong", value])
        case "blur":
            await service.blur()
        case "focus":
            await service.focus()


def _closing(websocket: web.WebSocketResponse) -> Callable[[], Awaitable[None]]:
    async def close() -> None:
        await websocket.close()

    return close


def _split(host: str) -> tuple[str, int]:
    """Return name and port of a Host header, 80 where it has none; no name where it is malformed."""
    match = re.fullmatch(r"(?:\[([0-9a-f:.]+)\]|([^:/@\[\]]+))(?::(\d{1,5}))?", host)
    return (match[1] or match[2], int(match[3] or 80)) if match else ("", 0)


def _within(value: object, bounds: tuple[int, int], default: int) -> int:
    """Return a whole number as a visitor sent it, within bounds."""
    try:
        return min(max(int(str(value)), bounds[0]), bounds[1])
    except ValueError:
        return default
