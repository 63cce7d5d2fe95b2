"""One tensor-parallel rank of the demo server: it holds a share of a small model and decodes in step with its peers.

The server starts it with one end of a pipe. Over it go, in this order: the rank's port and settings; the ports of
all ranks and a key; "ready"; then requests in, and tokens out from rank 0. When the pipe closes, the rank ends.

The `NCCL_*` variables choose how the ranks sum up their parts: around a ring or up and down a tree, in how many
pieces (channels). A decode step is captured once and replayed; only exchanges can be captured, so a tree can't.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # numpy takes most of the start-up: bad settings are refused before it is loaded
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

HIDDEN = 512
VOCABULARY = 126
LOG_EVERY = 32
LIMIT = 7  # weights and activations are whole numbers up to this, so sums are exact in any order
SPREAD = 4.3  # the standard deviation of a whole number from -7 to 7
CHOICES = {
    "NCCL_ALGO": ("Ring", "Tree"),
    "NCCL_MAX_NCHANNELS": ("16", *map(str, range(1, 33))),
    "NCCL_PROTO": ("Simple", "LL", "LL128"),
    "NCCL_NTHREADS": ("512", "256", "128", "64"),
}
"""Values of the variables, the default first; protocol and threads are accepted: sockets know only one."""

Links = dict[tuple[int, int], socket.socket]
"""A rank's loopback connections by (peer, channel)."""


class NcclError(Exception):
    """The collective library was asked for something it can't do."""


def read_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the effective `NCCL_*` settings; raises NcclError for a value that can't be used."""
    settings = {}
    for name, allowed in CHOICES.items():
        value = environ.get(name, allowed[0]).strip()
        settings[name] = next((v for v in allowed if v.casefold() == value.casefold()), "")
        if not settings[name]:
            what = f"{name}={value!r} is not one of {', '.join(allowed)}"
            raise NcclError(f"NCCL error: invalid argument: {what}")
    return settings


def connect(listener: socket.socket, rank: int, ports: list[int], channels: int, key: bytes) -> Links:
    """Connect to each peer over each channel; the higher rank calls the lower one, `key` tells it from others."""
    links: Links = {}
    for peer in range(rank):
        for channel in range(channels):
            links[peer, channel] = socket.create_connection(("127.0.0.1", ports[peer]))
            links[peer, channel].sendall(key + bytes([rank, channel]))
    while len(links) < (len(ports) - 1) * channels:
        link, _ = listener.accept()
        hello = link.recv(len(key) + 2, socket.MSG_WAITALL)
        if hello.startswith(key) and len(hello) == len(key) + 2:
            links[hello[-2], hello[-1]] = link
    for link in links.values():
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return links


AllReduce = Callable[[], None]
"""Sums up all ranks' buffers; the sum is in each buffer afterwards."""


def ring(rank: int, ranks: int, links: Links, parts: list[Floats]) -> AllReduce:
    """Around a ring: in each turn a rank sends on what it heard last, and adds what the one before sends."""
    carried = [part.copy() for part in parts]
    to, of = (rank + 1) % ranks, (rank - 1) % ranks

    def all_reduce() -> None:
        for part, carry in zip(parts, carried, strict=True):
            carry[:] = part
        for _ in range(ranks - 1):
            _send(links, to, carried)
            _receive(links, of, carried)
            for part, carry in zip(parts, carried, strict=True):
                part += carry

    return all_reduce


def tree(rank: int, ranks: int, links: Links, parts: list[Floats]) -> AllReduce:
    """Up a binary tree to rank 0, then down: in a turn, a rank only sends or only receives."""
    landing = [part.copy() for part in parts]
    children = [child for child in (2 * rank + 1, 2 * rank + 2) if child < ranks]

    def all_reduce() -> None:
        for child in children:
            _receive(links, child, landing)
            for part, addend in zip(parts, landing, strict=True):
                part += addend
        if rank:
            _send(links, (rank - 1) // 2, parts)
            _receive(links, (rank - 1) // 2, parts)
        for child in children:
            _send(links, child, parts)

    return all_reduce


def _send(links: Links, peer: int, parts: list[Floats]) -> None:
    for channel, part in enumerate(parts):
        links[peer, channel].sendall(part.data)


def _receive(links: Links, peer: int, parts: list[Floats]) -> None:
    for channel, part in enumerate(parts):
        if links[peer, channel].recv_into(part.data, part.nbytes, socket.MSG_WAITALL) != part.nbytes:
            raise ConnectionResetError("a rank has gone")


def require_exchanges(settings: dict[str, str], rank: int, ranks: int) -> None:
    """Raise NcclError for what a capture can't express: a turn in which a rank doesn't receive what it sends."""
    if settings["NCCL_ALGO"] == "Tree" and ranks > 1:
        raise NcclError(
            f"Capture graph failed: NCCL error: invalid usage: rank {rank} only sends or only receives in a turn of "
            "a tree, but only exchanges can be captured (--disable-graph captures none)"
        )


class Model:
    """A rank's columns of every layer's matrix, and the state of the sequence that is decoded."""

    def __init__(self, rank: int, ranks: int, layers: int, buffer: Floats) -> None:
        import numpy as np

        random = np.random.default_rng(20260727)

        def matrix(rows: int) -> Floats:
            return random.integers(-LIMIT, LIMIT, (rows, HIDDEN), endpoint=True).astype(np.float32)

        columns = np.array_split(np.arange(HIDDEN), ranks)[rank]
        self._np = np
        self._embedding = matrix(VOCABULARY)
        self._layers = [np.ascontiguousarray(matrix(HIDDEN)[:, columns]) for _ in range(layers)]
        self._state = np.zeros(HIDDEN, np.float32)
        self._share = self._state[columns[0] : columns[-1] + 1]
        self._product = buffer[:HIDDEN]
        self._scale = np.float32(1 / (HIDDEN**0.5 * SPREAD))

    def read(self, prompt: list[int]) -> None:
        """Start a new sequence: the state becomes a digest of the prompt's tokens."""
        self._state[:] = 0
        for token in prompt:
            self._state[:] = self._np.roll(self._state, 1)
            self._add(token)

    def step(self, all_reduce: Callable[[], None]) -> int:
        """Decode one token: in each layer a small product and an all-reduce. All ranks come to the same."""
        for layer in self._layers:
            self._np.dot(layer, self._share, out=self._product)
            all_reduce()
            self._np.multiply(self._product, self._scale, out=self._state)
            self._quantise()
        token = int((self._embedding @ self._state).argmax())
        self._add(token)
        return token

    def _add(self, token: int) -> None:
        self._state += self._embedding[token]
        self._quantise()

    def _quantise(self) -> None:
        self._np.rint(self._state, out=self._state)
        self._np.maximum(self._state, -LIMIT, out=self._state)
        self._np.minimum(self._state, LIMIT, out=self._state)


def serve(args: argparse.Namespace, settings: dict[str, str], links: Links, pipe: Connection) -> None:
    """Load the model, capture the decode step, then decode one request after the other until the pipe closes."""
    import numpy as np

    channels = int(settings["NCCL_MAX_NCHANNELS"])
    length = -(-HIDDEN // channels)
    buffer = np.zeros(length * channels, np.float32)
    model = Model(args.rank, args.tp, args.layers, buffer)
    logging.info("Load weight end. layers=%d, hidden=%d", args.layers, HIDDEN)
    parts = [buffer[channel * length : (channel + 1) * length] for channel in range(channels)]
    make = tree if settings["NCCL_ALGO"] == "Tree" else ring
    if args.disable_graph:

        def all_reduce() -> None:
            make(args.rank, args.tp, links, parts)()

    else:
        logging.info("Capture graph begin. algorithm=%s, channels=%d", settings["NCCL_ALGO"], channels)
        require_exchanges(settings, args.rank, args.tp)
        all_reduce = make(args.rank, args.tp, links, parts)
        logging.info("Capture graph end.")
    pipe.send("ready")
    # All ranks share one core, which leaves the others to the clients: to wake a peer on another core takes longer
    # than a message does, and by how much varies from launch to launch.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    gc.disable()  # a decode step leaves no cycles behind, and a collection would only add noise
    while True:
        request = pipe.recv()
        model.read(request["prompt"])
        since = time.perf_counter()
        for step in range(1, request["max_new_tokens"] + 1):
            begin = time.perf_counter()
            token = model.step(all_reduce)
            now = time.perf_counter()
            if args.rank == 0:
                pipe.send((token, now - begin))
            if args.rank == 0 and step % LOG_EVERY == 0:
                logging.info(
                    "Decode batch, #running-req: 1, #token: %d, graph: %s, gen throughput (token/s): %.1f",
                    len(request["prompt"]) + step,
                    not args.disable_graph,
                    LOG_EVERY / (now - since),
                )
                since = now


def main() -> int:
    """Run a rank until its pipe closes; the exit status is 2 for settings that can't be used."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all: the server decides
    parser = argparse.ArgumentParser(description="One rank of the demo server, which starts it.")
    for name in ("--rank", "--tp", "--layers", "--pipe"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--disable-graph", action="store_true")
    args = parser.parse_args()
    form = f"[%(asctime)s TP{args.rank}] %(message)s"
    logging.basicConfig(format=form, datefmt="%Y-%m-%d %H:%M:%S", level=logging.INFO)
    pipe = Connection(args.pipe)
    try:
        settings = read_settings(os.environ)
    except NcclError as error:
        pipe.send({"error": str(error)})
        return 2
    try:
        with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
            pipe.send({"port": listener.getsockname()[1], "nccl": settings})
            ports, key = pipe.recv()
            links = connect(listener, args.rank, ports, int(settings["NCCL_MAX_NCHANNELS"]), key)
        serve(args, settings, links, pipe)
    except (EOFError, BrokenPipeError, ConnectionResetError) as error:
        logging.info("The server or a peer has gone: %s", error)
        return 0 if isinstance(error, EOFError | BrokenPipeError) else 1
    except Exception:  # noqa: BLE001 (whatever stops a rank belongs in the log, with its traceback)
        logging.info("Scheduler hit an exception: %s", traceback.format_exc())
    return 1


if __name__ == "__main__":
    sys.exit(main())
