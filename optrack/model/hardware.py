"""What was captured of a host: kernel, CPUs, memory, control groups, GPUs, and their load. Sizes are bytes."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from optrack.model.part import Number, Part, Text, Value


class Boot(Part):
    """The boot of the host."""

    id: Text = None
    uptime_s: Number = None


class Kernel(Part):
    """The system's kernel, distribution and C library."""

    release: Text = None
    version: Text = None
    command_line: Text = None
    distribution: Text = None
    libc: Text = None


class Cpu(Part):
    """The host's CPUs and how they are set."""

    model: Text = None
    microcode: Text = None
    count: int | None = None
    sockets: int | None = None
    online: Text = None
    isolated: Text = None
    smt: Text = None
    driver: Text = None
    governor: Value = None
    energy_preference: Value = None
    max_mhz: Value = None
    min_mhz: Value = None
    turbo: Text = None
    frequency_mhz: str | Number = None
    mitigations: Mapping[str, str] = {}


class Memory(Part):
    """The host's memory and how it is set."""

    total_bytes: int | None = None
    available_bytes: int | None = None
    swap_total_bytes: int | None = None
    swap_used_bytes: int | None = None
    huge_page_bytes: int | None = None
    transparent_huge_pages: Text = None
    huge_page_defrag: Text = None
    swappiness: Text = None
    overcommit: Text = None
    numa_balancing: Text = None
    huge_pages: Text = None
    zone_reclaim: Text = None


class NumaNode(Part):
    """A NUMA node."""

    cpus: Text = None
    distances: Text = None
    memory_bytes: int | None = None


class ControlGroup(Part):
    """The limits of a control group: CPU time in cores, CPUs and nodes, memory; null where there is none."""

    cpus: Number = None
    cpuset: Text = None
    memory_nodes: Text = None
    memory_bytes: int | None = None


class Allowances(Part):
    """What processes may use: CPUs, NUMA nodes and policy, priority, soft limits by name."""

    affinity: Value = None
    memory_nodes: Value = None
    memory_policy: Value = None
    nice: Value = None
    scheduler: Value = None
    limits: Mapping[str, Value] = {}


class Ecc(Part):
    """A GPU's error correction."""

    mode: Text = None
    corrected_errors: int | None = None
    uncorrected_errors: int | None = None


class Pcie(Part):
    """A GPU's link to the host."""

    address: Text = None
    generation: int | None = None
    width: int | None = None
    max_generation: int | None = None
    max_width: int | None = None


class GpuState(Part):
    """What moves of a GPU, before the start."""

    temperature_c: Number = None
    power_w: Number = None
    performance_state: Value = None
    sm_clock_mhz: Number = None
    memory_clock_mhz: Number = None
    utilization_percent: Number = None
    memory_used_bytes: Number = None
    throttle_reasons: int | None = None
    processes: list[str] = Field(default_factory=list)


class Gpu(Part):
    """One GPU's facts and settings; `clocks` are its highest and its application clocks in MHz, by name."""

    name: Text = None
    uuid: Text = None
    capability: Text = None
    vbios: Text = None
    memory_bytes: int | None = None
    compute_mode: Value = None
    persistence: Text = None
    mig: Text = None
    auto_boost: Text = None
    ecc: Ecc | None = None
    power_limit_w: Number = None
    enforced_power_limit_w: Number = None
    default_power_limit_w: Number = None
    clocks: Mapping[str, Number] = {}
    pcie: Pcie | None = None
    numa_node: int | None = None
    nvlinks: int | None = None
    state: GpuState | None = None


class Gpus(Part):
    """The GPUs by index; `hidden` are the names of those left out, `topology` how each pair is connected."""

    driver: Text = None
    nvml: Text = None
    cuda: Text = None
    count: int | None = None
    devices: Mapping[str, Gpu] = {}
    hidden: Mapping[str, Text] = {}
    topology: Mapping[str, str] = {}


class Hardware(Part):
    """The host, what the runner may use of it and passes on, and its GPUs."""

    host: Text = None
    machine: Text = None
    boot: Boot | None = None
    kernel: Kernel | None = None
    cpu: Cpu | None = None
    memory: Memory | None = None
    numa: Mapping[str, NumaNode] = {}
    container: Text = None
    limits: ControlGroup | None = None
    runner: Allowances | None = None
    gpus: Gpus | None = None


class Spread(Part):
    """A measure over time."""

    mean: Number = None
    min: Number = None
    max: Number = None


class GpuLoad(Part):
    """A GPU while benchmarking; `throttled` is the share of time by reason, `foreign` are others' processes."""

    sm_clock_mhz: Spread | None = None
    memory_clock_mhz: Spread | None = None
    power_w: Spread | None = None
    temperature_c: Spread | None = None
    utilization_percent: Spread | None = None
    memory_used_bytes: Spread | None = None
    throttled: Mapping[str, Number] = {}
    foreign: list[str] = Field(default_factory=list)


class CpuLoad(Part):
    """The CPUs while benchmarking, in cores: all, ours, others'."""

    busy_cores: Number = None
    own_cores: Number = None
    foreign_cores: Number = None
    foreign_share: Number = None
    stolen_cores: Number = None
    load_average: Number = None


class Sampling(Part):
    """What sampling itself did and cost."""

    samples: int | None = None
    interval_s: Number = None
    elapsed_s: Number = None
    cpu_s: Number = None


class Load(Part):
    """The load while benchmarking, GPUs by index."""

    gpus: Mapping[str, GpuLoad] = {}
    cpu: CpuLoad | None = None
    sampling: Sampling | None = None
