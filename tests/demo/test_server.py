"""The demo server and its benchmark client, run as the processes that a user would run."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

READY = "The server is fired up and ready to roll!"
PATIENCE_S = 20.0
QUESTION = {"prompt": "Which is faster?", "max_new_tokens": 40}


@dataclass
class Server:
    """A server process, its port, and the file that holds its output."""

    process: subprocess.Popen[bytes]
    port: int
    output: Path

    @property
    def log(self) -> str:
        """What the server has said so far."""
        return self.output.read_text()

    def request(self, method: str, path: str, body: object = None) -> tuple[int, str]:
        """The status and text of the server's answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def ask(self, **changes: object) -> dict[str, Any]:
        """The answer to the question that all servers are asked."""
        status, text = self.request("POST", "/generate", QUESTION | changes)
        assert status == 200, text
        answer: dict[str, Any] = json.loads(text)
        return answer

    def wait_until_ready(self) -> "Server":
        """Returns when the server says so."""
        wait_for(lambda: READY in self.log or self.process.poll() is not None)
        assert READY in self.log, self.log
        return self

    def family(self) -> list[psutil.Process]:
        """The server's process and its ranks."""
        parent = psutil.Process(self.process.pid)
        return [parent, *parent.children(recursive=True)]


Start = Callable[..., Server]


def wait_for(condition: Callable[[], bool]) -> None:
    """Returns when the condition holds; it has to in time."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


def running(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that haven't ended; a zombie has."""
    return [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def marked(mark: str) -> list[psutil.Process]:
    """All processes that have the mark in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("DEMO_TEST") == mark:
                found.append(process)
        except psutil.Error:
            continue
    return running(found)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts servers, and ends those that a test leaves running."""
    servers: list[Server] = []

    def launch(*arguments: str, port: int | None = None, **variables: str) -> Server:
        port = port or free_port()
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("NCCL_")}
        output = tmp_path / f"server-{len(servers)}.log"
        with output.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "optrack.demo.server", "--port", str(port), *arguments],
                env=inherited | variables | {"DEMO_TEST": str(tmp_path)},
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        servers.append(Server(process, port, output))
        return servers[-1]

    yield launch
    for server in servers:
        server.process.terminate()
        server.process.wait(PATIENCE_S)


def bench(port: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the benchmark client to its end, with a proxy in its environment that it should not use."""
    return subprocess.run(
        [sys.executable, "-m", "optrack.demo.bench", "--port", str(port), *arguments],
        env=os.environ | {"http_proxy": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_a_server_gets_ready_and_generates(start: Start) -> None:
    server = start(NCCL_MAX_NCHANNELS="4").wait_until_ready()
    assert server.request("GET", "/health")[0] == 200
    answer = server.ask()
    assert answer["text"] != server.ask(prompt="Which is slower?")["text"]
    assert answer["meta_info"]["completion_tokens"] == 40
    assert answer["meta_info"]["e2e_latency"] > 0
    assert "Capture graph begin" in server.log
    assert "TP0] Decode batch, #running-req: 1, #token: 48, graph: True, gen throughput" in server.log


def test_a_stream_brings_the_same_text_token_by_token(start: Start) -> None:
    server = start().wait_until_ready()
    _, text = server.request("POST", "/generate", QUESTION | {"stream": True})
    *tokens, last = [json.loads(line) for line in text.splitlines()]
    assert len(tokens) == 40
    assert "".join(token["text"] for token in tokens) == server.ask()["text"]
    assert last["meta_info"]["completion_tokens"] == 40


def test_the_server_says_what_each_rank_found_in_its_environment(start: Start) -> None:
    server = start("--layers", "2", NCCL_MAX_NCHANNELS="2", NCCL_NTHREADS="256")
    _, text = server.wait_until_ready().request("GET", "/server_info")
    info = json.loads(text)
    assert (info["tp"], info["layers"], info["disable_graph"]) == (2, 2, False)
    seen = {
        "NCCL_ALGO": "Ring",
        "NCCL_MAX_NCHANNELS": "2",
        "NCCL_PROTO": "Simple",
        "NCCL_NTHREADS": "256",
    }
    assert info["nccl"] == [seen, seen]


def test_a_bad_request_is_refused_with_a_reason_and_the_next_one_is_served(start: Start) -> None:
    server = start().wait_until_ready()
    for body in ({"prompt": 3}, {"prompt": "x", "max_new_tokens": 0}, ["prompt"], None):
        status, text = server.request("POST", "/generate", body)
        assert status == 400, text
    assert server.request("GET", "/nowhere")[0] == 404
    assert server.ask()["text"]


def test_a_client_that_leaves_does_not_disturb_the_next(start: Start) -> None:
    server = start().wait_until_ready()
    expected = server.ask()["text"]
    body = json.dumps(QUESTION | {"stream": True, "max_new_tokens": 500}).encode()
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(b"POST /generate HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        client.recv(10)
    assert server.ask()["text"] == expected


def test_a_tree_can_not_be_captured(start: Start, tmp_path: Path) -> None:
    server = start(NCCL_ALGO="Tree")
    assert server.process.wait(PATIENCE_S) == 1
    assert "Capture graph begin" in server.log
    assert "Scheduler hit an exception: Traceback (most recent call last):" in server.log
    assert "Capture graph failed: NCCL error: invalid usage" in server.log
    assert READY not in server.log
    assert not marked(str(tmp_path))


def test_the_text_does_not_depend_on_how_the_ranks_add_up(start: Start) -> None:
    texts = [
        start(*arguments, **variables).wait_until_ready().ask()["text"]
        for arguments, variables in (
            (["--tp", "1"], {}),
            (["--tp", "1"], {"NCCL_ALGO": "Tree"}),
            (["--tp", "2"], {"NCCL_MAX_NCHANNELS": "16"}),
            (["--tp", "2"], {"NCCL_MAX_NCHANNELS": "2"}),
            (["--tp", "2", "--disable-graph"], {"NCCL_ALGO": "tree"}),
            (["--tp", "3"], {"NCCL_MAX_NCHANNELS": "5"}),
            (["--tp", "4", "--disable-graph"], {"NCCL_ALGO": "Tree"}),
            (["--tp", "4", "--disable-graph"], {"NCCL_MAX_NCHANNELS": "1"}),
        )
    ]
    assert len(set(texts)) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("NCCL_ALGO", "Star"), ("NCCL_MAX_NCHANNELS", "many"), ("NCCL_PROTO", "Fast"), ("NCCL_NTHREADS", "7")],
)
def test_a_bad_setting_is_refused_by_name(start: Start, name: str, value: str) -> None:
    server = start(**{name: value})
    assert server.process.wait(PATIENCE_S) == 2
    assert f"invalid argument: {name}='{value}'" in server.log
    assert "Traceback" not in server.log


def test_a_taken_port_is_an_error_before_any_work(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        server = start(port=taken.getsockname()[1])
        assert server.process.wait(PATIENCE_S) == 1
    assert "[Errno 98] address already in use" in server.log
    assert "TP0" not in server.log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_and_its_ranks(start: Start, number: signal.Signals) -> None:
    server = start().wait_until_ready()
    family = server.family()
    assert len(family) == 3
    server.process.send_signal(number)
    assert server.process.wait(PATIENCE_S) == 0
    assert not running(family)


def test_a_signal_while_starting_ends_everything_too(start: Start, tmp_path: Path) -> None:
    server = start()
    wait_for(lambda: "server_args" in server.log)
    server.process.terminate()
    assert server.process.wait(PATIENCE_S) == 0
    wait_for(lambda: not marked(str(tmp_path)))


def test_ranks_do_not_outlive_a_killed_server(start: Start) -> None:
    server = start().wait_until_ready()
    family = server.family()
    server.process.kill()
    wait_for(lambda: not running(family))


def test_a_lost_rank_ends_the_server(start: Start) -> None:
    server = start().wait_until_ready()
    family = server.family()
    family[2].kill()
    assert server.process.wait(PATIENCE_S) == 1
    assert not running(family)


def test_the_benchmark_prints_a_table_and_appends_a_line(start: Start, tmp_path: Path) -> None:
    server = start().wait_until_ready()
    results = tmp_path / "results.jsonl"
    for _ in range(2):
        done = bench(server.port, "--num-prompts", "3", "--output-len", "10", "--output-file", str(results))
        assert done.returncode == 0, done.stderr
    assert "============ Serving Benchmark Result ============" in done.stdout
    for label in (
        "Successful requests:",
        "Output token throughput (tok/s):",
        "Mean ITL (ms):",
        "Median ITL (ms):",
        "Mean E2E Latency (ms):",
    ):
        assert label in done.stdout
    first, second = [json.loads(line) for line in results.read_text().splitlines()]
    assert second.keys() == first.keys()
    assert (first["completed"], first["failed"], first["total_output_tokens"]) == (3, 0, 30)
    assert first["output_throughput"] == pytest.approx(30 / first["duration"])
    assert 0 < first["median_itl_ms"] <= first["p99_itl_ms"] < first["mean_e2e_latency_ms"]


def test_a_benchmark_without_a_server_fails_and_says_so(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    done = bench(free_port(), "--num-prompts", "2", "--output-file", str(results))
    assert done.returncode == 1
    assert "Connection refused" in done.stderr
    figures = json.loads(results.read_text())
    assert (figures["completed"], figures["failed"], figures["mean_itl_ms"]) == (0, 2, None)
