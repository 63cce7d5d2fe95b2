"""The all-reduce as a schedule: which part of its buffer a rank sends or receives, from or to whom, and when.

Both algorithms leave the sum of all ranks' buffers in every rank's buffer. A schedule is data, so that it can
be carried out at once (`eager`) or checked, recorded and replayed (`graph`).
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Message:
    """Elements `start` to `stop` of the buffer, to or from one peer, over one channel."""

    channel: int
    peer: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Round:
    """What a rank does in one turn: it sends all its messages, then takes in all those that it awaits."""

    sends: tuple[Message, ...]
    receives: tuple[Message, ...]
    adds: bool
    """Whether what is received is added to the buffer, or replaces what is there."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a buffer is cut up: a piece a channel, in each a segment a rank, in each one or more messages."""

    size: int
    """Elements in the buffer; a multiple of channels times ranks, so that all segments are of one size."""
    ranks: int
    channels: int
    message_limit: int
    """The most elements that one message may carry."""

    @classmethod
    def for_elements(cls, elements: int, ranks: int, channels: int, message_limit: int) -> "Layout":
        """The layout of the smallest buffer that holds so many elements in segments of one size."""
        step = ranks * channels
        return cls(-(-elements // step) * step, ranks, channels, message_limit)

    def segment(self, index: int, peer: int) -> tuple[Message, ...]:
        """The messages that carry segment `index` of every channel's piece."""
        length = self.size // (self.channels * self.ranks)
        starts = ((c, (c * self.ranks + index) * length) for c in range(self.channels))
        return tuple(m for c, start in starts for m in self._split(c, peer, start, start + length))

    def whole(self, peer: int) -> tuple[Message, ...]:
        """The messages that carry all of every channel's piece."""
        length = self.size // self.channels
        return tuple(
            m for c in range(self.channels) for m in self._split(c, peer, c * length, (c + 1) * length)
        )

    def _split(self, channel: int, peer: int, start: int, stop: int) -> list[Message]:
        return [
            Message(channel, peer, at, min(at + self.message_limit, stop))
            for at in range(start, stop, self.message_limit)
        ]


def ring(rank: int, layout: Layout) -> list[Round]:
    """Reduce-scatter, then all-gather: each round, a rank sends to the next and hears the one before."""
    n = layout.ranks
    following, previous = (rank + 1) % n, (rank - 1) % n

    def turn(outgoing: int, incoming: int, adds: bool) -> Round:
        return Round(layout.segment(outgoing % n, following), layout.segment(incoming % n, previous), adds)

    reduce_scatter = [turn(rank - k, rank - k - 1, adds=True) for k in range(n - 1)]
    all_gather = [turn(rank + 1 - k, rank - k, adds=False) for k in range(n - 1)]
    return reduce_scatter + all_gather


def tree(rank: int, layout: Layout) -> list[Round]:
    """Reduce up a binary tree to rank 0, then broadcast down: in a round, a rank only sends or receives."""
    children = [child for child in (2 * rank + 1, 2 * rank + 2) if child < layout.ranks]
    parents = [(rank - 1) // 2] if rank else []
    return [
        *(Round((), layout.whole(child), adds=True) for child in children),
        *(Round(layout.whole(parent), (), adds=True) for parent in parents),
        *(Round((), layout.whole(parent), adds=False) for parent in parents),
        *(Round(layout.whole(child), (), adds=False) for child in children),
    ]


SCHEDULES: dict[str, Callable[[int, Layout], list[Round]]] = {"Ring": ring, "Tree": tree}
"""The schedule of each value of `NCCL_ALGO`."""
