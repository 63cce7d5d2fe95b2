"""The same screens in a browser, through textual-serve: on loopback and read-only unless told otherwise."""

from __future__ import annotations

import errno
import ipaddress
import os
import shlex
import socket
import sys
from collections.abc import Callable, Sequence

from optrack.errors import UsageError

LOOPBACK = "127.0.0.1"
PORT = 8765
VISITORS = 4


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
    most: int = VISITORS,
    say: Callable[[str], object] = lambda text: None,
) -> None:
    """Serve `command`, a text that starts the screens, until interrupted; each visitor gets a process.

    At most `most` visitors are let in at once. Another host than a loopback one needs `anywhere`, since whoever
    reaches the port sees the campaign. `say` hears the address once it is listened on. Raises UsageError if it can't.
    """
    if not anywhere and not is_loopback(host):
        raise UsageError(
            f"{host} can be reached from other machines",
            hint="serve on 127.0.0.1 and reach it by ssh -L with the same port, or say that everyone may see it with "
            "--anywhere",
        )
    try:
        from aiohttp import web

        from optrack.tui.visitors import Visitors, address
    except ImportError as error:
        raise UsageError(
            f"textual-serve isn't installed ({error})", hint="pip install 'optrack[serve]'"
        ) from error

    def announce(*_: object) -> None:
        say(f"serving on http://{address(host, port)} (Ctrl-C ends it)")

    with _listening(host, port) as listener:
        web.run_app(
            Visitors(command, host, port, most=most).application(),
            sock=listener,
            print=announce,
            access_log=None,
            shutdown_timeout=5,
        )


def _listening(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(where[:2], family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise UsageError(f"port {port} of {host} is taken", hint="choose another with --port") from error
        number = error.errno or 0
        reason = os.strerror(number) if number > 0 else error.strerror or str(error)
        raise UsageError(f"can't listen on port {port} of {host}: {reason.lower()}") from error
