"""What every state is asked, as words of the command line; none of it alters what is asked afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

ANYWHERE: tuple[tuple[str, ...], ...] = (
    ("status",),
    ("runs",),
    ("runs", "--limit", "2"),
    ("next", "--dry-run"),
    ("next", "--explain"),
    ("next", "--explain", "--by", "value"),
    ("plan", "check"),
    ("plan", "show"),
    ("todo",),
    ("failures",),
    ("failures", "--all-plans"),
    ("context",),
    ("watch", "--after", "0", "--for", "0.1"),
    ("show", "nothing"),
    ("compare", "nothing", "baseline"),
    ("log", "nothing"),
)
TEXT_ONLY: tuple[tuple[str, ...], ...] = (
    (),
    ("export",),
    ("export", "--format", "csv"),
    ("export", "--format", "json"),
    ("export", "--since", "2001-01-01"),
    ("export", "--since", "2999-01-01"),
)
LARGE: tuple[tuple[str, ...], ...] = (
    ("doctor",),
    ("doctor", "--json"),
    ("export", "--format", "html"),
    ("export", "--format", "svg"),
)
ANY_ITEM: tuple[tuple[str, ...], ...] = (("show", "{}"), ("run", "{}", "--dry-run"))
ITEM_WITH_RUNS: tuple[tuple[str, ...], ...] = (
    *ANY_ITEM,
    ("runs", "{}"),
    ("compare", "{}", "baseline"),
    ("report", "{}"),
)
ANY_RUN: tuple[tuple[str, ...], ...] = (("show", "{}"), ("diff", "{}", "@baseline"))
WHOLE_RUN: tuple[tuple[str, ...], ...] = (
    ("show", "{}", "--snapshot"),
    ("compare", "{}", "@baseline"),
    ("log", "{}"),
    ("log", "{}", "--which", "bench", "--launch", "1"),
    ("log", "{}", "--which", "runner"),
    ("report", "{}"),
    ("replay", "{}"),
)


def of_project(*, large: bool) -> Iterator[tuple[str, ...]]:
    """Questions of the whole project, each as text and as JSON."""
    for words in ANYWHERE:
        yield words
        yield (*words, "--json")
    yield from TEXT_ONLY
    if large:
        yield from LARGE


def of_items(items: Sequence[str], ran: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Questions of each item; of one with runs, more of them."""
    for item in items:
        for words in ITEM_WITH_RUNS if item in ran else ANY_ITEM:
            yield _with(words, item)
            yield (*_with(words, item), "--json")
    if ran:
        yield ("export", "--items", ran[-1])
        yield ("report", ran[-1], "--format", "html")
        yield ("report", ran[-1], "--format", "json")


def of_runs(runs: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Questions of each run, named as `@ITEM/N`; all of them of an item's latest."""
    latest = {run.partition("/")[0]: run for run in runs}
    for run in runs:
        for words in (*ANY_RUN, *(WHOLE_RUN if run in latest.values() else ())):
            yield _with(words, run)
            if words[0] not in ("log", "replay", "report"):
                yield (*_with(words, run), "--json")


def of_the_program(commands: Sequence[str], schemas: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Questions that no project is needed for: helps, schemas, usage errors."""
    yield ("--help",)
    for command in commands:
        yield (*command.split(), "--help")
        yield (*command.split(), "--nonsense")
        yield (*command.split(), "--nonsense", "--json")
    yield ("plan", "schema")
    yield ("schema",)
    yield ("schema", "--json")
    for name in schemas:
        yield ("schema", name)
    yield ("schema", "nothing", "--json")
    yield ("statsu",)


def _with(words: Sequence[str], name: str) -> tuple[str, ...]:
    return tuple(name if word == "{}" else word for word in words)
