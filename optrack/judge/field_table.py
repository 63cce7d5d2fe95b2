"""The table of captured fields, one row each: what it is to a comparison, and why."""

from __future__ import annotations

from typing import Any, Literal

from optrack.model.value import Frozen

Kind = Literal["stable", "volatile", "informative"]


class Field(Frozen):
    """What a captured field is to a comparison.

    `stable` must be equal; with `never` it must be absent on both sides, too. `volatile` counts once the
    difference is over `relative` (a fraction of the larger value) and over `absolute` (in the field's own
    unit). `informative` never counts; with `noted` a difference is still shown. `label` names the field in a
    sentence, with steps of its path for `{leaf}`, `{owner}`, `{name}`, `{device}` and `{gpu}`; `why` says why
    it is declared as it is.
    """

    pattern: str
    kind: Kind
    label: str = ""
    why: str = ""
    relative: float = 0.0
    absolute: float = 0.0
    noted: bool = False
    never: bool = False

    def within(self, baseline: Any, candidate: Any) -> bool:
        """Whether two values of this field count as the same."""
        if self.never and (baseline or candidate):
            return False
        if baseline == candidate or self.kind != "volatile":
            return bool(baseline == candidate)
        if not _is_number(baseline) or not _is_number(candidate):
            return False
        apart = abs(baseline - candidate)
        largest = max(abs(baseline), abs(candidate))
        return bool(apart <= self.absolute or apart <= self.relative * largest)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _stable(pattern: str, label: str, why: str = "") -> Field:
    return Field(pattern=pattern, kind="stable", label=label, why=why)


def _never(pattern: str, label: str, why: str) -> Field:
    return Field(pattern=pattern, kind="stable", label=label, why=why, never=True)


def _volatile(pattern: str, label: str, why: str = "", **limits: Any) -> Field:
    return Field(pattern=pattern, kind="volatile", label=label, why=why, **limits)


def _informative(pattern: str, why: str = "", *, label: str = "", noted: bool = False) -> Field:
    return Field(pattern=pattern, kind="informative", label=label, why=why, noted=noted)


_GIT = (
    _informative("git.*.tracked.*", "names the files where `code` differs"),
    _stable(
        "git.*.code",
        "the code in the {name} repository",
        "of every tracked file as on disk; not of documents, since plans and notes change",
    ),
    _stable(
        "git.*.untracked.*",
        "the untracked file {leaf} in the {name} repository",
        "an untracked program or settings file runs like a tracked one",
    ),
    _stable("git.*.submodules.*.commit", "the commit of the submodule {owner}"),
    _stable("git.*.submodules.*.code", "the code in the submodule {owner}"),
    _stable("git.*.submodules.*.dirty", "whether the submodule {owner} has uncommitted changes"),
    _informative("git.*.submodules.**"),
    _stable(
        "git.*.left_out.*",
        "the file {leaf}, too large or too private for the patch,",
        "compared by digest, since its content isn't in the record",
    ),
    _stable(
        "git.*.lfs.missing",
        "the LFS files that were never fetched",
        "a pointer where a server expects weights or code",
    ),
    _never(
        "git.*.edited_in_run",
        "the files edited while the run was measured",
        "which code was measured can't be told then, and two runs side by side have it both",
    ),
    _stable("git.*.unknown", "what git didn't tell"),
    _informative("git.**", "commit, branch, remote and patch explain a difference of the code"),
)
_ENV = (
    _stable(
        "env.server.*", "{leaf}", "performance-relevant variables as the server's worker processes had them"
    ),
    _stable(
        "env.passed.*",
        "{leaf} (as passed to the commands)",
        "what the benchmark's client and the server were started with",
    ),
    _informative(
        "env.other.*",
        "not known to change performance: it counts where something that ran reads it",
        label="{leaf}",
        noted=True,
    ),
    _informative("env.**", "per process, and where leader and children differ"),
)
_ARGUMENTS = (
    _stable("arguments.asked.*", "the server argument {leaf}"),
    _stable("arguments.command", "the server's command line"),
    _volatile(
        "arguments.reported.max_*",
        "{leaf}, as the server reports it,",
        "servers size their caches by the memory that was free at the start",
        relative=0.02,
    ),
    _informative(
        "arguments.reported.volatile.**",
        "counters, times and ports that a server reports beside its configuration",
    ),
    _stable("arguments.reported.**", "{leaf}, as the server reports it,"),
    _informative("arguments.declined", "what a server leaves out is told beside the verdict"),
    _informative("arguments.**"),
)
_PACKAGES = (
    _stable("packages.distributions.*", "the package {leaf}"),
    _stable("packages.editable.*", "the source of the editable package {leaf}"),
    _stable("packages.direct.*", "the origin of the package {leaf}"),
    _stable(
        "packages.startup.*",
        "the start-up file {leaf}",
        "sitecustomize, usercustomize and .pth files run in every process before the server's code",
    ),
    _stable(
        "packages.edited.*",
        "the installed file {leaf}",
        "what was edited in place or put beside packages: the files that no record of an installation accounts for",
    ),
    _stable("packages.python.version", "the server's Python"),
    _stable("packages.python.executable", "the interpreter of the server"),
    _stable("packages.python.path", "the server's PYTHONPATH folders"),
    _informative("packages.**"),
)
_LIBRARIES = (
    _stable("libraries.loaded.*.version", "the version of {owner}"),
    _stable("libraries.loaded.*.build", "the build of {owner}", "the linker's build id, or the content"),
    _informative("libraries.loaded.*.path", "the same build may lie elsewhere"),
    _stable("libraries.preloaded", "the preloaded libraries"),
    _stable("libraries.executable.build", "the server's executable"),
    _informative("libraries.**"),
)
_HARDWARE = (
    _stable("hardware.machine", "the machine", "keyed digest of the machine's id"),
    _informative("hardware.host", "containers get a new name at every start"),
    _informative("hardware.boot.**"),
    _stable("hardware.kernel.**", "the kernel's {leaf}"),
    _stable("hardware.container", "the container"),
    _informative("hardware.cpu.frequency_mhz"),
    _stable("hardware.cpu.**", "the CPU's {leaf}"),
    _volatile(
        "hardware.memory.total_bytes",
        "the memory of the host",
        "the kernel's own share varies between boots",
        relative=0.01,
    ),
    _informative("hardware.memory.available_bytes"),
    _informative("hardware.memory.swap_used_bytes"),
    _stable("hardware.memory.**", "the memory setting {leaf}"),
    _informative("hardware.numa.*.memory_bytes", "the kernel's own share varies between boots"),
    _stable("hardware.numa.**", "the NUMA node {owner}"),
    _stable("hardware.limits.**", "the control group's {leaf}"),
    _stable(
        "hardware.runner.**", "the runner's {leaf}", "a server inherits it, also one that never gets ready"
    ),
    _stable("hardware.gpus.driver", "the GPU driver"),
    _stable("hardware.gpus.cuda", "the driver's CUDA version"),
    _stable("hardware.gpus.count", "the number of GPUs"),
    _volatile(
        "hardware.gpus.devices.*.state.temperature_c",
        "the temperature of GPU {device} before the start",
        "a GPU starts cold or warm; what counts is its clock while benchmarking",
        absolute=20.0,
        noted=True,
    ),
    _volatile(
        "hardware.gpus.devices.*.state.memory_used_bytes",
        "the memory in use on GPU {device} before the start",
        "another process on the GPU",
        absolute=1073741824.0,
    ),
    _stable(
        "hardware.gpus.devices.*.state.processes",
        "the processes on GPU {device} before the start",
        "by name: somebody else's work on the same GPU",
    ),
    _volatile(
        "hardware.gpus.devices.*.state.utilization_percent",
        "the load of GPU {device} before the start",
        "a driver reports the last second, a torn-down server included; others' processes show by themselves",
        absolute=15.0,
        noted=True,
    ),
    _informative("hardware.gpus.devices.*.state.**"),
    _informative("hardware.gpus.devices.*.ecc.*_errors", noted=True),
    _informative("hardware.gpus.devices.*.pcie.generation", "an idle link drops to a lower generation"),
    _stable("hardware.gpus.devices.*.**", "the {leaf} of GPU {device}"),
    _stable("hardware.gpus.topology.*", "the connection of the GPUs {leaf}"),
    _informative("hardware.gpus.**"),
)
_REST = (
    _stable("files.*.sha256", "the watched file {owner}"),
    _never(
        "files.*.changed_in_run",
        "whether the watched file {owner} changed while the run was measured",
        "its content during the measurement can't be told then",
    ),
    _informative("files.*.use", "used files are judged together with how they are used"),
    _informative("files.*.later"),
    _informative("files.*.written"),
    _informative("files.*.changed_s"),
    _informative("files.**"),
    _stable("processes.affinity", "the CPUs that the server may use"),
    _stable("processes.memory_nodes", "the NUMA nodes that the server may use"),
    _stable("processes.nice", "the server's niceness"),
    _stable("processes.scheduler", "the server's scheduling policy"),
    _stable("processes.limits.**", "the server's limit {leaf}"),
    _stable("processes.cgroup.**", "the control group's {leaf} of the server"),
    _stable("processes.memory_policy", "the server's NUMA memory policy"),
    _informative("processes.**"),
    _volatile(
        "load.gpus.*.sm_clock_mhz.mean",
        "the mean SM clock of GPU {gpu} while benchmarking",
        "follows from the work, too: a faster server may draw the clock down",
        relative=0.05,
        noted=True,
    ),
    _volatile(
        "load.gpus.*.sm_clock_mhz.max",
        "the highest SM clock of GPU {gpu} while benchmarking",
        "a cap on the clock",
        relative=0.05,
    ),
    _volatile(
        "load.gpus.*.memory_clock_mhz.max", "the memory clock of GPU {gpu} while benchmarking", relative=0.03
    ),
    _volatile(
        "load.gpus.*.temperature_c.max",
        "the highest temperature of GPU {gpu} while benchmarking",
        "heat lowers clocks before it throttles",
        absolute=20.0,
    ),
    _volatile(
        "load.gpus.*.throttled.power_cap",
        "the share of time that GPU {gpu} was held by its power limit",
        "follows from the work, too; the limit itself is compared",
        absolute=0.1,
        noted=True,
    ),
    _volatile(
        "load.gpus.*.throttled.*", "the share of time that GPU {gpu} was throttled ({leaf})", absolute=0.1
    ),
    _stable(
        "load.gpus.*.foreign",
        "the foreign processes on GPU {gpu} while benchmarking",
        "another job on the same GPU",
    ),
    _volatile(
        "load.cpu.foreign_share",
        "the share of the CPUs that other processes used while benchmarking",
        "noise on a shared host, which the intervals show; another's work on a GPU is judged instead",
        absolute=0.15,
        noted=True,
    ),
    _informative("work.**", "compared as the work of all passes, with what they measured"),
    _informative("load.**", "power, utilisation and memory follow from what is measured"),
)

FIELDS: tuple[Field, ...] = (*_GIT, *_ENV, *_ARGUMENTS, *_PACKAGES, *_LIBRARIES, *_HARDWARE, *_REST)
