"""Ready means: the conditions hold, and it is the run's own process that answers."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from optrack.host.launch import StageFailed
from optrack.host.logs import Limits
from optrack.model.recipe_parts import Ready
from tests.process.conftest import FAKE, Lab, eventually

SERVER_STARTED = "The server is fired up"


def test_a_server_that_answers_503_while_it_loads_is_ready_when_it_answers_200(lab: Lab) -> None:
    tree = lab.serve("--ready-after 0.6")
    assert lab.wait(tree) >= 0.6
    lab.stop(tree)


def test_readiness_is_noticed_within_a_tenth_of_a_second(lab: Lab) -> None:
    late = []
    for _ in range(5):
        tree = lab.serve("--ready-after 0.3")
        assert eventually(lambda: b"Uvicorn" in lab.log.read_bytes())
        bound = time.monotonic() - tree.started
        late.append(lab.wait(tree) - bound - 0.3)
        lab.stop(tree)
        lab.log.unlink()
    assert sorted(late)[1] < 0.1, late


@pytest.mark.parametrize(
    "ready",
    [
        Ready(http="/health"),
        Ready(http="http://127.0.0.1:$PORT/health"),
        Ready(http="/moved"),
        Ready(tcp=True),
        Ready(log="fired up and .* roll!$"),
        Ready(command="grep -q fired server.log"),
        Ready(http="/health", log=r"^Uvicorn", tcp=True, command="true"),
        Ready(),
    ],
    ids=lambda ready: "-".join(ready.model_dump(exclude_defaults=True)) or "default",
)
def test_each_kind_of_probe_sees_a_ready_server(lab: Lab, ready: Ready) -> None:
    tree = lab.serve("--bind-after 0.2 --access-log")
    assert lab.wait(tree, ready.model_copy(update={"timeout_s": 20})) > 0.2
    lab.stop(tree)


def test_an_answer_of_an_older_server_on_the_port_fails_the_run_and_names_both(lab: Lab) -> None:
    older = subprocess.Popen([sys.executable, "-S", FAKE, "--port", str(lab.port)], stdout=subprocess.DEVNULL)
    with older:
        assert eventually(lambda: _answers(lab.port))
        tree = lab.serve("--bind-after 30")
        with pytest.raises(StageFailed) as failed:
            lab.wait(tree)
        older.kill()
    assert failed.value.failure.kind == "port_in_use"
    assert f"pid {older.pid} (" in failed.value.failure.message
    assert f"pid {tree.leader.pid} (" in failed.value.failure.message
    lab.stop(tree)


def test_a_server_that_took_another_port_fails_with_both_ports_named(lab: Lab) -> None:
    tree = lab.serve("--shift 1")
    with pytest.raises(StageFailed) as failed:
        lab.wait(tree)
    assert failed.value.failure.kind == "port_drift"
    message = failed.value.failure.message
    assert str(lab.port) in message and str(lab.port + 1) in message
    lab.stop(tree)


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:9", "http://:bad"])
def test_proxies_of_the_environment_play_no_part(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy)
    tree = lab.serve()
    lab.wait(tree)
    lab.stop(tree)


def test_a_server_that_dies_while_it_is_waited_for_fails_at_once_with_its_exit_and_log(lab: Lab) -> None:
    tree = lab.serve("--ready-after 60 --die-after 0.3 --code 7")
    with pytest.raises(StageFailed) as failed:
        lab.wait(tree)
    assert time.monotonic() - tree.started < 5
    assert failed.value.stage == "ready" and failed.value.outcome == "failed"
    assert failed.value.failure.message == "RuntimeError: warmup error"
    assert "warmup error" in failed.value.failure.log_tail
    lab.stop(tree)


def test_slow_answers_hold_nothing_up(lab: Lab) -> None:
    tree = lab.serve("--slow 30")
    begin = time.monotonic()
    with pytest.raises(StageFailed) as failed:
        lab.wait(tree, should_stop=lambda: time.monotonic() - begin > 1)
    assert failed.value.outcome == "interrupted"
    assert time.monotonic() - begin < 4
    lab.stop(tree)


def test_slow_answers_are_waited_for(lab: Lab) -> None:
    tree = lab.serve("--slow 0.7")
    assert lab.wait(tree) > 0.7
    lab.stop(tree)


def test_a_time_out_says_what_was_seen_last(lab: Lab) -> None:
    tree = lab.serve("--ready-after 600")
    with pytest.raises(StageFailed) as failed:
        lab.wait(tree, Ready(http="/health", timeout_s=1))
    assert failed.value.outcome == "timed_out"
    assert "answered 503" in failed.value.failure.message
    lab.stop(tree)


def test_a_redirect_to_another_server_is_not_an_answer(lab: Lab) -> None:
    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            raise AssertionError

    with HTTPServer(("127.0.0.1", 0), Elsewhere) as other:
        tree = lab.serve(f"--location http://127.0.0.1:{other.server_port}/health")
        with pytest.raises(StageFailed) as failed:
            lab.wait(tree, Ready(http="/moved", timeout_s=1.5))
    assert "redirects to another server" in failed.value.failure.message
    lab.stop(tree)


def test_a_log_that_falls_silent_is_a_time_out(lab: Lab) -> None:
    tree = lab.serve("--bind-after 60")
    with pytest.raises(StageFailed) as failed:
        lab.wait(tree, Ready(http="/health", timeout_s=60, silence_s=0.6))
    assert failed.value.outcome == "timed_out" and failed.value.failure.kind == "silent"
    lab.stop(tree)


def test_the_probes_own_access_lines_do_not_break_the_silence(lab: Lab) -> None:
    tree = lab.serve("--ready-after 60 --access-log")
    with pytest.raises(StageFailed) as failed:
        lab.wait(tree, Ready(http="/health", timeout_s=20, silence_s=1.0))
    assert failed.value.failure.kind == "silent"
    lab.stop(tree)


def test_a_log_that_passes_its_limit_fails_the_launch(lab: Lab) -> None:
    tree = lab.serve("--flood 3000000 --ready-after 60")
    with pytest.raises(StageFailed) as failed:
        lab.wait(tree, limits=Limits(log_bytes=1_000_000))
    assert failed.value.failure.kind == "log_limit"
    lab.stop(tree)


def test_a_disk_without_room_fails_the_launch(lab: Lab) -> None:
    tree = lab.serve("--ready-after 60")
    with pytest.raises(StageFailed) as failed:
        lab.wait(tree, limits=Limits(free_bytes=1 << 60))
    assert failed.value.failure.kind == "disk_full"
    lab.stop(tree)


def test_a_server_is_never_blocked_by_what_it_prints(lab: Lab) -> None:
    tree = lab.serve("--flood 5000000")
    lab.wait(tree, Ready(log=SERVER_STARTED, http="/health", timeout_s=20))
    lab.stop(tree)


def test_a_ready_line_of_an_earlier_launch_in_the_same_log_does_not_count(lab: Lab) -> None:
    lab.log.write_text(f"{SERVER_STARTED}\n")
    tree = lab.serve("--bind-after 0.8")
    assert lab.wait(tree, Ready(log=SERVER_STARTED, timeout_s=20)) > 0.8
    lab.stop(tree)


def test_a_ready_line_is_found_between_broken_characters_colours_and_progress_bars(lab: Lab) -> None:
    text = r"printf '\226\377 10%%\r 50%%\r\033[32mserver is \033[0mup now\r'; exec sleep 60"
    tree = lab.serve(shell=text.replace("{", "{{").replace("}", "}}"))
    lab.wait(tree, Ready(log=r"^server is up", timeout_s=10))
    lab.stop(tree)


def test_a_command_that_can_not_be_started_fails_the_launch(lab: Lab) -> None:
    lab.folder = lab.folder / "missing"
    with pytest.raises(StageFailed) as failed:
        lab.serve()
    assert failed.value.stage == "launch" and failed.value.failure.kind == "not_started"


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_time_out_says_how_long_the_last_request_has_been_waiting(lab: Lab) -> None:
    tree = lab.serve("--slow 30 --bind-after 0.3")
    with pytest.raises(StageFailed) as failed:
        lab.wait(tree, Ready(http="/health", timeout_s=2.5))
    message = failed.value.failure.message
    assert "connected, no answer for " in message and "refused" not in message
    lab.stop(tree)


def test_a_time_out_says_how_the_ready_command_ended_and_that_it_runs_again(lab: Lab) -> None:
    tree = lab.serve("--bind-after 60")
    ready = Ready(command="test -e tried && sleep 60; touch tried; exit 7", timeout_s=2)
    with pytest.raises(StageFailed) as failed:
        lab.wait(tree, ready)
    message = failed.value.failure.message
    assert "exit code 7" in message and "now running for" in message
    lab.stop(tree)
