"""Processes as evidence: how each was started on either side, and those that only one side has."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from optrack.judge.coverage import Declared, covering_command
from optrack.model.judgement import Difference
from optrack.model.snapshot import Process, ProcessTree

DRAWN = "…"
"""Stands in a command line for a word that was another at each start of the same side."""


_AMPLE = {"open_files": 4096, "locked_memory": 64 * 2**20, "stack": 8 * 2**20}
"""Limits below which one counts whatever was used when it was looked at."""


class Line(NamedTuple):
    """How a process was started: its program, its folder, and the words after the program's name."""

    program: str
    cwd: str
    words: tuple[str, ...]


class _Seen(NamedTuple):
    """The ways in which a side's processes of one name were started, as far as that was read; `always`: some in each
    of the side's starts; `brief`: some for a moment only; `own`: a program of theirs started them, no shell."""

    lines: tuple[Line, ...]
    always: bool
    brief: bool
    own: bool


def joined(first: ProcessTree, later: ProcessTree) -> ProcessTree:
    """Return a side's processes with those of another start of it: a word that both starts have otherwise is drawn
    anew each time, and no difference."""
    tree = list(first.tree)
    taken: set[int] = set()
    for process in later.tree:
        free = [i for i, old in enumerate(tree) if i not in taken and _is_same(old, process)]
        same = min(free, key=lambda i: _executed(tree[i]) != _executed(process), default=None)
        if same is None:
            tree.append(process.model_copy(update={"parent": _parent(process, later, tree)}))
            taken.add(len(tree) - 1)
        else:
            taken.add(same)
            tree[same] = _joined(tree[same], process)
    starts = (first.starts or 1) + (later.starts or 1)
    return first.model_copy(update={"tree": tree, "starts": starts, "count": len(tree)})


def _is_same(old: Process, new: Process) -> bool:
    alike = (old.name, old.role, old.program, old.cwd) == (new.name, new.role, new.program, new.cwd)
    return alike and len(_executed(old)) == len(_executed(new))


def _parent(process: Process, tree: ProcessTree, into: Sequence[Process]) -> int | None:
    """Return the place among `into` of what is the process's parent in its own tree."""
    if process.parent is None or process.parent >= len(tree.tree):
        return None
    parent = tree.tree[process.parent]
    return next((i for i, other in enumerate(into) if _is_same(other, parent)), None)


def _joined(old: Process, new: Process) -> Process:
    words = [a if a == b else DRAWN for a, b in zip(_executed(old), _executed(new), strict=True)]
    starts = (old.starts or 1) + (new.starts or 1)
    return old.model_copy(
        update={"started": words, "starts": starts, "brief": bool(old.brief or new.brief)}
        if words != _executed(old) or old.started is not None
        else {"starts": starts, "brief": bool(old.brief or new.brief)}
    )


def with_ample_limits(
    found: Iterable[Difference], candidate: ProcessTree | None, baseline: ProcessTree | None
) -> list[Difference]:
    """Return the differences with a limit as a note where both sides' is ample: at least what nobody comes near to, and
    four times what was used."""
    return [_with_ample_limit(difference, candidate, baseline) for difference in found]


def _with_ample_limit(
    difference: Difference, candidate: ProcessTree | None, baseline: ProcessTree | None
) -> Difference:
    name = difference.field.rpartition(".limits.")[2]
    if name not in _AMPLE or difference.severity == "note":
        return difference
    limits = [_limit(side) for side in (difference.baseline, difference.candidate)]
    used = max((side.used.get(name, 0) for side in (candidate, baseline) if side is not None), default=0)
    if any(limit is None or limit < max(_AMPLE[name], 4 * used) for limit in limits):
        return difference
    return difference.model_copy(
        update={"severity": "note", "meaning": f"{difference.meaning} Neither was come near to."}
    )


def _limit(value: object) -> float | None:
    """Return the tightest of the limits that processes have."""
    texts = value if isinstance(value, list) else [value]
    known = [
        math.inf if text == "unlimited" else float(str(text)) if str(text).isdigit() else None
        for text in texts
    ]
    return None if None in known or not known else min(limit for limit in known if limit is not None)


def process_differences(
    side: str, baseline: ProcessTree | None, candidate: ProcessTree | None, declared: Declared
) -> list[Difference]:
    """Return what differs in how the processes of two trees were started; `side` is the field of the tree.

    Shells, which run the recipe's own text, and helpers aren't compared. A process that comes and goes, or ended too
    soon to be seen each time, is no difference where the other side lacks it.
    """
    theirs, ours = _by_name(baseline), _by_name(candidate)
    found: list[Difference] = []
    if theirs is None or ours is None:
        return found
    for name in sorted(theirs.keys() | ours.keys()):
        before, after = theirs.get(name), ours.get(name)
        if before is None or after is None:
            only = before or after
            if only is not None and only.lines and only.always and not only.brief:
                found.append(_one_sided(side, name, only, before is not None, declared))
            continue
        if before.lines and after.lines and before.always and after.always:
            found += _changed(side, name, before, after, declared)
    return found


def _by_name(tree: ProcessTree | None) -> dict[str, _Seen] | None:
    """Return a tree's programs by their names, None where it was recorded without how they were started."""
    if tree is None or tree.starts is None:
        return None
    groups: dict[str, list[Process]] = {}
    for process in tree.tree:
        if process.role is None:
            groups.setdefault(process.name or "", []).append(process)
    return {name: _seen(group, tree) for name, group in groups.items()}


def _seen(group: Sequence[Process], tree: ProcessTree) -> _Seen:
    parents = [tree.tree[p.parent] for p in group if p.parent is not None and p.parent < len(tree.tree)]
    return _Seen(
        lines=tuple(
            dict.fromkeys(
                _line(process) for process in group if _executed(process) and not _is_title(process)
            )
        ),
        always=sum(p.starts or 1 for p in group) >= (tree.starts or 1),
        brief=any(p.brief for p in group),
        own=len(parents) == len(group) and all(parent.role is None for parent in parents),
    )


def _is_title(process: Process) -> bool:
    """Whether a process wrote a title over its command line before that was seen."""
    return process.started is None and len(process.command) == 1 and " " in process.command[0]


def _line(process: Process) -> Line:
    return Line(process.program or "", process.cwd or "", tuple(_executed(process)[1:]))


def _executed(process: Process) -> list[str]:
    return process.started if process.started is not None else process.command


def _changed(side: str, name: str, before: _Seen, after: _Seen, declared: Declared) -> list[Difference]:
    """Return the parts of the command lines that only one side has: program, folder, words."""
    gone = [line for line in before.lines if not any(_alike(line, other) for other in after.lines)]
    new = [line for line in after.lines if not any(_alike(line, other) for other in before.lines)]
    if not (before.lines and after.lines) or not (gone or new):
        return []
    was, now = (gone or before.lines)[0], (new or after.lines)[0]
    if was.words != now.words and not _words_alike(was.words, now.words):
        lost, gained = _apart(was.words, now.words)
        told = [
            *(f"without {_quoted(lost)}" for _ in lost[:1]),
            *(f"with {_quoted(gained)}" for _ in gained[:1]),
        ]
        meaning = f"{_whose(side)} process {name} was started {' and '.join(told)} in the candidate's run."
        return [
            _of(f"{side}.{name}.command", was.words, now.words, meaning, (*lost, *gained), after, declared)
        ]
    for field, what in (("cwd", "in the folder"), ("program", "as the program")):
        old, current = getattr(was, field), getattr(now, field)
        moves = field == "cwd" and " " in name  # a daemon by its title: it changes its folder once it runs
        if old != current and not moves:
            meaning = (
                f"{_whose(side)} process {name} was started {what} {old} in the baseline's run and {what} "
                f"{current} in the candidate's."
            )
            return [
                _of(f"{side}.{name}.{field}", (old,), (current,), meaning, (old, current), after, declared)
            ]
    return []


def _one_sided(side: str, name: str, seen: _Seen, in_baseline: bool, declared: Declared) -> Difference:
    line = seen.lines[0] if seen.lines else Line(name, "", ())
    whose = "baseline's" if in_baseline else "candidate's"
    command = " ".join((line.program.rpartition("/")[2], *line.words))
    meaning = f"{_whose(side)} process {name} ({_cut(command)}) ran in the {whose} run only."
    sides: tuple[tuple[str, ...] | None, tuple[str, ...] | None] = (
        ((command,), None) if in_baseline else (None, (command,))
    )
    return _of(f"{side}.{name}", *sides, meaning, line.words, seen, declared)


def _of(
    field: str,
    baseline: Sequence[str] | None,
    candidate: Sequence[str] | None,
    meaning: str,
    words: Sequence[str],
    seen: _Seen,
    declared: Declared,
) -> Difference:
    leaf = covering_command(field, words, own=seen.own, declared=declared)
    return Difference(
        field=field,
        baseline=None if baseline is None else " ".join(baseline),
        candidate=None if candidate is None else " ".join(candidate),
        cls="declared" if leaf else "unexplained",
        severity="note" if leaf else "blocking",
        meaning=f"{meaning} It goes with the declared {leaf}." if leaf else meaning,
    )


def _alike(one: Line, other: Line) -> bool:
    return one[:2] == other[:2] and _words_alike(one.words, other.words)


def _words_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    return len(one) == len(other) and all(a == b or DRAWN in (a, b) for a, b in zip(one, other, strict=True))


def _apart(before: Sequence[str], after: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words that only the first, and only the second command line has, in their order."""
    lost: list[str] = []
    gained: list[str] = []
    for kind, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            lost += before[i:j]
            gained += after[k:m]
    return lost, gained


def _whose(side: str) -> str:
    return "The benchmark's" if side.startswith("bench") else "The server's"


def _quoted(words: Iterable[str]) -> str:
    return f"`{_cut(' '.join(words))}`"


def _cut(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:199]}…"
