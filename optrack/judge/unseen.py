"""What a comparison can't tell because one side couldn't see it: parts, sections and repositories."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from optrack.model.judgement import Difference
from optrack.model.part import Part
from optrack.model.snapshot import Environment, GitState, Program, Snapshot, Unread

NEEDED = ("git", "env", "hardware")
"""Parts without which nothing can be said of a comparison, even if neither side has them."""

ONLY_WHEN_READY = ("arguments.reported", "libraries", "processes", "bench", "load")
"""What is captured of a server that is ready, and of no other."""


Repositories = Mapping[str, GitState | str]


def captured(part: Part | Mapping[str, Any] | None) -> bool:
    """Whether a part holds anything but the reason why it couldn't be captured."""
    keys = part.model_fields_set if isinstance(part, Part) else part
    return keys is not None and set(keys) != {"problem"}


def missing_part(part: str, baseline: bool, candidate: bool) -> list[Difference]:
    """Say that a part wasn't captured, on one side, or on both where no comparison can do without it."""
    if not baseline and not candidate and part not in NEEDED:
        return []
    runs = [name for name, captured in (("baseline's", baseline), ("candidate's", candidate)) if not captured]
    meaning = (
        f"{part} was not captured in the {' and the '.join(runs)} run: a difference in it would not be seen."
    )
    return [_unknown(part, baseline, candidate, meaning)]


def of_a_failed_start(
    found: Sequence[Difference], candidate: Snapshot, baseline: Snapshot, declared: Collection[str] = ()
) -> tuple[Difference, ...]:
    """Return the differences of a run whose server never got ready: what only a ready one has is no gap.

    A start script runs other programs before its server, and one that fails at once may never have been seen:
    what was seen tells of the server only if it is the program that the baseline's server is.
    """
    told = [
        difference.model_copy(update={"severity": "note"})
        if difference.cls == "unknown" and difference.field in ONLY_WHEN_READY
        else difference
        for difference in found
    ]
    ours, theirs = _program(candidate), _program(baseline)
    if ours is None or any(d.field == "env.server" for d in told) or _same_program(ours, theirs, declared):
        return tuple(told)
    seen = f"what was seen of the candidate's start is {_named(ours)}, and the baseline's server is"
    meaning = f"env.server is uncertain: {seen} {_named(theirs)}. A difference in it may not be seen."
    return (*told, _unknown("env.server", True, False, meaning))


def _program(snapshot: Snapshot) -> Program | None:
    """Return the program whose variables were taken for the server's, None if none were."""
    env = snapshot.env
    if env is None or env.server is None or not env.has("observed_in"):
        return None
    return env.program or Program()


def _same_program(ours: Program, theirs: Program | None, declared: Collection[str]) -> bool:
    """Whether both are the same program, by executable and script; a treatment may run another script, and a
    process may give itself a title."""
    if theirs is None or Program() in (ours, theirs) or ours.executable != theirs.executable:
        return False
    names = [str(side.name) for side in (ours, theirs)]
    titled = any("::" in name for name in names)
    return names[0] == names[1] or titled or not {"launch", "engine"}.isdisjoint(declared)


def _named(program: Program | None) -> str:
    if program is None or program == Program():
        return "not known"
    executable, name = str(program.executable), str(program.name)
    return name if name.startswith(executable) else f"{executable} {name}"


def with_unfound(repositories: Repositories, others: Repositories, snapshot: Snapshot) -> Repositories:
    """Return a side's repositories with those that it couldn't find because its packages weren't captured."""
    if captured(snapshot.packages):
        return repositories
    unfound = [name for name in others if name.startswith("package ") and name not in repositories]
    return {**repositories, **{name: GitState(unknown=["repository"]) for name in unfound}}


def unseen_sections(
    part: str,
    baseline: Part | Repositories,
    candidate: Part | Repositories,
    declared: Collection[str] = (),
) -> dict[tuple[str, ...], Difference]:
    """Return the sections that one side couldn't see: comparing their fields one by one would say nothing
    true."""
    sections = {
        "env": ("server",),
        "arguments": ("reported",),
        "hardware": ("gpus",),
        "packages": ("distributions",),
    }
    found: dict[tuple[str, ...], Difference] = {}
    for section in sections.get(part, ()):
        seen = [getattr(side, section) is not None for side in (baseline, candidate)]
        hidden = any(
            isinstance(side, Environment) and side.has("observed_in") and not side.server
            for side in (baseline, candidate)
        )
        if seen[0] != seen[1] or (hidden and not all(seen)):
            found[part, section] = _unseen_section(part, section, seen[0], seen[1])
    if part != "git" or isinstance(baseline, Part) or isinstance(candidate, Part):
        return found
    for name in sorted(baseline.keys() & candidate.keys()):
        states = baseline[name], candidate[name]
        seen = [not (isinstance(state, GitState) and state.unknown) for state in states]
        if not all(seen):
            found[part, name] = _unseen_section(part, name, seen[0], seen[1], _cause(*states))
        elif not (name == "repo" and not {"repo", "patch"}.isdisjoint(declared)):
            sides = [_unread(state) for state in states]
            told = [side for side in sides if side is not None]
            if told and (sides[0] != sides[1] or None in [side.digest for side in told]):
                found[part, name, "unread"] = _unknown(
                    f"git.{name}.unread", sides[0] is None, sides[1] is None, _unread_meaning(name, told)
                )
    return found


def unread_sentences(snapshot: Snapshot) -> list[str]:
    """Return a sentence for each repository of which some files weren't read."""
    return [
        f"{_files(unread)} in the {name} repository were not read"
        for name, state in snapshot.repositories.items()
        if (unread := _unread(state)) is not None
    ]


def _unread(state: GitState | str) -> Unread | None:
    """Return what is told of a repository's unread files, None where there are none."""
    unread = None if isinstance(state, str) else state.unread
    return unread if unread is not None and unread.model_fields_set else None


def _files(unread: Unread) -> str:
    count, first = unread.files, ", ".join(unread.first[:3])
    return f"{count if count is not None else 'some'} untracked file{'' if count == 1 else 's'}" + (
        f" ({first}, …)" if first else ""
    )


def _unread_meaning(name: str, sides: Sequence[Unread]) -> str:
    more = max(sides, key=lambda side: side.files or 0)
    return (
        f"{_files(more)} in the {name} repository were too many or too large to be read, and are not the same by "
        "name, size and time: whether they differ is unknown. Name what nothing reads in .gitignore."
    )


def _cause(*states: GitState | str) -> str:
    """Return why git didn't tell of a repository, and what to do about it."""
    problem = next((state.problem for state in states if isinstance(state, GitState) and state.problem), "")
    return f" {problem.rstrip('.')}." if problem else ""


def _unseen_section(part: str, section: str, baseline: bool, candidate: bool, cause: str = "") -> Difference:
    runs = [name for name, seen in (("baseline's", baseline), ("candidate's", candidate)) if not seen]
    meaning = f"{part}.{section} could not be seen in the {' and the '.join(runs)} run: "
    return _unknown(
        f"{part}.{section}", baseline, candidate, f"{meaning}a difference in it would not be seen.{cause}"
    )


def _unknown(field: str, baseline: bool, candidate: bool, meaning: str) -> Difference:
    return Difference(
        field=field,
        baseline="captured" if baseline else None,
        candidate="captured" if candidate else None,
        cls="unknown",
        severity="blocking",
        meaning=meaning,
    )
