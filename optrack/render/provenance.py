"""The facts that identify the setup a run was measured on, and what changed of them between runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from optrack.judge.imported import is_imported
from optrack.model.hardware import Gpus, Hardware, Kernel
from optrack.model.run import Run
from optrack.model.snapshot import Environment, GitState, Packages
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
    env = (run.snapshot.env if run and run.snapshot else None) or Environment()
    server = env.server or env.passed or {}
    return dict(sorted(server.items())), "processes" if env.server else "commands"


def facts_of(run: Run) -> dict[str, str]:
    """Return what identifies the setup that a run was measured on, as name -> text."""
    facts = {"Host": run.host}
    if is_imported(run):
        return facts | {"Origin": "imported"}
    if run.snapshot is None:
        return facts
    facts |= _hardware(run.snapshot.hardware or Hardware())
    facts |= _software(run.snapshot.packages or Packages())
    for name, about in sorted(run.snapshot.repositories.items()):
        facts[f"Code, {name}"] = _commit(about)
    return facts


def _hardware(hardware: Hardware) -> dict[str, str]:
    facts: dict[str, str] = {}
    if (gpus := hardware.gpus) is not None:
        facts["GPUs"] = _gpus(gpus)
        _put(facts, "GPU driver", gpus.driver)
        _put(facts, "CUDA", gpus.cuda)
    if (cpu := hardware.cpu) is not None:
        cores = f", {cpu.count} cores" if cpu.count else ""
        _put(facts, "CPU", f"{cpu.model}{cores}" if cpu.model else None)
    kernel = hardware.kernel or Kernel()
    _put(facts, "System", kernel.distribution)
    _put(facts, "Kernel", kernel.release)
    _put(facts, "Boot", hardware.boot.id if hardware.boot is not None else None)
    return facts


def _gpus(gpus: Gpus) -> str:
    names = Counter(gpu.name or "unknown" for gpu in gpus.devices.values())
    if names:
        return ", ".join(f"{count} × {name}" for name, count in sorted(names.items()))
    return "none" if gpus.count == 0 else str(gpus.count or gpus.problem or _NOT_CAPTURED)


def _software(packages: Packages) -> dict[str, str]:
    facts: dict[str, str] = {}
    _put(facts, "Python", packages.python.version if packages.python is not None else None)
    for name in _PACKAGES:
        _put(facts, name, (packages.distributions or {}).get(name))
    return facts


def _commit(about: GitState) -> str:
    if about.commit is None:
        state = about.state or "unknown"
        return "not a git repository" if state == "none" else state
    digest = (about.patch_digest or "")[:12]
    changes = f" with changes {digest}".rstrip() if about.patch or about.dirty else ""
    branch = f" ({about.branch})" if about.branch else ""
    return f"{about.commit[:12]}{branch}{changes}"


def _put(facts: dict[str, str], name: str, value: Any) -> None:
    if value is not None:
        facts[name] = str(value)
