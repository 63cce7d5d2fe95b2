"""What goes wrong for a user: each case has its message and its exit code, and loses nothing that is recorded."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from optrack.host.fitness import free_port
from tests.end_to_end.plans import SMALL, with_recipe
from tests.end_to_end.project import Project


@pytest.fixture
def begun(project: Project) -> Project:
    """A project whose baseline is recorded."""
    project.write_plan(SMALL)
    assert project.optrack("next").code == 0
    return project


def still_recorded(project: Project) -> bool:
    """Whether the baseline's run can be read, whole."""
    shown = project.optrack("show", "baseline", "--json", "--plan", "plans/plan.md")
    if shown.code != 0:
        return False
    run = shown.document["runs"][0]
    return bool(run["outcome"] == "succeeded" and run["metrics"]["speed"]["median"] == 5)


@contextlib.contextmanager
def held_port() -> Iterator[int]:
    """A port that this very process listens on."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", free_port()))
        holder.listen()
        yield holder.getsockname()[1]


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """A folder of which nothing can be written, nor anything in it, by who obeys modes."""
    everything = [folder, *folder.rglob("*")]
    modes = [(path, path.stat().st_mode) for path in everything]
    for path, mode in modes:
        path.chmod(mode & 0o555)
    try:
        yield
    finally:
        for path, mode in modes:
            path.chmod(mode)


@pytest.mark.parametrize(
    "command", [("status",), ("next",), ("run", "1"), ("export",), ("todo",), ("context",)]
)
def test_without_a_plan_it_is_said_how_to_get_one(project: Project, command: tuple[str, ...]) -> None:
    answer = project.optrack(*command, "--json")
    assert answer.code == 2
    assert answer.error["code"] == "usage"
    assert answer.error["message"].startswith("there is no plan in ")
    assert "optrack plan new" in answer.error["hint"]


def test_a_plan_file_that_is_missing_is_named(begun: Project) -> None:
    answer = begun.optrack("next", "--plan", "plans/missing.md")
    assert answer.code == 2
    assert answer.err.startswith("optrack: plans/missing.md: there is no such plan\n")
    assert answer.out == ""
    assert still_recorded(begun)


def test_a_folder_in_the_place_of_a_plan_is_refused(begun: Project) -> None:
    answer = begun.optrack("next", "--plan", "plans")
    assert answer.code == 2
    assert "plans: the plan can't be read: it is a folder" in answer.err


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ("env: {A: 1", "this isn't YAML"),
        ("launchs: 3", "unknown key `launchs` (did you mean `launches`?)"),
        ("launches: several", "launches"),
        ("timeout: {bench: soon}", "soon"),
        ("metrics: {speed: {regex: '(['}}", "regex"),
    ],
)
def test_a_broken_recipe_is_shown_with_its_line(begun: Project, recipe: str, words: str) -> None:
    plan = begun.write_plan(with_recipe(recipe))
    line = with_recipe(recipe).splitlines().index(recipe) + 1
    line += recipe.count("{") - recipe.count("}")  # what isn't closed is missed at the end of the block
    answer = begun.optrack("next")
    assert answer.code == 2
    assert f"{plan}:{line}:" in answer.err
    assert words in answer.err
    problems = begun.optrack("plan", "check", str(plan), "--json")
    assert problems.code == 2
    assert [p["line"] for p in problems.document["problems"] if p["severity"] == "error"] == [line]
    begun.write_plan(SMALL)
    assert still_recorded(begun)


def test_an_unknown_item_gets_the_nearest_one_that_there_is(begun: Project) -> None:
    for command in (
        ("run", "bsaeline"),
        ("show", "bsaeline"),
        ("mark", "bsaeline", "completed", "--why", "x"),
    ):
        answer = begun.optrack(*command)
        assert answer.code == 2, command
        assert "bsaeline" in answer.err
        assert "'baseline'" in answer.err, command
    assert still_recorded(begun)


def test_an_unknown_option_and_an_unknown_command_say_where_help_is(project: Project) -> None:
    answer = project.optrack("next", "--al", "--json")
    assert (answer.code, answer.error["code"]) == (2, "usage")
    assert "--all" in answer.error["message"]
    answer = project.optrack("nxt")
    assert answer.code == 2
    assert "optrack --help" in answer.err


def test_a_port_in_use_is_refused_with_its_holder_and_nothing_runs(begun: Project) -> None:
    with held_port() as port:
        begun.write_plan(with_recipe(f"port: {port}"))
        answer = begun.optrack("next", "--json")
        assert answer.code == 4
        assert answer.error["code"] == "host_unfit"
        assert f"port {port} is held by pid {os.getpid()}" in answer.error["message"]
    assert begun.statuses() == {"baseline": "completed", "1": "pending"}
    assert still_recorded(begun)


def test_a_server_that_exits_at_once_is_a_recorded_failure(begun: Project) -> None:
    begun.write_plan(with_recipe("launch: echo no weights in /models >&2; exit 3"))
    answer = begun.optrack("next", "--json")
    assert answer.code == 1
    run = answer.document["run"]
    assert (run["outcome"], run["stage"]) == ("failed", "ready")
    assert "no weights in /models" in run["failure"]["message"]
    assert "no weights in /models" in run["failure"]["log_tail"]
    assert answer.document["judgement"]["verdict"] == "failed"
    assert begun.statuses()["1"] == "completed"
    assert still_recorded(begun)


def test_a_server_that_cannot_be_found_is_a_recorded_failure(begun: Project) -> None:
    begun.write_plan(with_recipe("launch: serve-no-such-model --port $PORT"))
    answer = begun.optrack("next", "--json")
    assert answer.code == 1
    assert answer.document["run"]["outcome"] == "failed"
    assert "serve-no-such-model" in answer.document["run"]["failure"]["log_tail"]


def test_a_benchmark_without_a_figure_is_a_recorded_failure(begun: Project) -> None:
    begun.write_plan(with_recipe('bench: {command: "echo all is well"}'))
    answer = begun.optrack("next", "--json")
    assert answer.code == 1
    run = answer.document["run"]
    assert (run["outcome"], run["stage"]) == ("failed", "parse")
    assert "metrics" in run["failure"]["message"]
    assert "all is well" in begun.optrack("log", run["id"], "--which", "bench").out
    assert still_recorded(begun)


def test_a_benchmark_that_fails_keeps_its_exit_code_behind_a_pipe(begun: Project) -> None:
    begun.write_plan(with_recipe('bench: {command: "(echo speed = 9; exit 3) | cat"}'))
    answer = begun.optrack("next", "--json")
    assert answer.code == 1
    run = answer.document["run"]
    assert (run["outcome"], run["stage"]) == ("failed", "bench")
    assert run["failure"]["message"] == "bench: exit code 3; the log ends with: speed = 9"


def test_a_folder_that_cannot_be_written_is_named(project: Project) -> None:
    project.write_plan(SMALL)
    with read_only(project.folder):
        shown = project.optrack("status", "--json", humble=True)
        assert shown.code == 0, shown
        answer = project.optrack("next", "--json", humble=True)
        assert answer.code == 2, answer
        assert str(project.folder) in answer.error["message"]
        assert answer.error["hint"]
        assert not (project.folder / ".optrack").exists()


def test_records_that_cannot_be_written_can_still_be_read(begun: Project) -> None:
    with read_only(begun.folder / ".optrack"):
        answer = begun.optrack("next", "--json", humble=True)
        assert (answer.code, answer.error["code"]) == (2, "store"), answer
        assert ".optrack" in answer.error["message"]
        shown = begun.optrack("show", "baseline", "--json", humble=True)
        assert shown.code == 0, shown
        assert shown.document["runs"][0]["metrics"]["speed"]["median"] == 5
    assert still_recorded(begun)
    assert begun.optrack("next").code == 0


def test_a_file_in_the_place_of_the_records_folder_is_named(project: Project) -> None:
    project.write_plan(SMALL)
    (project.folder / ".optrack").write_text("not a folder", encoding="utf-8")
    for command in ("status", "next"):
        answer = project.optrack(command, "--json")
        assert answer.code == 2
        assert ".optrack" in answer.error["message"]


def test_a_log_that_cannot_be_written_is_an_error_and_loses_nothing(begun: Project) -> None:
    answer = begun.optrack("export", "-o", "/proc/progress.md", "--json")
    assert answer.code == 2
    assert answer.error["message"].startswith("/proc/progress.md can't be written: ")
    assert still_recorded(begun)


def test_a_setting_that_there_is_not_gets_the_nearest_one(begun: Project) -> None:
    (begun.folder / "optrack.toml").write_text("cpu_shares = 1\n", encoding="utf-8")
    answer = begun.optrack("status", "--json")
    assert (answer.code, answer.error["code"]) == (2, "settings")
    assert answer.error["hint"] == "did you mean 'cpu_share'?"
    assert answer.error["where"] == str(begun.folder / "optrack.toml")


def test_a_database_that_is_none_is_left_alone(begun: Project) -> None:
    other = begun.folder / "notes.db"
    other.write_text("groceries: bread, butter, a great many more things\n" * 40, encoding="utf-8")
    for command in ("status", "next"):
        answer = begun.optrack(command, "--json", env={"OPTRACK_DB": str(other)})
        assert (answer.code, answer.error["code"]) == (2, "store"), command
        assert str(other) in answer.error["message"]
    assert other.read_text(encoding="utf-8").startswith("groceries")
    assert still_recorded(begun)
