"""Differences between two snapshots: which are declared, which nobody explained, and what that makes of a
comparison."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from optrack.judge.applied import not_applied, unseen_treatment
from optrack.judge.coverage import covering_bench, covering_leaf
from optrack.judge.field_table import Field
from optrack.judge.fields import dotted, field_of, leaves, sentence
from optrack.judge.file_use import by_file_use, file_differences, watched
from optrack.judge.processes import process_differences, with_ample_limits
from optrack.judge.unseen import Repositories, captured, missing_part, unseen_sections, with_unfound
from optrack.judge.variable_use import by_the_program, by_use, told_alike
from optrack.judge.variables import is_noise
from optrack.model.judgement import Comparison, Difference
from optrack.model.part import Part, plain
from optrack.model.secrets.masking import is_masked
from optrack.model.snapshot import PARTS, Environment, Packages, Snapshot

__all__ = ["comparison", "differences", "is_accepted", "not_applied", "settled", "unseen_treatment"]

THINGS: Mapping[tuple[str, ...], str] = {
    ("git", "*"): "The repository {}",
    ("git", "*", "submodules", "*"): "The submodule {}",
    ("libraries", "loaded", "*"): "The loaded library {}",
    ("hardware", "gpus", "devices", "*"): "GPU {}",
    ("load", "gpus", "*"): "The load of GPU {}",
    ("hardware", "numa", "*"): "NUMA node {}",
    ("files", "*"): "The watched file {}",
}
"""Things that come or go as a whole: their fields aren't compared one by one if one side lacks them."""


_LOOSE = (("untracked",), ("left_out",))
"""Files that one side may merely not have read."""


def differences(
    candidate: Snapshot,
    baseline: Snapshot,
    *,
    declared: Mapping[str, tuple[Any, Any]],
    accepted: Collection[str] = (),
) -> tuple[Difference, ...]:
    """Return every field in which two snapshots differ in a way that counts, blocking ones first.

    `declared` are the factors of the recipes, leaf -> (baseline's value, candidate's); `accepted` are names
    or patterns of fields that somebody said don't matter here. Informative fields are left out, unless the
    table notes them; fields of the login, of a launch or of optrack itself never appear.
    """
    found: list[Difference] = []
    if candidate.env is not None and baseline.env is not None:
        ours_env, theirs_env = told_alike(candidate.env, baseline.env)
        candidate = candidate.model_copy(update={"env": ours_env})
        baseline = baseline.model_copy(update={"env": theirs_env})
    for part in PARTS:
        if part in ("bench", "work"):
            continue
        ours, theirs = getattr(candidate, part), getattr(baseline, part)
        if not captured(ours) or not captured(theirs):
            found.extend(missing_part(part, captured(theirs), captured(ours)))
            continue
        if part == "git":
            ours, theirs = with_unfound(ours, theirs, candidate), with_unfound(theirs, ours, baseline)
        if part == "files":
            ours, theirs = watched(ours), watched(theirs)
        found.extend(_part_differences(part, theirs, ours, declared))
    found.extend(file_differences(baseline, candidate, declared))
    found = by_file_use(found, baseline, candidate, accepted)
    found.extend(process_differences("processes", baseline.processes, candidate.processes, declared))
    found = by_the_program(
        _without_echoes(found), candidate.env or Environment(), baseline.env or Environment()
    )
    found.extend(_bench_differences(baseline, candidate, found, declared))
    found = with_ample_limits(found, candidate.processes, baseline.processes)
    named = {leaf.removeprefix("env.") for leaf in declared if leaf.startswith("env.")}
    found = by_use(found, candidate.env or Environment(), baseline.env or Environment(), named)
    found = list(settled(found, accepted))
    order = {"unexplained": 0, "unknown": 1, "volatile": 2, "declared": 3}
    return tuple(sorted(found, key=lambda d: (d.severity != "blocking", order[d.cls])))


def comparison(differences: Sequence[Difference]) -> Comparison:
    """Return `unfair` if a blocking difference is known, else `unknown` if something blocking couldn't be
    seen."""
    blocking = {difference.cls for difference in differences if difference.severity == "blocking"}
    if blocking - {"unknown"}:
        return "unfair"
    return "unknown" if blocking else "fair"


def _bench_differences(
    baseline: Snapshot,
    candidate: Snapshot,
    shown: Sequence[Difference],
    declared: Mapping[str, tuple[Any, Any]],
) -> list[Difference]:
    """Return what differs in the benchmark's processes, without what is already shown as the server's or as passed on.

    A benchmark whose packages aren't told runs in the server's interpreter.
    """
    theirs, ours = baseline.bench, candidate.bench
    if theirs is None or ours is None:
        return missing_part("bench", theirs is not None, ours is not None)
    found: list[Difference] = []
    for part in ("env", "packages", "libraries", "processes"):
        sides = [getattr(side.bench, part) or getattr(side, part) for side in (baseline, candidate)]
        if all(captured(side) for side in sides) and _same_interpreter(part, *sides):
            found.extend(_part_differences(part, sides[0], sides[1], declared))
    told = {(_variable(d), _text(d.baseline), _text(d.candidate)) for d in shown}
    fresh = [
        _of_the_benchmark(d)
        for d in found
        if not _is_unseen(d) and (_variable(d), _text(d.baseline), _text(d.candidate)) not in told
    ]
    fresh += process_differences("bench.processes", theirs.processes, ours.processes, declared)
    leaf = covering_bench(declared)
    return [d if leaf is None else _declared_by(d, leaf) for d in fresh]


def _same_interpreter(part: str, *sides: Part | None) -> bool:
    """Whether packages are those of one environment: another one shows by its program, and a client of a moment may
    have been seen before it became its interpreter."""
    if part != "packages":
        return True
    pythons = [side.python for side in sides if isinstance(side, Packages)]
    return len({python.prefix if python is not None else None for python in pythons}) == 1


def _variable(difference: Difference) -> str:
    """Return the name of a variable without whose it is, and of anything else its field."""
    return re.sub(r"^env\.(?:server|passed|other)\.", "env.", difference.field)


def _is_unseen(difference: Difference) -> bool:
    """Whether one side's benchmark may merely have been too short for something to be seen of it; what it was passed
    is compared all the same."""
    part = difference.field.partition(".")[0]
    return difference.cls == "unknown" or (
        part in ("libraries", "processes") and None in (difference.baseline, difference.candidate)
    )


def _of_the_benchmark(difference: Difference) -> Difference:
    meaning = difference.meaning.replace("the server's", "the benchmark's")
    return difference.model_copy(
        update={"field": f"bench.{difference.field}", "meaning": f"In the benchmark: {meaning}"}
    )


def _declared_by(difference: Difference, leaf: str) -> Difference:
    if difference.severity == "note":
        return difference
    meaning = f"{difference.meaning} It goes with the declared {leaf}."
    return difference.model_copy(update={"cls": "declared", "severity": "note", "meaning": meaning})


def _part_differences(
    part: str,
    baseline: Part | Repositories,
    candidate: Part | Repositories,
    declared: Mapping[str, tuple[Any, Any]],
) -> list[Difference]:
    theirs, ours = dict(leaves(plain(baseline), (part,))), dict(leaves(plain(candidate), (part,)))
    unseen = unseen_sections(part, baseline, candidate, declared)
    found: list[Difference] = [difference for _, difference in sorted(unseen.items())]
    absent: set[tuple[str, ...]] = set()
    for path in sorted(theirs.keys() | ours.keys()):
        field = field_of(path)
        before, after = theirs.get(path), ours.get(path)
        if field is None or field.within(before, after) or path[:2] in unseen:
            continue
        if (field.kind == "informative" and not field.noted) or (part == "env" and is_noise(path[-1])):
            continue
        if path[2:3] in _LOOSE and None in (before, after) and (*path[:2], "unread") in unseen:
            continue
        whole = _on_one_side(path, theirs, ours)
        if whole is None:
            found.append(_difference(field, path, before, after, declared))
        elif whole not in absent:
            absent.add(whole)
            found.append(_one_sided(whole, before is not None, declared))
    return found


def _on_one_side(
    path: tuple[str, ...], theirs: Mapping[tuple[str, ...], Any], ours: Mapping[tuple[str, ...], Any]
) -> tuple[str, ...] | None:
    """Return the thing that a field belongs to (a GPU, a library, a repository) if only one side has it."""
    size = next((len(thing) for thing in THINGS if _fits(thing, path)), 0)
    whole = path[:size]
    if not size or all(any(key[:size] == whole for key in side) for side in (theirs, ours)):
        return None
    return whole


def _one_sided(
    whole: tuple[str, ...], in_baseline: bool, declared: Mapping[str, tuple[Any, Any]]
) -> Difference:
    label = next(label for thing, label in THINGS.items() if _fits(thing, whole)).format(whole[-1])
    side, other = ("baseline's", "candidate's") if in_baseline else ("candidate's", "baseline's")
    meaning = f"{label} is in the {side} run only, and missing in the {other}."
    seen = ("present", None) if in_baseline else (None, "present")
    leaf, _ = covering_leaf(whole, seen[0], seen[1], declared)
    if leaf is not None:
        return _of(
            "declared", "note", whole, seen[0], seen[1], f"{meaning} It goes with the declared {leaf}."
        )
    return _of("unexplained", "blocking", whole, seen[0], seen[1], meaning)


def _difference(
    field: Field,
    path: tuple[str, ...],
    baseline: Any,
    candidate: Any,
    declared: Mapping[str, tuple[Any, Any]],
) -> Difference:
    meaning = sentence(field, path, baseline, candidate)
    leaf, fits = covering_leaf(path, baseline, candidate, declared)
    if leaf is not None and fits:
        return _of(
            "declared", "note", path, baseline, candidate, f"{meaning} It goes with the declared {leaf}."
        )
    if leaf is not None:
        before, after = declared[leaf]
        meaning += (
            f" Declared for {leaf} is {_text(before)} in the baseline and {_text(after)} in the candidate."
        )
    cls = "unexplained" if field.kind == "stable" else "volatile"
    if is_masked(baseline) and is_masked(candidate):
        return _of("volatile", "note", path, baseline, candidate, f"{meaning} A secret changes no speed.")
    return _of(cls, "note" if field.noted else "blocking", path, baseline, candidate, meaning)


def _of(
    cls: str, severity: str, path: tuple[str, ...], baseline: Any, candidate: Any, meaning: str
) -> Difference:
    return Difference.model_validate(
        {"field": dotted(path), "baseline": baseline, "candidate": candidate}
        | {"cls": cls, "severity": severity, "meaning": meaning}
    )


def _text(value: Any) -> str:
    return "not set" if value is None else str(value)


def _without_echoes(found: list[Difference]) -> list[Difference]:
    """Leave out what was passed where the same variable is already shown as the server's processes had it."""
    shown = {
        (d.field.removeprefix("env.server."), _text(d.baseline), _text(d.candidate))
        for d in found
        if d.field.startswith("env.server.")
    }
    return [
        d
        for d in found
        if (d.field.removeprefix("env.passed."), _text(d.baseline), _text(d.candidate)) not in shown
        or not d.field.startswith("env.passed.")
    ]


def settled(found: Sequence[Difference], accepted: Collection[str]) -> tuple[Difference, ...]:
    """Return the differences with each blocking one that somebody accepted turned into a note."""
    return tuple(_settled(difference, accepted) for difference in found)


def _settled(difference: Difference, accepted: Collection[str]) -> Difference:
    if difference.severity == "note" or not is_accepted(difference.field, accepted):
        return difference
    return difference.model_copy(
        update={"severity": "note", "meaning": f"{difference.meaning} Accepted as not mattering."}
    )


def is_accepted(field: str, accepted: Collection[str]) -> bool:
    """Whether a field is named by `accepted`: by its name, by the name of what it is in, by a pattern with `*`, or by
    the plain name of a variable or process."""
    plain = re.sub(r"^(?:bench\.)?(?:env\.(?:server|passed|other)|processes)\.", "", field)
    if plain != field and any(plain == name or plain.startswith(f"{name}.") for name in accepted):
        return True
    return any(
        field in (name, f"files.{name}.sha256")
        or field.startswith(f"{name}.")
        or ("*" in name and fnmatchcase(field, name))
        for name in accepted
    )


def _fits(thing: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Whether a path begins as a thing's does."""
    steps = zip(thing, path, strict=False)
    return len(path) >= len(thing) and all(step in ("*", name) for step, name in steps)
