"""The links between ranks: one loopback TCP connection for each pair of ranks and channel.

Ranks meet as NCCL's do: each listens, all learn all addresses, and the higher rank calls the lower one.
"""

import socket
import struct
from collections.abc import Sequence

LOOPBACK = "127.0.0.1"
_HELLO = struct.Struct("!16sHH")  # the server's key, the caller's rank, the channel

Links = dict[tuple[int, int], socket.socket]
"""A rank's links by (peer, channel)."""


class LinkClosedError(Exception):
    """A peer has gone in the middle of a collective."""


def listen() -> socket.socket:
    """Opens the socket on which a rank awaits the calls of its peers, on a port that the system picks."""
    return socket.create_server((LOOPBACK, 0), backlog=512)


def connect(listener: socket.socket, rank: int, ports: Sequence[int], channels: int, key: bytes) -> Links:
    """Links a rank to all others; `ports` are where each rank listens, `key` tells peers from strangers."""
    links: Links = {}
    for peer in range(rank):
        for channel in range(channels):
            link = socket.create_connection((LOOPBACK, ports[peer]))
            link.sendall(_HELLO.pack(key, rank, channel))
            links[peer, channel] = link
    while len(links) < (len(ports) - 1) * channels:
        link, _ = listener.accept()
        hello = link.recv(_HELLO.size, socket.MSG_WAITALL)
        if len(hello) != _HELLO.size or not hello.startswith(key):
            link.close()
            continue
        _, peer, channel = _HELLO.unpack(hello)
        links[peer, channel] = link
    for link in links.values():
        # A small message must leave at once: Nagle's algorithm would hold it back for company.
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return links
