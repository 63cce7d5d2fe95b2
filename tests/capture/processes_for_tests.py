"""Small process trees for tests: what each prints says that it is ready."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psutil

WIPE = """
import ctypes
fields = open("/proc/self/stat").read().rpartition(")")[2].split()
start, end = int(fields[47]), int(fields[48])
ctypes.memset(start, 0, end - start)
"""
"""Overwrite the process's own environ, as setproctitle does."""

WORKER = "print('ready', flush=True); sys.stdin.read()"


@contextmanager
def tree(program: str, env: Mapping[str, str], ready: int = 1) -> Iterator[tuple[int, list[int]]]:
    """Run a Python program in bash, wait until `ready` lines `ready` were printed, and give leader and
    tree."""
    whole = {"PATH": os.environ["PATH"], **env}
    command = ["bash", "-c", '"$0" -c "$1"; true', sys.executable, f"import os, subprocess, sys\n{program}"]
    with subprocess.Popen(
        command, env=os_environ(whole), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as leader:
        assert leader.stdin is not None and leader.stdout is not None
        try:
            for _ in range(ready):
                assert leader.stdout.readline() == b"ready\n"
            children = psutil.Process(leader.pid).children(recursive=True)
            yield leader.pid, [leader.pid, *(child.pid for child in children)]
        finally:
            leader.stdin.close()


def os_environ(env: Mapping[str, str]) -> dict[bytes, bytes]:
    """Return an environment as bytes, odd ones included."""
    return {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
