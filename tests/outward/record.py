"""Brings projects to their states, asks every question and keeps the answers: `python -m tests.outward.record`.

The answers lie in a folder (by default `tests/outward/reference`), a text file for each state, in which a line
that begins with `══ ` is a question and what follows is its answer.
"""

from __future__ import annotations

import argparse
import difflib
import json
import multiprocessing
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.outward import agent, questions
from tests.outward.normal import Normaliser
from tests.outward.packing import written
from tests.outward.process import Answer, called, warm_up
from tests.outward.states import STATES, State
from tests.outward.steps import Do, Edit, Shell, Step, StopAt, Write, resolved, take

REFERENCE = Path(__file__).with_name("reference")
PROGRAM = "program"
WORKERS = 4
COMMANDS = (
    "next|run|attach|stop|watch|status|show|runs|log|compare|diff|failures|mark|note|accept|adopt|ablate|audit|"
    "plan|plan check|plan show|plan new|plan schema|use|todo|add|export|report|replay|parse|import|context|schema|"
    "mcp|demo|doctor|tui|serve"
).split("|")
Answers = dict[str, str]


class Asking:
    """A project in one state, and the answers that it gave."""

    def __init__(self, state: State, folder: Path) -> None:
        self.state = state
        self.folder = folder / "project"
        for name in ("project", "home", "locks"):
            (folder / name).mkdir(parents=True)
        for path, text in state.files.items():
            take(self.folder, Write(path, text))
        self.normal = Normaliser(self.folder)
        self.answers: Answers = {}
        self._before: list[str] = []

    def keep(self, question: str, text: str) -> None:
        """Keep an answer; a question that is asked again gets a number."""
        question = question.replace("\n", "\\n")
        name, number = question, 1
        while name in self.answers:
            number += 1
            name = f"{question}  (again, {number})"
        self.answers[name] = text.rstrip("\n")

    def ask(self, words: Sequence[str]) -> None:
        """Ask one question of the command line."""
        answer = called(self.folder, resolved(self.folder, tuple(words)))
        self.keep(shlex.join(["optrack", *words]), self.told(answer))

    def told(self, answer: Answer) -> str:
        """An answer as it is kept."""
        parts = [f"exit {answer.code}", self.normal.answer(answer.out)]
        if answer.err.strip():
            parts.append("── stderr\n" + self.normal.answer(answer.err))
        return "\n".join(part.rstrip() for part in parts if part.strip())

    def step(self, number: int, step: Step) -> None:
        """Take a step towards the state."""
        answer = take(self.folder, step)
        if answer is not None:
            self.keep(f"step {number}: {described(step)}", self.told(answer))

    def act(self, step: Step) -> None:
        """Take a step from the state, keep what it changed, and go back."""
        aside = self.folder.with_name("aside")
        shutil.copytree(self.folder, aside, symlinks=True)
        self._before = self._before or self._standing()
        answer = take(self.folder, step)
        after = self._standing()
        changed = [
            line for line in difflib.unified_diff(self._before, after, n=0, lineterm="") if line[:2] != "@@"
        ]
        told = self.told(answer) if answer is not None else ""
        self.keep(
            f"act: {described(step)}", "\n".join([told, *(["── changed", *changed[2:]] if changed else [])])
        )
        shutil.rmtree(self.folder)
        aside.rename(self.folder)

    def _standing(self) -> list[str]:
        """Where everything stands, and the files of the project, as lines."""
        lines = []
        for words in (("status",), ("watch", "--after", "0", "--for", "0"), ("todo",)):
            lines += self.told(called(self.folder, words)).splitlines()
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder)
            if path.is_file() and name.parts[0] not in (".optrack", ".git"):
                text = self.normal.answer(path.read_text(encoding="utf-8", errors="replace"))
                lines += [f"{name}: {line}" for line in text.splitlines()]
        return lines

    def items(self) -> tuple[list[str], list[str]]:
        """The ids of the items, and of those that have runs."""
        answer = called(self.folder, ("status", "--json"))
        items = json.loads(answer.out).get("items", []) if answer.code == 0 else []
        return [i["id"] for i in items], [i["id"] for i in items if i["runs"]]

    def runs(self) -> list[str]:
        """The runs, named as questions name them."""
        names = self.normal.names().values()
        return [name.removeprefix("<run ").rstrip(">").replace(" no ", "/") for name in names]


def described(step: Step) -> str:
    """A step in words."""
    match step:
        case Do(words, env, stdin):
            variables = [f"{name}={value}" for name, value in env.items()]
            return " ".join(
                [*variables, shlex.join(["optrack", *words]), *([f"<<< {stdin!r}"] if stdin else [])]
            )
        case StopAt(words, log, dies):
            return f"{shlex.join(['optrack', *words])} {'dies' if dies else 'is stopped'} at {log}"
        case Write(path, _) | Edit(path, _, _):
            return f"edit {path}"
        case Shell(text):
            return text
    raise AssertionError(step)


def answers_of(state: State, folder: Path) -> Answers:
    """Bring a project to a state in this folder and return its answers to everything."""
    asking = Asking(state, folder)
    for number, step in enumerate(state.steps, 1):
        asking.step(number, step)
    for words in questions.of_project(large=state.name in ("kinds", "guards")):
        asking.ask(words)
    items, ran = asking.items()
    for words in questions.of_items(items[: state.details], ran[: state.details]):
        asking.ask(words)
    for words in questions.of_runs(asking.runs()[: state.details]):
        asking.ask(words)
    if state.name == "shipped":
        for path in state.files:
            if path.endswith(".md"):
                for words in (
                    ("plan", "check", path),
                    ("plan", "show", path),
                    ("plan", "show", path, "--json"),
                ):
                    asking.ask(words)
    notified = asking.folder / "notified.jsonl"
    if notified.exists():
        asking.keep("what was notified", asking.normal.answer(notified.read_text(encoding="utf-8")))
    for step in state.acts:
        asking.act(step)
    if state.agent:
        for question, text in agent.conversation(asking.folder):
            asking.keep(f"mcp: {question}", asking.normal.answer(text))
    return asking.answers


def answers_of_the_program(folder: Path) -> Answers:
    """Return the answers for which no project is needed."""
    asking = Asking(State(PROGRAM), folder)
    names = json.loads(called(asking.folder, ("schema", "--json")).out)["names"]
    for words in questions.of_the_program(COMMANDS, names):
        asking.ask(words)
    return asking.answers


def recorded(name: str) -> tuple[str, Answers, float]:
    """Return the answers of one state by name, and the seconds that it took."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="outward-") as place:
        folder = Path(place).resolve() / "here"
        if name == PROGRAM:
            answers = answers_of_the_program(folder)
        else:
            answers = answers_of(next(state for state in STATES if state.name == name), folder)
    return name, answers, time.monotonic() - begun


def record(
    names: Sequence[str], say: Callable[[str], None] = lambda _: None
) -> Iterator[tuple[str, Answers]]:
    """Yield each state's answers, several states at a time."""
    warm_up()
    with multiprocessing.get_context("fork").Pool(WORKERS, maxtasksperchild=1) as pool:
        for name, answers, seconds in pool.imap_unordered(recorded, names, chunksize=1):
            say(f"{name}: {len(answers)} questions, {seconds:.0f} s")
            yield name, answers


def every_state() -> list[str]:
    """The names of all states, those that take longest first."""
    return [*sorted((s.name for s in STATES), key=lambda n: n not in ("kinds", "all", "failing")), PROGRAM]


def main() -> None:
    """Record the states that are named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("states", nargs="*", help="by default all of them")
    parser.add_argument("--to", type=Path, default=REFERENCE)
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    for name, answers in record(options.states or every_state(), lambda line: print(line, file=sys.stderr)):
        (options.to / f"{name}.txt").write_text(written(answers), encoding="utf-8")


if __name__ == "__main__":
    main()
