"""Running git on somebody's repository without changing it: no lock, no hook, no filter that writes, no
ambient setting."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import git

_CONFIG = (
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "core.pager=cat",
    "diff.external=",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "diff.renames=false",
    "diff.submodule=short",
    "status.showStash=false",
    "status.relativePaths=false",
    "filter.lfs.process=",
    "filter.lfs.clean=cat",
    "filter.lfs.smudge=cat",
    "filter.lfs.required=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "color.ui=false",
)
_AMBIENT = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_EXTERNAL_DIFF",
    "GIT_TRACE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
)
"""Variables that would send git to another repository than the one that is asked about (a hook sets some)."""

TIMEOUT_S = 120.0


def gitpython() -> Any:
    """Import GitPython, also where there is no git to run; it is then told apart by `has_git`."""
    before = os.environ.get("GIT_PYTHON_REFRESH")
    os.environ["GIT_PYTHON_REFRESH"] = "quiet"
    try:
        import git as module
    finally:
        if before is None:
            del os.environ["GIT_PYTHON_REFRESH"]
        else:
            os.environ["GIT_PYTHON_REFRESH"] = before
    return module


class Answer:
    """What a git command said: exit status, output as bytes, and its complaint as text."""

    def __init__(self, status: int, output: bytes, complaint: str) -> None:
        self.status = status
        self.output = output
        self.complaint = complaint

    @property
    def ok(self) -> bool:
        """Whether the command succeeded."""
        return self.status == 0

    @property
    def text(self) -> str:
        """The output as text, without its surrounding blanks."""
        return os.fsdecode(self.output).strip()


class GitCommand:
    """git, run in one folder, reading only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._git: git.Git = gitpython().Git(str(folder))

    def ask(self, *words: str, env: Mapping[str, str] | None = None, feed: Path | None = None) -> Answer:
        """Run one git command; `feed` is a file for its standard input. A git that can't be run answers
        127."""
        command = [*_without_ambient(), "git", *_options(), *words]
        stream = (feed or Path(os.devnull)).open("rb")
        try:
            with stream:
                status, output, complaint = self._git.execute(
                    command,
                    istream=stream,
                    with_extended_output=True,
                    with_exceptions=False,
                    stdout_as_string=False,
                    strip_newline_in_stdout=False,
                    env={
                        "GIT_OPTIONAL_LOCKS": "0",
                        "GIT_TERMINAL_PROMPT": "0",
                        "GIT_NO_LAZY_FETCH": "1",
                        **(env or {}),
                    },
                )
        except gitpython().exc.GitCommandNotFound as error:
            return Answer(127, b"", str(error))
        except OSError as error:
            return Answer(127, b"", str(error))
        return Answer(
            int(status), output if isinstance(output, bytes) else str(output).encode(), str(complaint)
        )


def _options() -> Sequence[str]:
    return ["--no-pager", "--no-optional-locks", *(word for setting in _CONFIG for word in ("-c", setting))]


def _without_ambient() -> Sequence[str]:
    present = [name for name in _AMBIENT if name in os.environ]
    return ["env", *(word for name in present for word in ("-u", name))] if present else []
