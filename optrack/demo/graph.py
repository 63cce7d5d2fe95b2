"""Graph mode: the messages of a decode step are recorded once, in buffers registered for them, and replayed.

A recording is a list of exchanges and can express nothing else: a message out, bound to the one in that
answers it on the same channel, in registered buffers of one size. So a replay has nothing left to decide: no
schedule, no look-up, no allocation. A ring's rounds are exchanges; a tree's go one way only. `capture` checks
that before it registers anything.
"""

import socket
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from optrack.demo.collective import Message, Round
from optrack.demo.links import LinkClosedError, Links
from optrack.demo.model import Floats
from optrack.demo.nccl import NcclError


class CaptureError(Exception):
    """The decode step can't be recorded."""


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A message out and the one that answers it, bound to their links and buffers."""

    send: Callable[[memoryview], None]
    outgoing: memoryview
    receive: Callable[[memoryview, int, int], int]
    landing: memoryview
    """Where the answer arrives: in the buffer itself, or beside it if it is to be added."""
    nbytes: int
    part: Floats
    addend: Floats | None


class Graph:
    """The recorded all-reduce of a buffer. All layers reduce in the same one, so it serves the whole step."""

    def __init__(self, rounds: list[list[_Exchange]]) -> None:
        self._rounds = [
            (
                [(e.send, e.outgoing) for e in exchanges],
                [(e.receive, e.landing, e.nbytes, e.part, e.addend) for e in exchanges],
            )
            for exchanges in rounds
        ]
        self.messages = sum(len(exchanges) for exchanges in rounds)

    def replay(self) -> None:
        """Reduces what the buffer holds now; the sum is in it afterwards."""
        for sends, receives in self._rounds:
            for send, outgoing in sends:
                send(outgoing)
            for receive, landing, nbytes, part, addend in receives:
                if receive(landing, nbytes, socket.MSG_WAITALL) != nbytes:
                    raise LinkClosedError("a rank has gone")
                if addend is not None:
                    np.add(part, addend, out=part)


def capture(rank: int, schedule: list[Round], links: Links, buffer: Floats) -> Graph:
    """Records a schedule for `buffer`; raises `CaptureError` if it holds what a recording can't express."""
    try:
        for number, turn in enumerate(schedule):
            _require_exchanges(rank, number, turn, buffer.itemsize)
    except NcclError as error:
        raise CaptureError(f"Capture graph failed: {error}") from error
    return Graph([_register(turn, links, buffer) for turn in schedule])


def _require_exchanges(rank: int, number: int, turn: Round, itemsize: int) -> None:
    for channel in sorted({message.channel for message in turn.sends + turn.receives}):
        sent = [_nbytes(m, itemsize) for m in turn.sends if m.channel == channel]
        received = [_nbytes(m, itemsize) for m in turn.receives if m.channel == channel]
        if sent != received:
            raise NcclError(
                f"NCCL error: invalid usage: in round {number} on channel {channel}, rank {rank} sends "
                f"{sum(sent)} bytes and receives {sum(received)}; a captured round has to be an exchange "
                "in registered buffers of one size (--disable-graph does without a capture)"
            )


def _nbytes(message: Message, itemsize: int) -> int:
    return (message.stop - message.start) * itemsize


def _register(turn: Round, links: Links, buffer: Floats) -> list[_Exchange]:
    exchanges = []
    for out, back in zip(turn.sends, turn.receives, strict=True):
        part = buffer[back.start : back.stop]
        addend = np.empty_like(part) if turn.adds else None
        exchanges.append(
            _Exchange(
                send=links[out.peer, out.channel].sendall,
                outgoing=buffer[out.start : out.stop].data,
                receive=links[back.peer, back.channel].recv_into,
                landing=(part if addend is None else addend).data,
                nbytes=part.nbytes,
                part=part,
                addend=addend,
            )
        )
    return exchanges
