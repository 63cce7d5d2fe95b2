"""The SGLang engine: its commands, its readiness, what it asks the server, what it warns of."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from optrack.engines.protocol import Place
from optrack.engines.registry import engine_named
from optrack.engines.sglang import READY_LINE, SglangEngine
from optrack.errors import PlanError
from optrack.model.recipe import Recipe
from optrack.model.recipe_parts import Bench, Ready

SGLANG = engine_named("sglang")


def place(tmp_path: Path, port: int = 31999) -> Place:
    """Return where a launch happens in these tests."""
    return Place(run="R1", item="1A", launch=0, run_dir=tmp_path, port=port)


def recipe(**changes: Any) -> Recipe:
    """Return a recipe for the engine."""
    return Recipe.model_validate({"engine": "sglang", "server": {"model-path": "models/m"}} | changes)


def command_words(tmp_path: Path, **server: Any) -> list[str]:
    """Return the words of the server's command."""
    command = SGLANG.server(recipe(server={"model-path": "m", **server}), place(tmp_path))
    assert command is not None
    return shlex.split(command.shell)


def _after(words: list[str], option: str) -> str:
    return words[words.index(option) + 1]


def test_arguments_become_options_and_what_is_missing_is_added(tmp_path: Path) -> None:
    words = command_words(tmp_path, **{"tp": 2, "mem_fraction_static": 0.88, "cuda-graph-bs": [1, 2, 4]})
    assert words[:4] == ["exec", "python3", "-m", "sglang.launch_server"]
    assert _after(words, "--mem-fraction-static") == "0.88"
    assert words[words.index("--cuda-graph-bs") :][:4] == ["--cuda-graph-bs", "1", "2", "4"]
    assert (_after(words, "--host"), _after(words, "--port")) == ("127.0.0.1", "31999")
    assert _after(words, "--random-seed") == "1"
    assert _after(words, "--served-model-name") == "optrack-R1-0"


def test_true_is_the_option_alone_and_false_and_null_leave_it_out(tmp_path: Path) -> None:
    words = command_words(tmp_path, **{"disable-radix-cache": True, "enable-metrics": False, "dtype": None})
    assert "--disable-radix-cache" in words
    assert words[words.index("--disable-radix-cache") + 1].startswith("--")
    assert {"--enable-metrics", "--dtype"}.isdisjoint(words)


def test_what_the_recipe_says_is_not_added_again(tmp_path: Path) -> None:
    words = command_words(tmp_path, **{"random-seed": 7, "served_model_name": "mine"})
    assert (words.count("--random-seed"), _after(words, "--random-seed")) == (1, "7")
    assert words.count("--served-model-name") == 1


def test_a_value_with_a_dollar_is_left_to_the_shell_and_nothing_else_is() -> None:
    engine = SglangEngine(python="echo")
    server = {"model-path": "$MODEL", "tp-size": "$(echo 2)", "revision": "a b; `date`"}
    command = engine.server(recipe(server=server), place(Path("/tmp")))
    assert command is not None
    shown = subprocess.run(
        ["bash", "-c", command.shell],
        env={"MODEL": "my model", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    ).stdout
    assert "--model-path my model --tp-size 2 --revision a b; `date`" in shown


def test_a_launch_text_takes_the_place_of_the_program(tmp_path: Path) -> None:
    text = 'cd "$REPO" && exec /opt/py/bin/python -m sglang.launch_server --host 0.0.0.0'
    command = SGLANG.server(recipe(launch=text), place(tmp_path))
    assert command is not None
    assert command.shell.startswith(f"{text} --model-path models/m --port 31999")
    assert command.shell.count("--host") == 1
    bench = SGLANG.bench(recipe(launch=text), Bench(tool="sglang.bench_serving"), place(tmp_path))
    assert bench.shell.startswith('cd "$REPO" && /opt/py/bin/python -m ')


def test_two_spellings_of_one_argument_with_two_values_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="tp and tensor-parallel-size are the same one"):
        command_words(tmp_path, **{"tp": 2, "tensor-parallel-size": 4})


def test_the_servers_processes_stay_visible_and_its_crashes_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPT_NOENV", raising=False)
    command = SGLANG.server(recipe(env={"SGLANG_PYSPY_DUMP_BEFORE_CRASH": "1"}), place(tmp_path))
    assert command is not None
    assert command.env["SPT_NOENV"] == "1"
    assert "SGLANG_PYSPY_DUMP_BEFORE_CRASH" not in command.env


def test_ready_means_that_the_log_says_so_and_that_a_token_comes_back() -> None:
    ready = SGLANG.ready(recipe(ready=Ready(timeout_s=99.0)))
    assert (ready.http, ready.log, ready.timeout_s) == ("/health_generate", READY_LINE, 99.0)
    assert SGLANG.ready(recipe(server={"log-level": "warning"})).log is None
    assert SGLANG.ready(recipe(ready=Ready(tcp=True))) == Ready(tcp=True)
    assert SGLANG.stop_signal() == signal.SIGINT


def test_the_serving_benchmark_gets_address_tokenizer_seed_and_file(tmp_path: Path) -> None:
    bench = Bench(tool="sglang.bench_serving", args={"num-prompts": 64, "seed": 3})
    command = SGLANG.bench(recipe(), bench, place(tmp_path))
    words = shlex.split(command.shell)
    assert (_after(words, "--host"), _after(words, "--port")) == ("127.0.0.1", "31999")
    assert (_after(words, "--tokenizer"), _after(words, "--dataset-name")) == ("models/m", "random-ids")
    assert _after(words, "--seed") == "3"
    assert "--flush-cache" in words
    assert (command.parser, command.requests) == ("sglang.bench_serving", 64)
    assert command.output is not None and _after(words, "--output-file") == str(command.output)


def _installed(folder: Path, *files: str) -> dict[str, str | None]:
    """Put an SGLang of the given files on a path, and return the variable that names it."""
    for name in ("__init__.py", *files):
        file = folder / "sglang" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return {"PYTHONPATH": str(folder)}


def test_the_module_is_the_one_that_the_installed_version_has(tmp_path: Path) -> None:
    bench = Bench(tool="sglang.bench_serving")
    new = recipe(env=_installed(tmp_path / "new", "benchmark/serving.py"))
    assert "-m sglang.benchmark.serving " in SGLANG.bench(new, bench, place(tmp_path)).shell
    old = recipe(env=_installed(tmp_path / "old"))
    assert "-m sglang.bench_serving " in SGLANG.bench(old, bench, place(tmp_path)).shell


@pytest.mark.parametrize(
    "moved, module", [(True, "sglang.benchmark.serving"), (False, "sglang.bench_serving")]
)
def test_where_the_shell_decides_the_module_is_found_without_importing_it(
    tmp_path: Path, moved: bool, module: str
) -> None:
    env = _installed(tmp_path, *(["benchmark/serving.py"] if moved else []))
    (tmp_path / "sglang" / "__init__.py").write_text("raise RuntimeError('imported')")
    (tmp_path / "sglang" / "bench_serving.py").touch()
    unseen = recipe(launch="true && python3 -m sglang.launch_server")
    shell = SGLANG.bench(unseen, Bench(tool="sglang.bench_serving"), place(tmp_path)).shell
    shown = subprocess.run(
        ["bash", "-c", shell.replace("&& python3 -m", "&& echo", 1)],
        env={"PYTHONPATH": str(env["PYTHONPATH"]), "PATH": "/usr/local/bin:/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert shown.stdout.split()[:1] == [module], shown.stderr


def test_benchmarks_that_load_the_model_themselves_need_no_server(tmp_path: Path) -> None:
    offline = recipe(bench=(Bench(tool="sglang.bench_offline_throughput", args={"num-prompts": 8}),))
    assert SGLANG.server(offline, place(tmp_path)) is None
    words = shlex.split(SGLANG.bench(offline, offline.bench[0], place(tmp_path)).shell)
    assert _after(words, "--model-path") == "models/m"
    assert _after(words, "--num-prompts") == "8"


def test_an_unknown_benchmark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"no benchmark 'sglang\.bench_x'"):
        SGLANG.bench(recipe(), Bench(tool="sglang.bench_x"), place(tmp_path))


class _Server(BaseHTTPRequestHandler):
    """Answers as SGLang does; the server object says which versions' paths exist."""

    answers: dict[tuple[str, str], tuple[int, Any]] = {}  # noqa: RUF012

    def _answer(self) -> None:
        status, document = self.answers.get((self.command, self.path), (404, {}))
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = _answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server that answers; returns its port. Proxies in the environment point to nowhere."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://:bad")
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    thread = Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield httpd.server_address[1]
    httpd.shutdown()
    thread.join()
    httpd.server_close()


INFO = {
    "model_path": "models/m",
    "tp_size": 2,
    "mem_fraction_static": 0.8,
    "max_running_requests": 48,
    "api_key": "sk-very-secret",
    "served_model_name": "optrack-R1-0",
    "random_seed": 1,
    "port": 31999,
    "version": "0.5.15",
    "max_total_num_tokens": 1000,
    "internal_states": [{"avg_spec_accept_length": 2.5, "memory_usage": {"weight": 2.1}, "tp_size": 2}],
}


@pytest.mark.parametrize("path", ["/server_info", "/get_server_info"])
def test_the_report_tells_what_was_applied_otherwise_than_asked(
    tmp_path: Path, server: int, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Server, "answers", {("GET", path): (200, INFO)})
    asked = recipe(
        server={"model-path": "models/m", "tp": 2, "mem-fraction-static": 0.9, "max-running-requests": "$N"}
    )
    report = SGLANG.report(asked, place(tmp_path, server))
    assert report is not None
    assert report["changed"] == {"mem_fraction_static": {"asked": 0.9, "applied": 0.8}}
    assert report["state"]["avg_spec_accept_length"] == 2.5
    assert report["state"]["max_total_num_tokens"] == 1000
    assert report["ours"] is True
    assert report["version"] == "0.5.15"
    assert "secret" not in json.dumps(report)
    assert "port" not in report["applied"]


def test_a_server_of_another_launch_is_not_ours(
    tmp_path: Path, server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = INFO | {"served_model_name": "somebody-elses"}
    monkeypatch.setattr(_Server, "answers", {("GET", "/server_info"): (200, other)})
    report = SGLANG.report(recipe(), place(tmp_path, server))
    assert report is not None and report["ours"] is False


def test_a_server_that_says_nothing_has_no_report(tmp_path: Path, server: int) -> None:
    assert SGLANG.report(recipe(), place(tmp_path, server)) is None
    assert SGLANG.report(recipe(), place(tmp_path, 1)) is None


def test_the_cache_is_flushed_or_it_is_said_that_it_was_not(
    tmp_path: Path, server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("optrack.engines.sglang._PAUSE_S", 0.0)
    monkeypatch.setattr(_Server, "answers", {("POST", "/flush_cache"): (200, {})})
    assert SGLANG.settle(recipe(), place(tmp_path, server)) is None
    monkeypatch.setattr(_Server, "answers", {("POST", "/flush_cache"): (400, "requests are running")})
    why = SGLANG.settle(recipe(), place(tmp_path, server))
    assert why is not None and "requests are running" in why
