"""The facts that identify the setup a run was measured on, and what changed of them between runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from optrack.judge.imported import is_imported
from optrack.model.run import Run
from optrack.render.format import counted, cut
from optrack.render.log import Log
from optrack.render.report import items_of

_PACKAGES = ("sglang", "vllm", "torch", "flashinfer-python", "triton", "transformers", "numpy")
_NOT_CAPTURED = "not captured"


class Fact(NamedTuple):
    """A fact of all runs: its one value and the runs where it wasn't seen, or each value with the runs that had it."""

    name: str
    value: str
    unseen: Sequence[Run]
    changes: Sequence[tuple[str | None, Sequence[Run]]] | None = None


def common_facts(log: Log) -> list[Fact]:
    """Return what identifies the setups of all runs, what they have in common first."""
    facts = [facts_of(run) for run in log.runs]
    found = []
    for name in dict.fromkeys(name for one in facts for name in one):
        held: dict[str | None, list[Run]] = {}
        for run, one in zip(log.runs, facts, strict=True):
            held.setdefault(one.get(name), []).append(run)
        values = [value for value in held if value is not None]
        changes = list(held.items()) if len(values) > 1 else None
        found.append(Fact(name, values[0], held.get(None, ()), changes))
    return found


def runs_text(runs: Sequence[Run]) -> str:
    """Return how many runs of which items."""
    return f"{counted(len(runs), 'run')} of {cut(items_of(runs), 80)}"


def environment(run: Run | None) -> tuple[Mapping[str, Any], str]:
    """Return the variables that a run's server had, as name -> value, and in what they were seen."""
    env = (run.snapshot.env if run and run.snapshot else None) or {}
    server = env.get("server") or env.get("passed")
    found = dict(sorted(server.items())) if isinstance(server, Mapping) else {}
    return found, "processes" if env.get("server") else "commands"


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
