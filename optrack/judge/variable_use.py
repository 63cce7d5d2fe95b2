"""Which differing variables something that ran can have read, and which the server's own program set."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from optrack.judge.known_variables import nearly_known
from optrack.judge.variables import HARMLESS, is_certain, is_relevant
from optrack.model.judgement import Difference
from optrack.model.secrets.masking import is_masked
from optrack.model.snapshot import Environment, Snapshot

_FIELD = re.compile(r"^(?:bench\.)?env\.(?:server|passed|other)\.")
_DIGEST = re.compile(r"[0-9a-f]{16}")


def told_alike(candidate: Environment, baseline: Environment) -> tuple[Environment, Environment]:
    """Return both sides with each variable where either side has it: what is relevant to one recipe only was recorded
    among the others by the other's run."""
    sides = []
    for ours, theirs in ((candidate, baseline), (baseline, candidate)):
        moved = {
            name: value
            for name, value in (ours.other or {}).items()
            if name in (theirs.server or {}) and name not in (ours.server or {})
        }
        if moved and ours.server is not None:
            rest = {name: value for name, value in (ours.other or {}).items() if name not in moved}
            ours = ours.model_copy(update={"server": {**ours.server, **moved}, "other": rest})
        sides.append(ours)
    return sides[0], sides[1]


def by_use(
    found: Collection[Difference], candidate: Environment, baseline: Environment, named: Collection[str] = ()
) -> list[Difference]:
    """Return the differences with each variable that something which ran reads, or may read, as one that counts, and
    each that nothing reads as a note. `named` are those that the recipes name."""
    readers: dict[str, str | None] = {}
    for side in (baseline, candidate):
        readers |= {name: file for name, file in (side.read_by or {}).items() if file or name not in readers}
    is_searched = candidate.read_by is not None and baseline.read_by is not None
    return [_by_use(d, readers, is_searched, named) for d in found if not _is_old_digest(d)]


def _by_use(
    difference: Difference, readers: Mapping[str, str | None], is_searched: bool, named: Collection[str]
) -> Difference:
    match = _FIELD.match(difference.field)
    if match is None or difference.cls in ("declared", "unknown"):
        return difference
    name = difference.field[match.end() :]
    values = [value for value in (difference.baseline, difference.candidate) if value is not None]
    is_secret = bool(values) and all(map(is_masked, values))
    if ".other." in difference.field and not is_secret and not HARMLESS.match(name):
        if file := readers.get(name):
            return _counting(difference, f"{file} reads it.")
        if is_searched and name not in readers:
            return _counting(difference, "Whether anything that ran reads it couldn't be found out in time.")
    is_unread = readers.get(name, "") is None and is_relevant(name) and not is_certain(name)
    if name not in named and (is_secret or is_unread):
        return difference.model_copy(update={"severity": "note"})
    return difference


def _counting(difference: Difference, why: str) -> Difference:
    meaning = f"{difference.meaning} {why}"
    return difference.model_copy(update={"cls": "unexplained", "severity": "blocking", "meaning": meaning})


def _is_old_digest(difference: Difference) -> bool:
    """Whether one side's value is the digest that an earlier version recorded in its place."""
    sides = (difference.baseline, difference.candidate)
    digests = [isinstance(value, str) and _DIGEST.fullmatch(value) is not None for value in sides]
    return ".other." in difference.field and any(digests) and not all(digests) and None not in sides


def unread_treatment(candidate: Snapshot, factors: Mapping[str, tuple[Any, Any]]) -> tuple[str, ...]:
    """Return a sentence for each variable of the treatment that nothing which ran has in it."""
    read_by = (candidate.env.read_by if candidate.env else None) or {}
    names = [leaf.removeprefix("env.") for leaf in factors if leaf.startswith("env.")]
    found = []
    for name in names:
        if name in read_by and read_by[name] is None:
            near = nearly_known(name)
            hint = f"; did you mean {near}?" if near else ": it can have had no effect."
            found.append(f"Nothing that ran contains {name}{hint}")
    return tuple(found)


def by_the_program(
    found: list[Difference], candidate: Environment, baseline: Environment
) -> list[Difference]:
    """Turn into notes the variables that the server's own program set for its workers while it ran.

    Neither runner, shell nor wrapper gave them: no side was passed them, and the main process began without
    them. With the same code, packages and start-up files on both sides, such a difference follows from the
    treatment or is the program's own (an id that it draws anew at each start).
    """
    if any(d.severity == "blocking" and d.field.startswith(("git.", "packages", "files")) for d in found):
        return found
    return [
        d.model_copy(
            update={
                "severity": "note",
                "meaning": f"{d.meaning} The server's own program set it at run time.",
            }
        )
        if d.cls == "unexplained"
        and d.field.startswith("env.server.")
        and all(_set_at_run_time(d.field.removeprefix("env.server."), side) for side in (candidate, baseline))
        else d
        for d in found
    ]


def _set_at_run_time(name: str, env: Environment) -> bool:
    if name in (env.passed or {}):
        return False
    if (env.server or {}).get(name) is None:
        return True
    differing = (env.differing or {}).get(name)
    return differing is not None and differing.has("leader") and differing.leader is None
