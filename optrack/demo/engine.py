"""The front end's side of the ranks: it starts them, hands them requests and sees that none outlives it."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Sequence
from typing import Any

from optrack.demo.control import ControlLine, LineClosedError

STOP_S = 0.3
"""How long a rank may take to end when asked, in seconds."""
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class RankFailedError(Exception):
    """A rank ended, or refused its settings; `exit_code` is what the server should end with."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Engine:
    """The group of ranks. It serves one request at a time; the others wait for their turn."""

    def __init__(self, tp: int, layers: int, disable_graph: bool) -> None:
        self._arguments = ["--tp", str(tp), "--layers", str(layers)]
        if disable_graph:
            self._arguments.append("--disable-graph")
        self._tp = tp
        self._processes: list[subprocess.Popen[bytes]] = []
        self._lines: list[ControlLine] = []
        self._turn = threading.Lock()
        self._queue: deque[None] = deque()  # an entry for each request that waits: appends are atomic
        self.settings: list[dict[str, str]] = []
        """The effective `NCCL_*` settings, as each rank read them from its own environment."""

    def start(self) -> None:
        """Starts the ranks and waits until all are ready; raises `RankFailedError` if one never will be."""
        for rank in range(self._tp):
            self._spawn(rank)
        greetings = [self._hear(rank) for rank in range(self._tp)]
        self.settings = [greeting["nccl"] for greeting in greetings]
        if any(settings != self.settings[0] for settings in self.settings):
            raise RankFailedError(f"NCCL error: the ranks differ in their settings: {self.settings}")
        peers = {"ports": [greeting["port"] for greeting in greetings], "key": secrets.token_hex(16)}
        self._tell(peers)
        for rank in range(self._tp):
            self._hear(rank)

    def generate(
        self, prompt: Sequence[int], max_new_tokens: int
    ) -> Generator[tuple[int, float], None, None]:
        """Yields each token with the seconds that its decode step took; `RankFailedError` if a rank is lost."""
        self._queue.append(None)
        with self._turn:
            self._queue.popleft()
            self._tell({"prompt": prompt, "max_new_tokens": max_new_tokens, "waiting": len(self._queue)})
            left = max_new_tokens
            try:
                while left:
                    token, seconds = self._hear(0)
                    left -= 1
                    yield token, seconds
            finally:
                # If the client has gone, the ranks still decode to the end: what they send is nobody else's.
                for _ in range(left):
                    self._hear(0)

    def wait(self) -> str:
        """Waits until a rank ends, which none should, and says which and how."""
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        ended = [(rank, p.poll()) for rank, p in enumerate(self._processes)]
        rank, status = next((rank, status) for rank, status in ended if status is not None)
        if status == -signal.SIGTERM:
            # Whoever stops a whole tree may reach a rank first; the signal to this process is on its way.
            time.sleep(STOP_S)
        return f"rank {rank} ended with status {status}"

    def stop(self) -> None:
        """Ends every rank: asks first, then insists. Returns when none is left."""
        for process in self._processes:
            process.terminate()
        deadline = time.monotonic() + STOP_S
        for process in self._processes:
            try:
                process.wait(max(deadline - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _spawn(self, rank: int) -> None:
        ours, theirs = socket.socketpair()
        self._lines.append(ControlLine(ours))
        with theirs:
            fd = theirs.fileno()
            command = [sys.executable, "-m", "optrack.demo.rank", "--rank", str(rank)]
            self._processes.append(
                subprocess.Popen(
                    [*command, "--control-fd", str(fd), *self._arguments],
                    stdin=subprocess.DEVNULL,
                    env=os.environ | _ONE_THREAD,  # a rank has one core: threads would only get in its way
                    pass_fds=[fd],
                )
            )

    def _tell(self, value: object) -> None:
        for rank, line in enumerate(self._lines):
            try:
                line.send(value)
            except LineClosedError as error:
                raise self._lost(rank) from error

    def _hear(self, rank: int) -> Any:
        try:
            value = self._lines[rank].receive()
        except LineClosedError as error:
            raise self._lost(rank) from error
        if isinstance(value, dict) and "error" in value:
            raise RankFailedError(value["error"], exit_code=2)
        return value

    def _lost(self, rank: int) -> RankFailedError:
        return RankFailedError(f"rank {rank} has ended: see the log above")
