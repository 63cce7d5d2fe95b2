"""Where a campaign was measured: hosts, GPUs, software and code, and what changed between its runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from optrack.core.judge.wording import counted
from optrack.core.markdown import cell, cell_code, code, table
from optrack.core.parsers.imported import is_imported
from optrack.core.report.documents import timestamp
from optrack.core.report.log import Log
from optrack.core.report.standing import baseline_run
from optrack.core.run import Run

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
