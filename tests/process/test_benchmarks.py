"""A benchmark pass ends with its server, its output is kept as bytes, and only what it wrote is read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from optrack.host.bench import run_bench
from optrack.host.launch import StageFailed
from optrack.host.logs import Limits
from optrack.host.stretch import window_of
from optrack.host.teardown import leftovers
from optrack.host.tree import Tree
from optrack.model.value import Frozen
from tests.process.conftest import Lab


class Pass(Frozen):
    """A benchmark's command, as an engine gives it."""

    shell: str
    env: Mapping[str, str] = {}
    output: Path | None = None


def bench(
    lab: Lab,
    shell: str,
    *,
    output: str | None = None,
    server: Tree | None = None,
    timeout_s: float = 20,
    should_stop: Callable[[], bool] = lambda: False,
    is_forced: Callable[[], bool] = lambda: False,
    limits: Limits | None = None,
    cwd: Path | None = None,
) -> bytes:
    written = run_bench(
        Pass(shell=shell, output=Path(output) if output else None, env={"GREETING": "hello"}),
        cwd=cwd or lab.folder,
        log=lab.folder / "bench.log",
        server=server,
        server_log=lab.log,
        timeout_s=timeout_s,
        run=lab.run,
        should_stop=should_stop,
        is_forced=is_forced,
        env=lab.env,
        limits=limits,
    )
    return window_of(written).data


def test_what_a_pass_prints_is_what_its_parser_reads(lab: Lab) -> None:
    assert bench(lab, "echo $GREETING; echo error >&2") == b"hello\nerror\n"
    assert bench(lab, "echo second") == b"second\n"
    assert (lab.folder / "bench.log").read_bytes() == b"hello\nerror\nsecond\n"


def test_bytes_that_are_not_text_are_kept_as_they_are(lab: Lab) -> None:
    shell = r"printf '\x96\xff\xe2\x82'; sleep 0.1; printf '\xac\nthroughput: 5\n'"
    assert bench(lab, shell) == b"\x96\xff\xe2\x82\xac\nthroughput: 5\n"


def test_only_the_rows_that_this_pass_appended_are_read(lab: Lab) -> None:
    (lab.folder / "out.jsonl").write_text('{"tok": 1}\n')
    assert bench(lab, """echo '{"tok": 2}' >> out.jsonl""", output="out.jsonl") == b'{"tok": 2}\n'


@pytest.mark.parametrize("rewritten", ["{1}\n", "{2}\n", "{22222}\n", "{1}{2}\n"])
def test_a_file_that_is_written_anew_is_read_whole(lab: Lab, rewritten: str) -> None:
    (lab.folder / "out.json").write_text("{1}\n")
    assert bench(lab, f"sleep 0.02; printf '{rewritten}' > out.json", output="out.json").decode() == rewritten


def test_a_pass_that_leaves_its_file_untouched_has_no_result(lab: Lab) -> None:
    (lab.folder / "out.json").write_text('{"tok": 1}\n')
    with pytest.raises(StageFailed) as failed:
        bench(lab, "true", output="out.json")
    assert failed.value.stage == "parse" and failed.value.failure.kind == "no_result"
    with pytest.raises(StageFailed):
        bench(lab, "true", output="never.json")


def test_a_pass_that_holds_on_has_less_grace_when_there_is_a_hurry(lab: Lab) -> None:
    begin = time.monotonic()
    shell = "trap '' TERM; touch begun; while :; do sleep 0.05; done"
    with pytest.raises(StageFailed) as failed:
        bench(lab, shell, should_stop=(lab.folder / "begun").exists, is_forced=lambda: True)
    assert time.monotonic() - begin < 4
    assert failed.value.outcome == "interrupted" and leftovers(lab.run) == ()


def test_the_death_of_the_server_ends_the_pass_at_once(lab: Lab) -> None:
    tree = lab.serve("--die-after 0.8")
    lab.wait(tree)
    begin = time.monotonic()
    with pytest.raises(StageFailed) as failed:
        bench(lab, "sleep 600", server=tree)
    assert time.monotonic() - begin < 5
    assert failed.value.stage == "bench" and failed.value.outcome == "failed"
    message = failed.value.failure.message
    assert "the server ended" in message and message.endswith("RuntimeError: warmup error")
    lab.stop(tree)


def test_a_server_that_died_as_the_pass_ended_well_still_fails_it(lab: Lab) -> None:
    tree = lab.serve()
    lab.wait(tree)
    with pytest.raises(StageFailed):
        bench(lab, f"kill -9 {tree.leader.pid}; while kill -0 {tree.leader.pid}; do :; done", server=tree)
    lab.stop(tree)


@pytest.mark.parametrize("code", [1, 3, 137])
def test_an_exit_code_fails_the_pass(lab: Lab, code: int) -> None:
    with pytest.raises(StageFailed) as failed:
        bench(lab, f"echo 'ValueError: no such dataset'; exit {code} | tee out.txt")
    assert failed.value.failure.log_tail == "ValueError: no such dataset\n"


def test_a_pass_that_takes_too_long_is_timed_out_and_gone(lab: Lab) -> None:
    with pytest.raises(StageFailed) as failed:
        bench(lab, "setsid --wait sleep 600", timeout_s=0.3)
    assert failed.value.outcome == "timed_out"
    assert leftovers(lab.run) == ()


def test_a_pass_can_be_interrupted(lab: Lab) -> None:
    begin = time.monotonic()
    with pytest.raises(StageFailed) as failed:
        bench(lab, "sleep 600", should_stop=lambda: time.monotonic() - begin > 0.2)
    assert failed.value.outcome == "interrupted"
    assert time.monotonic() - begin < 3


def test_a_server_that_floods_its_log_ends_the_pass(lab: Lab) -> None:
    tree = lab.serve("--flood 2000000")
    lab.wait(tree)
    with pytest.raises(StageFailed) as failed:
        bench(lab, "sleep 600", server=tree, limits=Limits(log_bytes=1_000_000))
    assert failed.value.failure.kind == "log_limit" and "server.log" in failed.value.failure.message
    lab.stop(tree)


def test_a_folder_that_is_missing_fails_the_pass_and_not_optrack(lab: Lab) -> None:
    with pytest.raises(StageFailed) as failed:
        bench(lab, "true", cwd=lab.folder / "missing")
    assert failed.value.failure.kind == "not_started"


def test_nothing_of_this_process_stays_open(lab: Lab) -> None:
    bench(lab, "true")
    before = len(list(Path(f"/proc/{os.getpid()}/fd").iterdir()))
    for _ in range(5):
        bench(lab, "true")
    assert len(list(Path(f"/proc/{os.getpid()}/fd").iterdir())) == before


def test_a_recipes_own_path_does_not_lose_the_shell(lab: Lab) -> None:
    lab.env["PATH"] = "/nowhere"
    assert bench(lab, "echo $PATH") == b"/nowhere\n"


def test_a_server_in_the_background_that_ends_during_the_pass_is_what_the_message_speaks_of(lab: Lab) -> None:
    tree = lab.serve("--die-after 1 --code 0", shell="({}) & sleep 0.1")
    lab.wait(tree)
    with pytest.raises(StageFailed) as failed:
        bench(lab, "sleep 60", server=tree)
    assert failed.value.failure.message.startswith("the server ended during the benchmark")
    lab.stop(tree)
