"""Calls of the command line in forks of one warm process: each as if typed in the project's folder."""

from __future__ import annotations

import importlib
import os
import pkgutil
import runpy
import signal
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120
_LIBRARIES = ("scipy.stats", "sqlmodel", "alembic.command", "click", "httpx", "pydantic", "markdown_it")


class Answer(NamedTuple):
    """What a command printed and how it ended; the code is negative where a signal ended it."""

    code: int
    out: str
    err: str


def warm_up() -> None:
    """Import all that commands import, so that a fork has it at once."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"
    for name in _LIBRARIES:
        importlib.import_module(name)
    package = importlib.import_module("optrack")
    for module in pkgutil.walk_packages(package.__path__, "optrack."):
        if not any(part in module.name for part in (".tui", ".demo", "__main__", ".migrations", ".versions")):
            importlib.import_module(module.name)


def environment(folder: Path, env: Mapping[str, str | None]) -> dict[str, str]:
    """Return the same small environment wherever this runs; a variable that is None is left out."""
    own: dict[str, str | None] = {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(folder.parent / "home"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "200",
        "PYTHONPATH": str(ROOT),
        "OPTRACK_LOCKS": str(folder.parent / "locks"),
        "OPTRACK_ACTOR": "ada",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    return {name: value for name, value in {**own, **env}.items() if value is not None}


class Started:
    """A command that goes on in a fork."""

    def __init__(
        self,
        folder: Path,
        words: Sequence[str],
        *,
        env: Mapping[str, str | None] | None = None,
        stdin: str = "",
    ) -> None:
        self._streams: list[IO[bytes]] = [tempfile.TemporaryFile() for _ in range(3)]
        self._streams[0].write(stdin.encode())
        self._streams[0].seek(0)
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            _become(folder, words, environment(folder, env or {}), self._streams)

    def ended(self) -> Answer:
        """Wait for its end and return what it printed."""
        _, status = os.waitpid(self.pid, 0)
        texts = []
        for stream in self._streams[1:]:
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", errors="replace"))
        for stream in self._streams:
            stream.close()
        return Answer(os.waitstatus_to_exitcode(status), *texts)


def called(
    folder: Path, words: Sequence[str], *, env: Mapping[str, str | None] | None = None, stdin: str = ""
) -> Answer:
    """Call a command to its end."""
    return Started(folder, words, env=env, stdin=stdin).ended()


def _become(folder: Path, words: Sequence[str], env: Mapping[str, str], streams: Sequence[IO[bytes]]) -> None:
    """Be `python -m optrack WORDS` in this fork; never returns."""
    code = 70
    try:
        signal.alarm(PATIENCE_S)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, stream in enumerate(streams):
            os.dup2(stream.fileno(), number)
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, mode, encoding="utf-8", errors="surrogateescape", closefd=False)
            for number, mode in ((0, "r"), (1, "w"), (2, "w"))
        )
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(env)
        sys.argv = ["optrack", *words]
        code = _run()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - a fork must not go on as its parent
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _run() -> int:
    try:
        runpy.run_module("optrack", run_name="__main__", alter_sys=False)
    except SystemExit as ended:
        if isinstance(ended.code, str):
            sys.stderr.write(ended.code + "\n")
            return 1
        return int(ended.code or 0)
    except KeyboardInterrupt:
        return 130
    except Exception:  # noqa: BLE001 - as Python does where nothing catches it
        traceback.print_exc()
        return 1
    return 0
