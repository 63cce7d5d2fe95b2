"""`optrack serve`: only pages of its own may look, only so many at once, and nothing comes from elsewhere."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.cli.quick import quick
from tests.terminal.shells import environment, shell

MOST = 2
FOREIGN = (
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Host": "evil.example"},
    {"Host": "evil.example:{port}"},
    {"Origin": "http://localhost:1"},
    {"Origin": "https://localhost:{port}"},
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Serve a small project on loopback; give the port."""
    folder = tmp_path_factory.mktemp("served")
    project = quick(folder / "project")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    words = [sys.executable, "-P", "-m", "optrack", "serve", "--port", str(port), "--max-visitors", str(MOST)]
    with subprocess.Popen(
        words, cwd=project, env=environment(folder, {}), stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert f"serving on http://127.0.0.1:{port}" in line, line
        yield port
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def filled(headers: Mapping[str, str], port: int) -> dict[str, str]:
    return {name: value.format(port=port) for name, value in headers.items()}


@asynccontextmanager
async def visit(port: int, headers: Mapping[str, str] = {}) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """Open the screens as a browser's page does, and read on until they have drawn something."""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"http://127.0.0.1:{port}/ws", headers=headers) as websocket,
    ):
        await websocket.receive(timeout=60)
        yield websocket


@pytest.mark.parametrize("headers", FOREIGN)
async def test_a_foreign_origin_or_host_gets_neither_page_nor_screens(
    served: int, headers: dict[str, str]
) -> None:
    mine = filled(headers, served)
    async with aiohttp.ClientSession() as session:
        for path in ("/", "/static/js/textual.js"):
            async with session.get(f"http://127.0.0.1:{served}{path}", headers=mine) as answer:
                assert answer.status == 403, path
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(f"http://127.0.0.1:{served}/ws", headers=mine)
    assert refused.value.status == 403


async def test_the_page_and_what_it_loads_name_no_other_host(served: int) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"http://localhost:{served}/") as answer:
            page, policy = await answer.text(), answer.headers["Content-Security-Policy"]
        assert answer.status == 200
        for address in re.findall(r"(?:src|href)=\"([^\"]+)\"|url\(\"?([^\")]+)", page):
            path = next(filter(None, address))
            assert path.startswith("/") and not path.startswith("//"), path
        async with session.get(f"http://localhost:{served}/static/css/xterm.css") as style:
            assert not re.search(r"https?://", await style.text())
    assert "default-src 'none'" in policy
    assert not re.search(r"https?://", policy)


async def test_the_screens_are_shown_to_their_own_page_and_to_so_many_at_once(served: int) -> None:
    own = {"Origin": f"http://localhost:{served}", "Host": f"localhost:{served}"}
    async with visit(served, own), visit(served):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            async with visit(served):
                pass
        assert refused.value.status == 503
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://127.0.0.1:{served}/") as answer,
        ):
            assert answer.status == 503
            assert "--max-visitors" in await answer.text()


def test_a_taken_port_and_an_address_for_all_are_refused_before_anything_is_said(
    tmp_path: Path,
) -> None:
    project = quick(tmp_path / "project")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = shell(project, f"optrack serve --port {port}")
    assert ended.code == 2
    assert str(port).encode() in ended.err
    assert b"serving on" not in ended.err
    open_to_all = shell(project, "optrack serve --host 0.0.0.0")
    assert open_to_all.code == 2
    assert b"--anywhere" in open_to_all.err
