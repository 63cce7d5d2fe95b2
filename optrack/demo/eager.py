"""Eager mode: the schedule is worked out and carried out anew for every all-reduce."""

import socket
from collections.abc import Callable

import numpy as np

from optrack.demo.collective import Round
from optrack.demo.links import LinkClosedError, Links
from optrack.demo.model import Floats


def all_reduce(schedule: Callable[[], list[Round]], links: Links, buffer: Floats) -> None:
    """Carries out a schedule as it comes; a message may be of any size and in any direction."""
    for turn in schedule():
        for message in turn.sends:
            links[message.peer, message.channel].sendall(buffer[message.start : message.stop].data)
        for message in turn.receives:
            part = buffer[message.start : message.stop]
            landing = np.empty_like(part)
            link = links[message.peer, message.channel]
            if link.recv_into(landing.data, landing.nbytes, socket.MSG_WAITALL) != landing.nbytes:
                raise LinkClosedError(f"rank {message.peer} has gone")
            part[:] = part + landing if turn.adds else landing
