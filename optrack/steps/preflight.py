"""Whether the host is fit to be measured on: port, GPUs, CPU load, disk space."""

from __future__ import annotations

import random
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from optrack.core.frozen import Frozen
from optrack.steps.process import logs, sockets


class Problem(Frozen):
    """One thing that makes the host unfit, with the culprit's name; `waits` if waiting may help."""

    kind: Literal["port", "gpu", "cpu", "disk", "leftover"]
    message: str
    hint: str | None = None
    waits: bool = True


def check_host(
    *,
    port: int | None,
    host: str = "127.0.0.1",
    gpus: Sequence[int] | None = None,
    folders: Sequence[Path] = (),
    free_bytes: int = 2 * 2**30,
    cpu_share: float | None = 0.5,
) -> tuple[Problem, ...]:
    """Return what stands against measuring on this host now; empty if nothing does."""
    problems: list[Problem] = []
    if port is not None and not is_free(port, host):
        problems.append(Problem(kind="port", message=f"port {port} is held by {sockets.describe(port)}"))
    for folder in folders:
        free = logs.free_bytes(folder)
        if free is not None and free < free_bytes:
            problems.append(Problem(kind="disk", message=f"{free / 2**30:.1f} GiB are free for {folder}"))
    return tuple(problems)


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen on the port now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return not sockets.is_listened(port)


def free_port(host: str = "127.0.0.1") -> int:
    """Return a port that is free now, outside the range that the kernel gives to outgoing connections."""
    low, high = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split())
    candidates = [port for port in range(20000, 60000) if not low <= port <= high]
    for port in random.sample(candidates, len(candidates)):
        if is_free(port, host):
            return port
    raise OSError("no free port")
