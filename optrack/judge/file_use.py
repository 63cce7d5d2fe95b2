"""Files as evidence: those that something which ran uses count by content, those that a run wrote are its products, and
nobody's files are notes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from optrack.judge.coverage import Declared, covering_file
from optrack.model.judgement import Difference
from optrack.model.snapshot import GitState, Snapshot, WatchedFile

_MOST_NAMED = 4
_COMPILED = re.compile(
    r"(?i)\.(?:c|cc|cpp|cxx|cu|cuh|h|hh|hpp|inl|rs|go|java|kt|js|mjs|cjs|ts|rb|pl|lua|jl|f90|s|asm|ptx|proto|cmake|mk|toml|cfg|"
    r"lock|so|a|patch|diff)$|(?:^|/)(?:makefile|dockerfile|cmakelists\.txt|setup\.py|requirements[\w.-]*\.txt)$"
)
"""What may be built or read by tools whose use of files isn't seen."""

_PROGRAM = re.compile(r"\.(?:py|pyx|sh|bash|so|js|mjs|lua|rb|pl|cu)$")
"""Programs, which no run writes as its result."""

Files = Mapping[str, WatchedFile | str]


def used(files: Files | None) -> dict[str, WatchedFile]:
    """Return the files that a run was seen to use, without those that the recipe watches."""
    return {
        name: about
        for name, about in (files or {}).items()
        if isinstance(about, WatchedFile) and about.use is not None
    }


def watched(files: Files | None) -> dict[str, WatchedFile | str]:
    """Return the files that the recipe watches."""
    return {name: about for name, about in (files or {}).items() if name not in used(files)}


def file_differences(baseline: Snapshot, candidate: Snapshot, declared: Declared) -> list[Difference]:
    """Return the used files in which two sides differ: a content that one side had in all its launches counts, one that
    changed in the launches of both sides, or that a run wrote, is a product."""
    theirs, ours = used(baseline.files), used(candidate.files)
    if not theirs or not ours:
        return []
    in_code = {name for _, names in changed_code(baseline, candidate).items() for name in names}
    found = []
    for name in sorted(theirs.keys() | ours.keys()):
        before, after = theirs.get(name), ours.get(name)
        if name in in_code or _is_same(before, after):
            continue
        roles = {side.use for side in (before, after) if side is not None}
        if None in (before, after) and not roles.isdisjoint(_BY_PROCESS):
            continue
        found.append(_difference(name, before, after, declared))
    return found


def _is_same(before: WatchedFile | None, after: WatchedFile | None) -> bool:
    if before is None or after is None:
        return False
    return before.sha256 == after.sha256 and not before.later and not after.later


def _is_product(before: WatchedFile | None, after: WatchedFile | None) -> bool:
    """Whether a run wrote the file: it made it, or the file was another at each look on both sides."""
    sides = [side for side in (before, after) if side is not None]
    return any(side.written for side in sides) or (len(sides) == 2 and all(side.later for side in sides))


def _difference(
    name: str, before: WatchedFile | None, after: WatchedFile | None, declared: Declared
) -> Difference:
    values = [None if side is None else side.sha256 or side.problem or "unread" for side in (before, after)]
    unread = any(side is not None and side.sha256 is None for side in (before, after))
    how = next((_HOW[side.use or "named"] for side in (after, before) if side is not None), "")
    if before is None or after is None:
        has, lacks = ("candidate's", "baseline's") if before is None else ("baseline's", "candidate's")
        meaning = f"The file {name}, {how}, is in the {has} run only, and missing in the {lacks}."
    elif before.sha256 == after.sha256 or before.later or after.later:
        whose = " and the ".join(
            who for who, side in (("baseline's", before), ("candidate's", after)) if side.later
        )
        meaning = f"The file {name}, {how}, changed among the {whose} launches."
    else:
        meaning = f"The file {name}, {how}, differs between the two runs."
    about: dict[str, Any] = {"cls": "unexplained", "severity": "blocking"}
    leaf = covering_file(name, declared, one_sided=None in values)
    if _is_product(before, after):
        about = {"cls": "volatile", "severity": "note"}
        meaning += " A run wrote it."
    elif leaf is not None:
        about = {"cls": "declared", "severity": "note"}
        meaning += f" It goes with the declared {leaf}."
    elif unread and None not in values:
        about = {"cls": "unknown", "severity": "blocking"}
        meaning = f"The file {name}, {how}, could not be read: a difference in it would not be seen."
    else:
        meaning += f" `optrack accept {name}` says that it doesn't matter."
    return Difference(
        field=f"files.{name}.sha256", baseline=values[0], candidate=values[1], meaning=meaning, **about
    )


_HOW = {
    "named": "which a command names",
    "mentioned": "which code that ran imports or names",
    "started": "which a process was started with",
    "opened": "which a process had open",
}
_BY_PROCESS = ("started", "opened")
"""How a file is used that only a process shows: one that lived for a moment may go unseen on one side."""


def changed_code(baseline: Snapshot, candidate: Snapshot) -> dict[str, list[str]]:
    """Return the tracked files in which two sides' repositories differ, by repository, as the used files are named;
    repositories whose files aren't listed are left out."""
    found = {}
    for name in baseline.repositories.keys() & candidate.repositories.keys():
        sides = baseline.repositories[name], candidate.repositories[name]
        before, after = sides[0].tracked, sides[1].tracked
        if before is None or after is None or sides[0].code == sides[1].code:
            continue
        changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        found[name] = [_from_project(path, sides[1], name) for path in changed]
    return found


def _from_project(path: str, state: GitState, name: str) -> str:
    """Return a tracked file's name as used files have it: within the project's folder, or whole."""
    inside = f"{state.inside}/" if state.inside else ""
    if name == "project" and path.startswith(inside):
        return path.removeprefix(inside)
    return f"{state.root}/{path}"


def by_file_use(
    found: Sequence[Difference], baseline: Snapshot, candidate: Snapshot, accepted: Collection[str] = ()
) -> list[Difference]:
    """Return the differences with those of repositories judged by what ran: an untracked file that nothing uses is a
    note, and changed code is told by the names of its files."""
    theirs, ours = used(baseline.files), used(candidate.files)
    if not theirs or not ours:
        return list(found)
    names = {*theirs, *ours}
    products = {
        name for name in names if not _PROGRAM.search(name) and _is_product(theirs.get(name), ours.get(name))
    }
    code = {
        repository: [name for name in changed if name not in products]
        for repository, changed in changed_code(baseline, candidate).items()
    }
    return [_judged(difference, names - products, code, {*accepted, *products}) for difference in found]


def _judged(
    difference: Difference, names: Collection[str], code: Mapping[str, list[str]], accepted: Collection[str]
) -> Difference:
    part, _, rest = difference.field.partition(".")
    repository, _, field = rest.partition(".")
    if part != "git" or difference.severity != "blocking":
        return difference
    if repository == "project" and field.startswith(("untracked.", "left_out.", "unread")):
        meaning = f"{difference.meaning} Nothing that ran was seen to use it; what is used counts by itself."
        return difference.model_copy(update={"cls": "volatile", "severity": "note", "meaning": meaning})
    if field == "edited_in_run" and repository == "project":
        return _edited(difference, accepted)
    if field != "code" or repository not in code:
        return difference
    changed = [name for name in code[repository] if name not in accepted]
    if not code[repository]:
        meaning = f"What differs in the {repository} repository is what the runs themselves wrote."
        return difference.model_copy(update={"cls": "volatile", "severity": "note", "meaning": meaning})
    counting = [name for name in changed if repository != "project" or _counts(name, names)]
    meaning = f"{listed_files(counting or changed or code[repository])} in the {repository} repository"
    if counting:
        several = len(counting) > 1
        meaning += f" differ{'' if several else 's'} between the two runs."
        return difference.model_copy(update={"meaning": meaning})
    meaning += (
        " differ, and nothing that ran was seen to use them." if changed else " differ, which was accepted."
    )
    return difference.model_copy(update={"severity": "note", "meaning": meaning})


def _edited(difference: Difference, products: Collection[str]) -> Difference:
    """Return what was edited while the runs were measured: a note where they wrote it, or it was accepted."""
    edited = {*(difference.baseline or ()), *(difference.candidate or ())}
    if not edited or not edited <= set(products):
        return difference
    meaning = f"{difference.meaning} The runs themselves wrote that."
    return difference.model_copy(update={"cls": "volatile", "severity": "note", "meaning": meaning})


def _counts(name: str, names: Collection[str]) -> bool:
    """Whether a tracked file may be part of what ran: something uses it, a compiler or another language's loader may
    have read it, or it belongs to a Python package of which something was imported."""
    if name in names or _COMPILED.search(name):
        return True
    folder = str(PurePosixPath(name).parent)
    package = {str(PurePosixPath(n).parent) for n in names if n.endswith(".py")} - {"."}
    inside = any(folder == p or folder.startswith(f"{p}/") for p in package)
    return name.endswith((".py", ".json", ".yaml", ".yml")) and inside


def listed_files(names: Sequence[str]) -> str:
    """Return a few of the names, the rest counted."""
    shown = list(names[:_MOST_NAMED])
    if len(names) > _MOST_NAMED:
        shown.append(f"{len(names) - _MOST_NAMED} more files")
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]
