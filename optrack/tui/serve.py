"""The same screens in a browser, through textual-serve: on loopback and read-only unless told otherwise."""

from __future__ import annotations

import ipaddress
import shlex
import sys
from collections.abc import Sequence

from optrack.errors import UsageError

LOOPBACK = "127.0.0.1"
PORT = 8765


def command_line(arguments: Sequence[str] = (), *, writable: bool = False) -> str:
    """Return the command that each visitor's session runs: this interpreter's `optrack` with `arguments`."""
    words = [sys.executable, "-P", "-m", "optrack", "tui", *arguments]
    return shlex.join(words if writable else [*words, "--read-only"])


def is_loopback(host: str) -> bool:
    """Whether `host` can only be reached from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve(
    command: str,
    *,
    host: str = LOOPBACK,
    port: int = PORT,
    anywhere: bool = False,
    public_url: str | None = None,
) -> None:
    """Serve `command`, a text that starts the screens, until interrupted; each visitor gets a process.

    Another host than a loopback one needs `anywhere`, since whoever reaches the port sees the campaign.
    """
    if not anywhere and not is_loopback(host):
        raise UsageError(
            f"{host} can be reached from other machines",
            hint="serve on 127.0.0.1 and reach it by ssh -L, or say that everyone may see it",
        )
    from textual_serve.server import Server

    Server(command, host=host, port=port, title="optrack", public_url=public_url).serve()
