"""What the tests of processes share: a run with its folder, and the promise that it leaves nothing alive."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from optrack.host.command import Command, become_subreaper
from optrack.host.fitness import free_port
from optrack.host.launch import start_server, wait_until_ready
from optrack.host.logs import Limits
from optrack.host.teardown import end_leftovers, leftovers
from optrack.host.tree import Tree
from optrack.model.recipe_parts import Ready

FAKE = Path(__file__).with_name("fake_server.py")


class Lab:
    """One run in a folder of its own, with a port that is free."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run = f"test-{uuid.uuid4().hex[:12]}"
        self.port = free_port()
        self.log = folder / "server.log"
        self.env = dict(os.environ)

    def command(self, shell: str, log: str = "command.log") -> Command:
        return Command(shell=shell, env=self.env, cwd=self.folder, log=self.folder / log)

    def serve(self, options: str = "", *, shell: str = "exec {}", port: int | None = None) -> Tree:
        server = f"{sys.executable} -S {FAKE} --port {port or self.port} {options}"
        return start_server(shell.format(server), self.env, self.folder, self.log, run=self.run)

    def wait(
        self,
        tree: Tree,
        ready: Ready | None = None,
        *,
        should_stop: Callable[[], bool] = lambda: False,
        limits: Limits | None = None,
    ) -> float:
        return wait_until_ready(
            tree,
            ready or Ready(http="/health", timeout_s=20),
            host="127.0.0.1",
            port=self.port,
            log=self.log,
            should_stop=should_stop,
            env=self.env,
            cwd=self.folder,
            limits=limits,
        )

    def stop(self, tree: Tree, grace_s: float = 2.0) -> None:
        assert tree.stop(signal=signal.SIGTERM, grace_s=grace_s).left == ()
        assert leftovers(self.run) == ()


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """A run whose leftovers, should a test fail, are ended after it."""
    lab = Lab(tmp_path)
    yield lab
    end_leftovers(lab.run, (), grace_s=0)


@pytest.fixture
def subreaper() -> Iterator[None]:
    """Make this process inherit its orphans, for one test."""
    before = [(number, signal.getsignal(number)) for number in (signal.SIGQUIT, signal.SIGHUP, signal.SIGINT)]
    become_subreaper()
    yield
    ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)
    for number, handler in before:
        signal.signal(number, handler)


def eventually(condition: Callable[[], bool], within_s: float = 10.0) -> bool:
    """Wait for a condition; False if it doesn't come."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
