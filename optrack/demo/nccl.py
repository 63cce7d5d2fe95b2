"""The settings of the collective library, read from the environment under the names of the real one."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

ALGORITHMS = ("Ring", "Tree")
PROTOCOLS = ("LL", "LL128", "Simple")
THREADS = ("64", "128", "256", "512")
MAX_CHANNELS = 32
MIN_BUFFER = 64
MAX_BUFFER = 1 << 30


class NcclError(Exception):
    """The library was asked for something it can't do; the message says what."""


@dataclass(frozen=True, slots=True)
class NcclSettings:
    """What one rank found in its own environment, defaults filled in."""

    algorithm: str
    """`NCCL_ALGO`: Ring passes segments round; Tree sums up towards rank 0 and sends the sum back down."""
    channels: int
    """`NCCL_MAX_NCHANNELS`: into how many pieces a buffer is split; each travels over its own connection."""
    buffer_bytes: int
    """`NCCL_BUFFSIZE`: the most one message may carry."""
    protocol: str
    """`NCCL_PROTO`: accepted; sockets know only one."""
    threads: int
    """`NCCL_NTHREADS`: accepted; a rank has one thread and no use for more."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "NcclSettings":
        """Reads the `NCCL_*` variables; a value that can't be used is an `NcclError`."""
        return cls(
            algorithm=_choice(environ, "NCCL_ALGO", ALGORITHMS, default="Ring"),
            channels=_whole_number(environ, "NCCL_MAX_NCHANNELS", 1, MAX_CHANNELS, default=16),
            buffer_bytes=_whole_number(environ, "NCCL_BUFFSIZE", MIN_BUFFER, MAX_BUFFER, default=4 << 20),
            protocol=_choice(environ, "NCCL_PROTO", PROTOCOLS, default="Simple"),
            threads=int(_choice(environ, "NCCL_NTHREADS", THREADS, default="512")),
        )

    def as_environ(self) -> dict[str, str]:
        """The effective settings under the names of their variables, as `/server_info` shows them."""
        values = asdict(self)
        return {name: str(values[field]) for name, field in _VARIABLES.items()}


_VARIABLES = {
    "NCCL_ALGO": "algorithm",
    "NCCL_MAX_NCHANNELS": "channels",
    "NCCL_BUFFSIZE": "buffer_bytes",
    "NCCL_PROTO": "protocol",
    "NCCL_NTHREADS": "threads",
}


def _choice(environ: Mapping[str, str], name: str, allowed: tuple[str, ...], default: str) -> str:
    value = environ.get(name, default).strip()
    for candidate in allowed:
        if candidate.lower() == value.lower():
            return candidate
    raise NcclError(f"NCCL error: invalid argument: {name}={value!r} is not one of {', '.join(allowed)}")


def _whole_number(environ: Mapping[str, str], name: str, low: int, high: int, default: int) -> int:
    value = environ.get(name, str(default)).strip()
    if not (value.isascii() and value.isdigit() and low <= int(value) <= high):
        raise NcclError(
            f"NCCL error: invalid argument: {name}={value!r} is not a whole number from {low} to {high}"
        )
    return int(value)
