"""Snapshots, and what differs between two of them, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from optrack.judge.difference import differences
from optrack.judge.fields import dotted, field_of, leaves
from optrack.judge.variables import why_relevant
from optrack.model.part import plain
from optrack.model.snapshot import PARTS, Snapshot
from optrack.render.format import cut

_SHOWN_AT_MOST = 160
_LISTED = 20
_MARKS = {"unexplained": "!", "unknown": "?", "volatile": "~", "declared": "="}
_FOLDED = {("packages", "distributions"): "packages", ("env", "other"): "other variables, by digest"}


def snapshot_lines(snapshot: Snapshot, *, full: bool = False) -> list[str]:
    """Return a snapshot as lines, part by part; `full` shows what is folded otherwise: the patch, every
    package, the digests of the other variables."""
    lines: list[str] = []
    for part, content in snapshot.model_dump().items():
        if lines:
            lines.append("")
        if content is None:
            lines.append(f"{part}: not captured")
        elif set(content) == {"problem"}:
            lines.append(f"{part}: not captured ({content['problem']})")
        else:
            lines.append(part)
            lines.extend(_part_lines(part, content, full))
    return lines


def _part_lines(part: str, content: Mapping[str, Any], full: bool) -> Iterator[str]:
    for key, value in content.items():
        folded = _FOLDED.get((part, key))
        if folded and isinstance(value, Mapping) and not full:
            yield f"  {key}: {len(value)} {folded}"
        elif part == "git" and isinstance(value, Mapping):
            yield from _repository_lines(key, value, full)
        elif (part, key) == ("processes", "tree"):
            yield "  tree"
            yield from _tree_lines(value)
        elif (part, key) in (("env", "server"), ("env", "passed")) and isinstance(value, Mapping):
            yield f"  {key}"
            yield from (_variable_line(name, text) for name, text in value.items())
        else:
            yield from _lines(key, value, 1)


def _variable_line(name: str, value: Any) -> str:
    why = why_relevant(name)
    return f"    {name}={_shown(value)}" + (f"  ({why})" if why else "")


def _repository_lines(name: str, about: Mapping[str, Any], full: bool) -> Iterator[str]:
    commit = (about.get("commit") or "no commit")[:12]
    state = about.get("branch") or about.get("state", "")
    yield f"  {name}: {state} at {commit}" + (", with uncommitted changes" if about.get("dirty") else "")
    for key, value in about.items():
        if key in ("state", "branch", "commit", "dirty") or value in (None, {}, []):
            continue
        if key == "patch":
            lines = value.split("\n")
            yield f"    patch: {len(lines)} lines" + ("" if full else " (shown in full on request)")
            if full:
                yield from (f"      {line}" for line in lines)
        elif key in ("untracked", "left_out") and len(value) > _LISTED and not full:
            yield f"    {key}: {len(value)} files (shown in full on request)"
        elif key != "patch_digest":
            yield from _lines(key, value, 2)


def _tree_lines(tree: list[Mapping[str, Any]]) -> Iterator[str]:
    depths: list[int] = []
    for process in tree:
        parent = process.get("parent")
        depths.append(0 if parent is None or parent >= len(depths) else depths[parent] + 1)
        note = (
            "" if process.get("environment") == "read" else f"  (environment: {process.get('environment')})"
        )
        command = _shown(" ".join(process.get("command") or []))
        yield f"    {'  ' * depths[-1]}{process['name']} [{process['pid']}]{note}  {command}"


def _lines(key: str, value: Any, depth: int) -> Iterator[str]:
    indent = "  " * depth
    if isinstance(value, Mapping) and value:
        yield f"{indent}{key}"
        for inner, content in value.items():
            yield from _lines(str(inner), content, depth + 1)
    elif isinstance(value, (list, tuple)) and value and isinstance(value[0], Mapping):
        yield f"{indent}{key}"
        for index, content in enumerate(value):
            yield from _lines(str(index), content, depth + 1)
    else:
        yield f"{indent}{key}: {_shown(value)}"


def diff_lines(
    baseline: Snapshot,
    candidate: Snapshot,
    *,
    names: tuple[str, str] = ("baseline", "candidate"),
    declared: Mapping[str, tuple[Any, Any]] | None = None,
) -> list[str]:
    """Return what differs between two snapshots as lines: first what counts for a comparison, in sentences,
    then what only informs. The marks: `!` unexplained, `?` unknown, `~` volatile, `=` declared, a blank
    informs."""
    counted = differences(candidate, baseline, declared=declared or {})
    lines = [f"{_MARKS[d.cls]} {d.field}: {_pair(d.baseline, d.candidate)}\n    {d.meaning}" for d in counted]
    shown = {d.field for d in counted}
    for part in PARTS:
        theirs = dict(leaves(plain(getattr(baseline, part)), (part,)))
        ours = dict(leaves(plain(getattr(candidate, part)), (part,)))
        for path in sorted(theirs.keys() | ours.keys()):
            field = field_of(path)
            before, after = theirs.get(path), ours.get(path)
            if before == after or dotted(path) in shown or (field is not None and field.kind == "stable"):
                continue
            lines.append(f"  {dotted(path)}: {_pair(before, after)}")
    if not lines:
        return [f"{names[0]} and {names[1]} have the same snapshot"]
    return [f"{names[0]} -> {names[1]}", *(part for line in lines for part in line.split("\n"))]


def _pair(before: Any, after: Any) -> str:
    return f"{_shown(before)} -> {_shown(after)}"


def _shown(value: Any) -> str:
    """Return a value on one line, shortened."""
    if value is None:
        return "-"
    listed = isinstance(value, (list, tuple))
    text = ", ".join(map(_shown, value)) or "none" if listed else str(value)
    text = text.encode("unicode_escape").decode() if not text.isprintable() else text
    return cut(text, _SHOWN_AT_MOST)
