"""What is done to a project, step by step: commands, edits, runs that are stopped or die."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.outward.process import Answer, Started, called

PATIENCE_S = 60
_RUN = re.compile(r"@([A-Za-z0-9.]+?)(?:/(\d+))?$")


@dataclass(frozen=True)
class Do:
    """A command; `@1A` stands for the latest run of 1A, `@1A/2` for its second."""

    words: tuple[str, ...]
    env: Mapping[str, str | None] = field(default_factory=dict)
    stdin: str = ""


@dataclass(frozen=True)
class Write:
    """A file's text; None removes it."""

    path: str
    text: str | None


@dataclass(frozen=True)
class Edit:
    """Another text in the place of one that the file holds."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Shell:
    """Shell text in the project's folder; what it prints is not recorded."""

    text: str


@dataclass(frozen=True)
class StopAt:
    """A command whose run is asked to stop, or dies with all its processes, once it has written this log."""

    words: tuple[str, ...]
    log: str
    dies: bool = False


Step = Do | Write | Edit | Shell | StopAt


def do(*words: str, stdin: str = "", **env: str | None) -> Do:
    """A command as a step, with these variables in its environment."""
    return Do(words, env, stdin)


def resolved(folder: Path, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words with runs named by item and number in the place of `@ITEM/N`."""
    return tuple(_named(folder, word) for word in words)


def _named(folder: Path, word: str) -> str:
    match = _RUN.fullmatch(word)
    if match is None:
        return word
    runs = sorted(p.name for p in (folder / ".optrack" / "runs").glob("*") if p.name[21:] == match[1])
    number = int(match[2]) - 1 if match[2] else -1
    return runs[number] if -len(runs) <= number < len(runs) else f"no-run-of-{match[1]}"


def take(folder: Path, step: Step) -> Answer | None:
    """Take a step; return what a command answered."""
    match step:
        case Do(words, env, stdin):
            return called(folder, resolved(folder, words), env=env, stdin=stdin)
        case Write(path, None):
            (folder / path).unlink()
        case Write(path, str(text)):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        case Edit(path, old, new):
            text = (folder / path).read_text(encoding="utf-8")
            assert old in text, f"{path} doesn't hold {old!r}"
            (folder / path).write_text(text.replace(old, new), encoding="utf-8")
        case Shell(text):
            subprocess.run(["bash", "-c", text], cwd=folder, check=True, capture_output=True)
        case StopAt():
            return _stopped(folder, step)
    return None


def _stopped(folder: Path, step: StopAt) -> Answer:
    before = {path.name for path in (folder / ".optrack" / "runs").glob("*")}
    following = Started(folder, resolved(folder, step.words))

    def begun() -> list[Path]:
        logs = folder.glob(f".optrack/runs/*/launch-*/{step.log}")
        return [log.parents[1] for log in logs if log.parents[1].name not in before]

    _wait_for(lambda: bool(begun()))
    if not step.dies:
        called(folder, ("stop", begun()[0].name))
        return following.ended()
    living = _processes(folder) - {os.getpid()}
    for pid in living:
        os.kill(pid, signal.SIGKILL)
    _wait_for(lambda: not (_processes(folder) - {following.pid}))
    return following.ended()


def _processes(folder: Path) -> set[int]:
    """The living processes whose current folder is the project's."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
            if state != "Z" and (entry / "cwd").readlink() == folder:
                found.add(int(entry.name))
        except OSError:
            continue
    return found


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
