"""Whatever a benchmark prints, and whatever expression reads it: the run ends in time, and says what was wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from optrack.metrics.read import parse_output
from optrack.metrics.requests import asked_in_shell
from tests.cleanliness import clean_environment
from tests.end_to_end.project import ROOT, Answer, Project

PLAN = """---
metric: {{name: score, better: higher}}
---

```yaml recipe
launch: echo $$ > server.pid; exec {python} -m http.server $PORT --bind 127.0.0.1
ready: {{tcp: true, timeout: 60s}}
bench: |
  (exec 3<>/dev/tcp/127.0.0.1/$PORT; echo >&3; cat <&3) >/dev/null 2>&1
  {bench}
metrics: {metrics}
repetitions: 1
launches: 1
```

## Baseline
"""
ENDLESS = {"score": {"regex": "^(a+)+$"}}
ENDLESS_BENCH = f"echo {'a' * 60}!"


def _plan(project: Project, bench: str, metrics: dict[str, dict[str, str]], *, server: bool = False) -> None:
    text = PLAN.format(python=sys.executable, bench=bench, metrics=json.dumps(metrics))
    if not server:
        text = "\n".join(line for line in text.split("\n") if not line.startswith(("launch:", "ready:")))
    project.write_plan(text)


def _run(project: Project) -> tuple[Answer, dict[str, object]]:
    """Run the baseline; return the answer and the run."""
    answer = project.optrack("run", "baseline")
    return answer, _latest(project)


def _latest(project: Project) -> dict[str, object]:
    runs = project.optrack("runs", "--json").document["runs"]
    found: dict[str, object] = project.optrack("show", runs[0]["id"], "--json").document["run"]
    return found


def _wait(holds: Callable[[], object]) -> None:
    until = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def _is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists() and " Z " not in Path(f"/proc/{pid}/stat").read_text()


def test_an_expression_without_end_times_the_run_out_in_its_parse_stage(project: Project) -> None:
    _plan(project, ENDLESS_BENCH, ENDLESS, server=True)
    answer, run = _run(project)
    assert (answer.code, run["outcome"], run["stage"]) == (1, "timed_out", "parse")
    assert "score" in str(run["failure"])
    assert not _is_alive(int((project.folder / "server.pid").read_text()))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_stops_at_once_while_its_output_is_read(project: Project, number: int) -> None:
    _plan(project, ENDLESS_BENCH, ENDLESS, server=True)
    follower = subprocess.Popen(
        [sys.executable, "-m", "optrack", "run", "baseline"],
        cwd=project.folder,
        env=clean_environment(os.environ, home=project.folder, locks=project.folder / "locks")
        | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(lambda: any(_busy_readers(project.folder)))
        if number == signal.SIGINT:
            follower.send_signal(signal.SIGINT)
        else:
            project.optrack("stop", next((project.folder / ".optrack" / "runs").iterdir()).name)
        assert follower.wait(120) != 0
    finally:
        follower.kill()
        follower.wait()
    assert _latest(project)["outcome"] == "interrupted"
    assert not _is_alive(int((project.folder / "server.pid").read_text()))
    assert not _busy_readers(project.folder)


def _busy_readers(folder: Path) -> list[int]:
    """The processes that read a run's output in this project and have worked longer than they take to start."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if b"optrack.host.parse_child" not in words or (entry / "cwd").readlink() != folder:
                continue
            ticks = (entry / "stat").read_text().rpartition(")")[2].split()[11]
        except OSError:
            continue
        if int(ticks) > 0.8 * os.sysconf("SC_CLK_TCK"):
            found.append(int(entry.name))
    return found


def test_a_ready_expression_without_end_times_the_start_out(project: Project) -> None:
    _plan(project, "echo score = 5", {"score": {"regex": r"score = (\d+)"}}, server=True)
    path = project.folder / "plans" / "plan.md"
    text = path.read_text().replace("tcp: true", "log: '^(a+)+$'")
    path.write_text(text.replace("launch: ", f"launch: echo {'a' * 60}!; "))
    answer, run = _run(project)
    assert (answer.code, run["outcome"], run["stage"]) == (1, "timed_out", "ready")
    assert "(a+)+" in str(run["failure"])
    assert not _is_alive(int((project.folder / "server.pid").read_text()))


@pytest.mark.parametrize(
    "bench",
    [
        "head -c 1000000 /dev/zero | tr '\\0' =; echo; echo score = 5",
        "yes 'no result' | head -n 4000000; echo score = 5",
    ],
)
def test_a_metric_is_read_from_the_end_of_a_long_output(project: Project, bench: str) -> None:
    _plan(project, bench, {"score": {"regex": r"score = (\d+)"}})
    answer, run = _run(project)
    assert answer.code == 0 and run["metrics"]["score"]["median"] == 5  # type: ignore[index]


BAD_PATHS = {
    "max_by(a, &x).x": '{"a": [{"x": 1}, {"x": "b"}]}',
    "floor(a)": '{"a": Infinity}',
    "ceil(a)": '{"a": NaN}',
    "a[::0]": '{"a": [1, 2]}',
    "a[?@ > `0`] | [0].x": '{"a": [1, "b"]}',
    "length(a)": '{"a": 1}',
    "sum(a)": '{"a": ["x"]}',
    "[0].b": "[1]",
}


def test_a_path_that_does_not_fit_the_output_says_so_and_is_no_fault_of_the_program(project: Project) -> None:
    for number, (path, text) in enumerate(BAD_PATHS.items()):
        _plan(project, "true", {"score": {"json": path}})
        (project.folder / f"{number}.json").write_text(text)
        answer = project.optrack("parse", f"{number}.json", "--item", "baseline")
        assert answer.code == 2 and ("score" in answer.err or "plan.md:" in answer.err), (path, answer.err)
        assert "itself" not in answer.err
    _plan(project, """echo '{"a": Infinity}'""", {"score": {"json": "floor(a)"}})
    answer, run = _run(project)
    assert (answer.code, run["outcome"], run["stage"]) == (1, "failed", "parse"), answer.err
    assert "floor(a)" in str(run["failure"])


def test_a_metric_that_is_no_number_is_noted_with_the_run(project: Project) -> None:
    printed = {"a": "1_000", "b": "abc", "c": "", "d": "inf", "e": "-inf", "f": "nan"}
    metrics = {"score": {"regex": r"score = (\d+)"}}
    metrics |= {name: {"regex": rf"{name}: (\S+)"} for name in printed}
    lines = ["score = 5", *(f"{name}: {text}" for name, text in printed.items()), ""]
    (project.folder / "out.txt").write_text("\n".join(lines))
    _plan(project, "cat out.txt", metrics)
    answer, run = _run(project)
    assert answer.code == 0 and run["metrics"]["score"]["median"] == 5  # type: ignore[index]
    said = project.optrack("parse", "out.txt", "--item", "baseline").err
    for name, text in printed.items():
        notes = [note for note in run["notes"] if f"metric {name}:" in note]  # type: ignore[attr-defined]
        assert len(notes) == 1 and (text or "matches nothing") in notes[0]
        assert notes[0] in said


def test_only_regular_files_are_read_and_no_run_waits_for_others(project: Project) -> None:
    os.mkfifo(project.folder / "pipe")
    _plan(
        project, "echo score = 5", {"score": {"regex": r"score = (\d+)"}, "x": {"regex": "x", "file": "pipe"}}
    )
    path = project.folder / "plans" / "plan.md"
    path.write_text(
        path.read_text().replace("launches: 1", "launches: 1\nwatch: [pipe, /dev/zero, /proc/kmsg]")
    )
    answer, run = _run(project)
    assert answer.code == 0, answer.err
    assert any("pipe" in note and "written" in note for note in run["notes"])  # type: ignore[attr-defined]
    found = run["snapshot"]["files"]  # type: ignore[index]
    files = {name: about for name, about in found.items() if "use" not in about}
    assert len(files) == 3 and all(about["sha256"] is None and about["problem"] for about in files.values())


@pytest.mark.parametrize("odd", ["pipe", "/dev/zero", "."])
@pytest.mark.parametrize(
    "command", ["parse", "plan check", "plan show", "todo import", "import --item baseline", "status --plan"]
)
def test_a_command_refuses_what_is_no_regular_file(project: Project, command: str, odd: str) -> None:
    os.mkfifo(project.folder / "pipe")
    _plan(project, "echo score = 5", {"score": {"regex": r"score = (\d+)"}})
    answer = project.optrack(*command.split(), odd)
    assert answer.code == 2 and "regular file" in answer.err


TABLE = """============ Serving Benchmark Result ============
Successful requests:                     {done}
Benchmark duration (s):                  10.00
Total input tokens:                      100
Total generated tokens:                  100
Request throughput (req/s):              1.00
Output token throughput (tok/s):         24.97
=================================================="""


@pytest.mark.parametrize(
    ("head", "done", "valid"),
    [
        ("Namespace(backend='vllm', num_prompts=3440, seed=1)", 3439, False),
        ("namespace: Namespace(num_prompts=3440)", 3440, True),
        ("Namespace(dataset_name='generated-shared-prefix', num_prompts=1000)", 64, True),
    ],
)
def test_fewer_requests_than_the_output_says_were_asked_for_are_no_measurement(
    head: str, done: int, valid: bool
) -> None:
    assert (parse_output("auto", f"{head}\n{TABLE.format(done=done)}\n".encode()).invalid is None) == valid


@pytest.mark.parametrize(
    ("shell", "asked"),
    [
        ("bench --num-prompts 100", 100),
        ("bench --num-prompts=100 | tee o.txt", 100),
        ("bench --num_prompts \\\n    '100'", 100),
        ("N=100; bench --num-prompts $N", 100),
        ('bench --num-prompts "${PROMPTS}"', 7),
        ("bench --num-prompts $((N * 2))", None),
        ("for N in 1 2; do bench --num-prompts $N; done", None),
        ("bench --num-prompts 5 && bench --num-prompts 100", 100),
        ("bench # --num-prompts 100", None),
        ("bench --num-prompts 1.5", None),
    ],
)
def test_the_requests_that_a_command_asks_for_are_read_from_its_text(shell: str, asked: int | None) -> None:
    assert asked_in_shell(shell, {"PROMPTS": "7"}) == asked


def test_a_run_that_completed_fewer_requests_than_its_command_asks_for_fails(project: Project) -> None:
    (project.folder / "table.txt").write_text(f"{TABLE.format(done=1)}\n")
    project.write_plan(
        "---\nmetric: output_throughput\n---\n\n```yaml recipe\n"
        "bench: 'true --num-prompts 100; cat table.txt'\n```\n\n## Baseline\n"
    )
    answer = project.optrack("run", "baseline")
    assert answer.code == 1 and "1 of 100 requests" in answer.err + answer.out
