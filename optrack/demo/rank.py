"""One tensor-parallel rank: a process that holds a share of the model and decodes in step with its peers.

The front end starts it with one end of a control line. Over it go, in this order: the rank's port and
settings; the ports of all ranks; "ready"; then requests in, and tokens out from rank 0. When the line closes,
the rank ends.
"""

import argparse
import gc
import os
import signal
import socket
import sys
import time
import traceback
from functools import partial
from typing import Any

from optrack.demo.collective import SCHEDULES, Layout
from optrack.demo.control import ControlLine, LineClosedError
from optrack.demo.links import LinkClosedError, Links, connect, listen
from optrack.demo.log import log
from optrack.demo.nccl import NcclError, NcclSettings

LOG_INTERVAL = 32
"""Decode steps from one line in the log to the next."""


def main() -> int:
    """Runs a rank until its control line closes; the exit status is 2 for settings that can't be used."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all: the front end decides
    parser = argparse.ArgumentParser(description="One rank of the demo server, which starts it.")
    for name in ("--rank", "--tp", "--layers", "--control-fd"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--disable-graph", action="store_true")
    args = parser.parse_args()

    line = ControlLine(socket.socket(fileno=args.control_fd))
    try:
        settings = NcclSettings.from_environ(os.environ)
        links = _meet_peers(line, args.rank, settings)
        scheduler = Scheduler(args, settings, links)
        line.send("ready")
        scheduler.serve(line)
    except LineClosedError:
        return 0
    except LinkClosedError as error:
        log(f"Lost a peer: {error}", args.rank)
    except NcclError as error:
        line.send({"error": str(error)})
        return 2
    except Exception:  # noqa: BLE001 - whatever stops a rank belongs in the log, with its traceback
        log(f"Scheduler hit an exception: {traceback.format_exc()}", args.rank)
    return 1


def _meet_peers(line: ControlLine, rank: int, settings: NcclSettings) -> Links:
    with listen() as listener:
        line.send({"port": listener.getsockname()[1], "nccl": settings.as_environ()})
        peers = line.receive()
        return connect(listener, rank, peers["ports"], settings.channels, bytes.fromhex(peers["key"]))


class Scheduler:
    """Loads the model, captures the decode step, then works through the requests that come down the line."""

    def __init__(self, args: argparse.Namespace, settings: NcclSettings, links: Links) -> None:
        # Only here, since numpy takes most of the start-up: bad settings are refused before it is loaded.
        import numpy as np

        from optrack.demo.eager import all_reduce
        from optrack.demo.graph import capture
        from optrack.demo.model import HIDDEN, Model

        self._rank: int = args.rank
        self._graph: bool = not args.disable_graph

        self._log("Load weight begin.")
        began = time.perf_counter()
        limit = max(settings.buffer_bytes // np.float32().itemsize, 1)
        layout = Layout.for_elements(HIDDEN, args.tp, settings.channels, limit)
        buffer = np.zeros(layout.size, np.float32)
        self._model = Model(args.rank, args.tp, args.layers, buffer)
        self._log(
            f"Load weight end. layers={args.layers}, hidden={HIDDEN}, "
            f"mem usage={self._model.nbytes / 1e6:.2f} MB, elapsed={time.perf_counter() - began:.2f} s"
        )

        schedule = partial(SCHEDULES[settings.algorithm], args.rank, layout)
        if self._graph:
            began = time.perf_counter()
            self._log(f"Capture graph begin. algorithm={settings.algorithm}, channels={settings.channels}")
            graph = capture(args.rank, schedule(), links, buffer)
            self._all_reduce = graph.replay
            self._log(
                f"Capture graph end. messages per step={graph.messages * args.layers}, "
                f"elapsed={time.perf_counter() - began:.3f} s"
            )
        else:
            self._all_reduce = partial(all_reduce, schedule, links, buffer)
            self._log("Graph disabled: every all-reduce is scheduled as it comes.")

    def serve(self, line: ControlLine) -> None:
        """Decodes one request after the other until the line closes."""
        # All ranks share one core, which leaves the others to the clients: to wake a peer on another core
        # takes longer than a message does, and by how much varies from launch to launch.
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        gc.collect()
        gc.disable()  # a decode step leaves no cycles behind, and a collection would only add noise
        while True:
            self._generate(line.receive(), line)

    def _generate(self, request: dict[str, Any], line: ControlLine) -> None:
        prompt: list[int] = request["prompt"]
        self._model.read(prompt)
        since = time.perf_counter()
        for step in range(1, request["max_new_tokens"] + 1):
            began = time.perf_counter()
            token = self._model.step(self._all_reduce)
            if self._rank != 0:
                continue
            line.send([token, time.perf_counter() - began])
            if step % LOG_INTERVAL == 0:
                now = time.perf_counter()
                self._log(
                    f"Decode batch, #running-req: 1, #token: {len(prompt) + step}, graph: {self._graph}, "
                    f"gen throughput (token/s): {LOG_INTERVAL / (now - since):.1f}, "
                    f"#queue-req: {request['waiting']}"
                )
                since = now

    def _log(self, message: str) -> None:
        log(message, self._rank)


if __name__ == "__main__":
    sys.exit(main())
