"""A teardown gives the host back, or says what it couldn't."""

from __future__ import annotations

import os
import signal
import socket
import subprocess

import pytest

from optrack.host import teardown as gpus
from optrack.host.command import MARKER
from optrack.host.gpus import GpuUse
from optrack.host.proc import identity, is_alive
from optrack.host.teardown import Teardown, leftovers, tear_down
from tests.process.conftest import Lab


def end(lab: Lab, before: tuple[GpuUse, ...] = ()) -> Teardown:
    tree = lab.serve("--orphans 1 --setsid")
    lab.wait(tree)
    return tear_down(
        tree,
        signal=signal.SIGTERM,
        grace_s=0.2,
        is_forced=lambda: False,
        port=lab.port,
        gpus=before,
        within_s=0.1,
    )


def test_a_server_is_ended_with_its_workers_and_nothing_is_left(lab: Lab) -> None:
    ended = end(lab)
    assert ended.left == () and len(ended.killed) == 1
    assert leftovers(lab.run) == ()


def test_what_carries_the_marker_outside_of_the_tree_ends_with_it(lab: Lab) -> None:
    with subprocess.Popen(
        ["sleep", "600"], env={**os.environ, MARKER: lab.run}, start_new_session=True
    ) as other:
        known = identity(other.pid)
        assert known is not None
        assert end(lab).left == ()
        assert not is_alive(known)


def test_a_port_that_is_not_given_back_is_told(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optrack.host.teardown.PORT_S", 0.1)
    tree = lab.serve()
    lab.wait(tree)
    with socket.socket(socket.AF_INET6) as taken:
        taken.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        taken.bind(("::1", lab.port))
        taken.listen()
        ended = tear_down(tree, signal=signal.SIGTERM, grace_s=2, is_forced=lambda: False, port=lab.port)
    (line,) = ended.left
    assert f"port {lab.port} is still held by pid {os.getpid()}" in line


def test_gpu_memory_that_is_not_given_back_is_told(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    held = GpuUse(index=0, used_bytes=9 * 2**30, pids=(77,))
    monkeypatch.setattr(gpus, "gpu_use", lambda indices: (held,))
    (line,) = end(lab, before=(held.model_copy(update={"used_bytes": 0}),)).left
    assert line == "GPU 0 still holds 9.0 GiB for pids 77"
