"""The errors a user can meet, each with its exit code and a hint; the command line prints them in one place.

OptrackError                 exit 2   whatever stops a command before anything ran
├── UsageError               exit 2   a wrong argument, an unknown item or run
├── SettingsError            exit 2   optrack.toml, [tool.optrack] or an OPTRACK_* variable is wrong
├── PlanError                exit 2   the plan can't be read, or has errors; carries every problem found
├── StoreError               exit 2   the database can't be opened, read or written
├── NothingToRunError        exit 3   all items are done or blocked
├── HostUnfitError           exit 4   the host can't be measured on: port taken, GPU busy, another run
└── InterruptedRunError      exit 130 stopped by the user; torn down and recorded

A failed run isn't an error: it is a recorded outcome, and the command that ran it exits with 1.
"""

from __future__ import annotations

from typing import ClassVar


class OptrackError(Exception):
    """An expected failure: what is wrong (`message`), where, and what to do about it (`hint`)."""

    exit_code: ClassVar[int] = 2
    code: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str | None = None, where: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.where = where


class UsageError(OptrackError):
    """The command was called with something that doesn't exist or doesn't fit."""

    code = "usage"


class SettingsError(OptrackError):
    """A setting is unknown or has a bad value."""

    code = "settings"


class PlanError(OptrackError):
    """The plan can't be used; `problems` holds one line for each thing that is wrong with it."""

    code = "plan"

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        where: str | None = None,
        problems: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message, hint=hint, where=where)
        self.problems = problems


class StoreError(OptrackError):
    """The database can't be opened, read or written."""

    code = "store"


class NothingToRunError(OptrackError):
    """No item can be run now: all are done, or those left are blocked."""

    exit_code = 3
    code = "nothing_to_run"


class HostUnfitError(OptrackError):
    """A measurement on this host would be wrong or impossible now; nothing ran.

    `cause` stays the same as long as the same stands in the way, however the figures in the message move.
    """

    exit_code = 4
    code = "host_unfit"

    def __init__(
        self, message: str, *, hint: str | None = None, where: str | None = None, cause: str | None = None
    ) -> None:
        super().__init__(message, hint=hint, where=where)
        self.cause = cause or message


class InterruptedRunError(OptrackError):
    """The run was stopped on request; it was torn down and recorded."""

    exit_code = 130
    code = "interrupted"
