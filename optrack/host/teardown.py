"""Ending a server so that the host is as it was: processes gone, port free, GPU memory back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from optrack.host import proc
from optrack.host import proc as sockets
from optrack.host.command import Exit
from optrack.host.fitness import wait_for_memory
from optrack.host.gpus import GpuUse
from optrack.host.leftovers import end_leftovers
from optrack.host.proc import is_alive
from optrack.host.tree import Tree
from optrack.model.run import ProcessId
from optrack.model.value import Frozen

PORT_S = 5.0


class Teardown(Frozen):
    """How a server ended: its exit, who had to be killed, and a line for each thing that is left behind."""

    exit: Exit | None
    killed: tuple[ProcessId, ...] = ()
    left: tuple[str, ...] = ()


def tear_down(
    server: Tree,
    *,
    signal: int,
    grace_s: float,
    is_forced: Callable[[], bool],
    port: int | None = None,
    gpus: Sequence[GpuUse] = (),
    within_s: float = 60.0,
) -> Teardown:
    """End the server with all that it started, and see that its port and its GPUs' memory come back.

    So ends whatever else carries the run's marker, a container's processes say. `gpus` is their use
    before the server was started; their memory may take `within_s` seconds to come back.
    """
    stopped = server.stop(signal=signal, grace_s=grace_s, is_forced=is_forced)
    others, alive = end_leftovers(server.run, (), grace_s=0.0)
    remaining = dict.fromkeys((*stopped.left, *alive))
    left = [f"pid {p.pid} ({proc.command_line(p.pid)}) can't be ended" for p in remaining if is_alive(p)]
    if port is not None and not _is_given_back(port):
        left.append(f"port {port} is still held by {sockets.describe(port)}")
    left += wait_for_memory(gpus, within_s=within_s, is_forced=is_forced)
    return Teardown(exit=stopped.exit, killed=(*stopped.killed, *others), left=tuple(left))


def _is_given_back(port: int) -> bool:
    deadline = time.monotonic() + PORT_S
    while sockets.is_listened(port):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.05)
    return True
