"""What really ran, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from optrack.judge.difference import differences
from optrack.judge.fields import dotted, field_of, leaves
from optrack.judge.imported import is_imported
from optrack.judge.variables import why_relevant
from optrack.model.markdown import cell, cell_code, code, table
from optrack.model.run import Run
from optrack.model.snapshot import Snapshot
from optrack.model.wording import counted
from optrack.render.documents import timestamp
from optrack.render.log import Log
from optrack.render.standing import baseline_run

_PACKAGES = ("sglang", "vllm", "torch", "flashinfer-python", "triton", "transformers", "numpy")
_NOT_CAPTURED = "not captured"


def provenance(log: Log) -> str:
    """Return what all runs have in common, then the facts that changed and in which runs each value held."""
    facts = [facts_of(run) for run in log.runs]
    if not facts:
        return ""
    names = list(dict.fromkeys(name for one in facts for name in one))
    same, changed = [], []
    for name in names:
        values = [one.get(name) for one in facts]
        known = [value for value in values if value is not None]
        if len(set(known)) == 1:
            unseen = [run for run, value in zip(log.runs, values, strict=True) if value is None]
            where = f" (not captured in {_runs(unseen)})" if unseen else ""
            same.append(f"- **{cell(name)}**: {code(known[0])}{where}")
        else:
            changed += _changes(name, values, log.runs)
    parts = ["\n".join(same)] if same else []
    if changed:
        parts.append(f"Changed between runs:\n\n{table(('What', 'Value', 'Runs', 'From', 'To'), changed)}")
    parts.append(environment(log))
    return "\n\n".join(part for part in parts if part)


def environment(log: Log) -> str:
    """Return the performance-relevant variables that the baseline's processes had."""
    run = baseline_run(log)
    env = (run.snapshot.env if run and run.snapshot else None) or {}
    server = env.get("server") or env.get("passed")
    if run is None or not isinstance(server, Mapping) or not server:
        return ""
    rows = [
        (cell_code(str(k)), "unset" if v is None else cell_code(str(v))) for k, v in sorted(server.items())
    ]
    seen = "processes" if env.get("server") else "commands"
    body = table(("Variable", "Value"), rows)
    return f"Environment of the baseline's {seen} in run {code(run.id)}:\n\n{body}"


def facts_of(run: Run) -> dict[str, str]:
    """Return what identifies the setup that a run was measured on, as name -> text."""
    facts = {"Host": run.host}
    if is_imported(run):
        return facts | {"Origin": "imported"}
    if run.snapshot is None:
        return facts
    facts |= _hardware(run.snapshot.hardware or {})
    facts |= _software(run.snapshot.packages or {})
    for name, about in sorted((run.snapshot.git or {}).items()):
        if isinstance(about, Mapping):
            facts[f"Code, {name}"] = _commit(about)
    return facts


def _hardware(hardware: Mapping[str, Any]) -> dict[str, str]:
    facts: dict[str, str] = {}
    gpus = hardware.get("gpus")
    if isinstance(gpus, Mapping):
        facts["GPUs"] = _gpus(gpus)
        _put(facts, "GPU driver", gpus.get("driver") or gpus.get("driver_version"))
        _put(facts, "CUDA", gpus.get("cuda") or gpus.get("cuda_driver") or gpus.get("cuda_version"))
    cpu = hardware.get("cpu")
    if isinstance(cpu, Mapping):
        cores = f", {cpu['count']} cores" if cpu.get("count") else ""
        _put(facts, "CPU", f"{cpu['model']}{cores}" if cpu.get("model") else None)
    kernel = hardware.get("kernel")
    if isinstance(kernel, Mapping):
        _put(facts, "System", kernel.get("distribution"))
        _put(facts, "Kernel", kernel.get("release"))
    boot = hardware.get("boot")
    if isinstance(boot, Mapping):
        _put(facts, "Boot", boot.get("id"))
    return facts


def _gpus(gpus: Mapping[str, Any]) -> str:
    devices = gpus.get("devices")
    found: Iterable[Any] = devices.values() if isinstance(devices, Mapping) else devices or ()
    names: dict[str, int] = {}
    for device in found:
        name = str(device.get("name", "unknown")) if isinstance(device, Mapping) else str(device)
        names[name] = names.get(name, 0) + 1
    if names:
        return ", ".join(f"{count} × {name}" for name, count in sorted(names.items()))
    return "none" if gpus.get("count") == 0 else str(gpus.get("count", gpus.get("problem", _NOT_CAPTURED)))


def _software(packages: Mapping[str, Any]) -> dict[str, str]:
    facts: dict[str, str] = {}
    python = packages.get("python")
    if isinstance(python, Mapping):
        _put(facts, "Python", python.get("version"))
    distributions = packages.get("distributions")
    if isinstance(distributions, Mapping):
        for name in _PACKAGES:
            _put(facts, name, distributions.get(name))
    return facts


def _commit(about: Mapping[str, Any]) -> str:
    if about.get("commit") is None:
        state = str(about.get("state", "unknown"))
        return "not a git repository" if state == "none" else state
    digest = str(about.get("patch_digest") or "")[:12]
    changes = f" with changes {digest}".rstrip() if about.get("patch") or about.get("dirty") else ""
    branch = f" ({about['branch']})" if about.get("branch") else ""
    return f"{str(about['commit'])[:12]}{branch}{changes}"


def _put(facts: dict[str, str], name: str, value: Any) -> None:
    if value is not None:
        facts[name] = str(value)


def _changes(name: str, values: list[str | None], runs: tuple[Run, ...]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for value in dict.fromkeys(values):
        held = [run for run, one in zip(runs, values, strict=True) if one == value]
        shown = "not captured" if value is None else cell_code(value)
        first, last = timestamp(held[0].started_at) or "", timestamp(held[-1].started_at) or ""
        rows.append((cell(name), shown, _runs(held), first, last))
    return rows


def _runs(runs: Sequence[Run]) -> str:
    items = ", ".join(dict.fromkeys(run.item for run in runs))
    return f"{counted(len(runs), 'run')} of {cell(items if len(items) <= 80 else f'{items[:79]}…')}"


_SHOWN_AT_MOST = 160
_LISTED = 20
_MARKS = {"unexplained": "!", "unknown": "?", "volatile": "~", "declared": "="}
_FOLDED = {("packages", "distributions"): "packages", ("env", "other"): "other variables, by digest"}


def snapshot_lines(snapshot: Snapshot, *, full: bool = False) -> list[str]:
    """Return a snapshot as lines, part by part; `full` shows what is folded otherwise: the patch, every
    package, the digests of the other variables."""
    lines: list[str] = []
    for part in Snapshot.model_fields:
        content = getattr(snapshot, part)
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
    for part in Snapshot.model_fields:
        theirs = dict(leaves(getattr(baseline, part), (part,)))
        ours = dict(leaves(getattr(candidate, part), (part,)))
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
    return text if len(text) <= _SHOWN_AT_MOST else f"{text[: _SHOWN_AT_MOST - 1]}…"
