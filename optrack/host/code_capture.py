"""The capture of code and watched files, of which a large repository takes its time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

from optrack.host.environment import (
    files_part,
)
from optrack.host.process_tree import Deadline
from optrack.judge.variables import plain
from optrack.model.secrets.masking import mask_text
from optrack.model.snapshot import (
    GitState,
    Snapshot,
)

CODE_S = 20.0
"""So long the capture of code and watched files may take in all, most of it while the server starts."""


class CodeCapture:
    """The capture of code and watched files in a thread: of a large repository it goes on while the server starts."""

    def __init__(
        self,
        *,
        project: Path,
        repo: Path | None,
        copied_from: Path | None,
        watch: Sequence[Path],
        salt: bytes,
    ) -> None:
        self._found: Snapshot | None = None
        self._begin = time.monotonic()
        self._until = Deadline(CODE_S)
        self._asked = (project, repo, copied_from, watch, salt)
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        project, repo, copied_from, watch, salt = self._asked
        self._found = capture_code(project, repo, copied_from, watch, salt, self._until)

    def result(self, within_s: float) -> Snapshot | None:
        """Return what was captured, None if it isn't there so many seconds after its begin."""
        self._thread.join(max(0.0, self._begin + within_s - time.monotonic()))
        return self._found

    def stop(self) -> None:
        """Give up, and end the git that runs."""
        self._until.expire()
        self._thread.join(1.0)


def capture_code(
    project: Path,
    repo: Path | None,
    copied_from: Path | None,
    watch: Sequence[Path],
    salt: bytes,
    until: Deadline | None = None,
) -> Snapshot:
    """Capture the code of the project and of the server's repository, and the watched files, until then."""
    return Snapshot(
        git=captured(lambda: _repositories(project, repo, copied_from, salt, until), dict, salt),
        files=captured(lambda: files_part(watch, until), dict, salt) if watch else {},
    )


def captured(capture: Callable[[], Any], kind: Callable[..., Any], salt: bytes) -> Any:
    """Capture one part; whatever goes wrong with the system underneath leaves that part out, not the run."""
    try:
        return capture()
    except (OSError, ValueError, RuntimeError, LookupError, TypeError, AttributeError) as error:
        return kind(problem=mask_text(f"{type(error).__name__}: {error}", salt))


def _repositories(
    project: Path, repo: Path | None, copied_from: Path | None, salt: bytes, until: Deadline | None
) -> dict[str, GitState]:
    from optrack.host.git import describe_repository

    found = {"project": describe_repository(project, salt=salt, until=until)}
    if repo is not None:
        state = describe_repository(repo, salt=salt, until=until)
        copied = {} if copied_from is None else {"copied_from": plain(str(copied_from))}
        found["repo"] = state.model_copy(update=copied)
    return found
