"""The one campaign of a plan that goes on: `next --all` says in a file that it runs, waits or has ended, and why."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from pydantic import ValidationError

from optrack.app.answers import View
from optrack.app.project import now
from optrack.errors import OptrackError, UsageError
from optrack.host.proc import is_alive, own_identity
from optrack.host.regular import read_regular
from optrack.model.run import ProcessId
from optrack.settings import Settings, private_state

_POLL_S = 0.05
_LAST_MOMENT_S = 30.0


class CampaignState(View):
    """How far a campaign is: it runs, waits (for what, since when), or has ended (when, why)."""

    state: Literal["running", "waiting", "ended"]
    who: str
    process: ProcessId
    since: datetime
    waits_for: str | None = None
    waits_since: datetime | None = None
    ends_after_item: bool = False
    ended_at: datetime | None = None
    why: str | None = None

    @property
    def goes_on(self) -> bool:
        """Whether it runs or waits."""
        return self.state != "ended"

    @property
    def text(self) -> str:
        """The state in one line."""
        if self.state == "ended":
            at = f" at {_minute(self.ended_at)}" if self.ended_at else ""
            return f"campaign: ended{at}: {self.why}"
        since = self.waits_since if self.state == "waiting" else self.since
        does = f"waits since {_minute(since)}" if self.state == "waiting" else f"runs since {_minute(since)}"
        ends = ", and ends after the item that runs" if self.ends_after_item else ""
        what = f": {self.waits_for}" if self.waits_for else ""
        return f"campaign: {does} (by {self.who}, pid {self.process.pid}){ends}{what}"


def _minute(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC" if at else ""


class OngoingCampaign:
    """The right to run a plan's items in turn, held from `with` to its end; what it does is told in its file.

    Raises UsageError where another campaign of the plan has it.
    """

    def __init__(self, settings: Settings, plan: str) -> None:
        self._settings = settings
        self._plan = plan
        self._handle: int | None = None
        self._state = CampaignState(state="running", who=settings.actor, process=own_identity(), since=now())
        self.why = "it was ended"

    def __enter__(self) -> Self:
        private_state(self._settings.state)
        _file(self._settings, self._plan, "lock").parent.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._handle = os.open(_file(self._settings, self._plan, "lock"), flags, 0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._handle)
            raise _goes_on(campaign_state(self._settings, self._plan)) from None
        if os.getsid(0) == os.getpid() and signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
            signal.signal(
                signal.SIGINT, signal.default_int_handler
            )  # ignored by a shell's `&`; `stop` sends it
        _file(self._settings, self._plan, "end").unlink(missing_ok=True)
        self._write()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, OptrackError):
            self.why = error.message
        elif isinstance(error, KeyboardInterrupt):
            self.why = "it was stopped on request"
        self._write(state="ended", waits_for=None, waits_since=None, ended_at=now(), why=self.why)
        if self._handle is not None:
            os.close(self._handle)

    @property
    def is_to_end(self) -> bool:
        """Whether it was asked to end once the item that ran has ended."""
        return _file(self._settings, self._plan, "end").exists()

    def waits(self, text: str) -> None:
        """Tell what is waited for."""
        since = self._state.waits_since or now()
        self._write(state="waiting", waits_for=text, waits_since=since)

    def runs(self) -> None:
        """Tell that an item runs."""
        self._write(state="running", waits_for=None, waits_since=None)

    def _write(self, **changed: object) -> None:
        self._state = self._state.model_copy(update=changed)
        path = _file(self._settings, self._plan, "json")
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.write_text(self._state.model_dump_json(), encoding="utf-8")
        fresh.replace(path)


def campaign_state(settings: Settings, plan: str) -> CampaignState | None:
    """Return how far the plan's latest campaign is, None if there was none; one that was killed has ended."""
    try:
        found = CampaignState.model_validate_json(read_regular(_file(settings, plan, "json")))
    except (OSError, ValidationError):
        return None
    if found.goes_on and not is_alive(found.process):
        return found.model_copy(update={"state": "ended", "why": "its process was killed"})
    ends = found.goes_on and _file(settings, plan, "end").exists()
    return found.model_copy(update={"ends_after_item": ends})


def require_none(settings: Settings, plan: str) -> None:
    """Raise UsageError where a campaign of the plan goes on."""
    found = campaign_state(settings, plan)
    if found is not None and found.goes_on:
        raise _goes_on(found)


def end_after_item(settings: Settings, plan: str) -> CampaignState:
    """Ask the plan's campaign to end once the item that runs has ended; raises UsageError where none goes on."""
    found = campaign_state(settings, plan)
    if found is None or not found.goes_on:
        raise UsageError("no campaign is going on", hint="`optrack next --all` starts one")
    _file(settings, plan, "end").touch()
    return found.model_copy(update={"ends_after_item": True})


def end_waiting(settings: Settings, plan: str) -> CampaignState | None:
    """End the plan's campaign if it waits, with nothing of it running, and return how it ended; else None."""
    found = campaign_state(settings, plan)
    if found is None or found.state != "waiting":
        return None
    try:
        os.kill(found.process.pid, signal.SIGINT)
    except ProcessLookupError:
        return campaign_state(settings, plan)
    except PermissionError:
        raise UsageError(
            f"the campaign belongs to {found.who} (pid {found.process.pid}): you may not stop it",
            hint=f"ask {found.who} to stop it",
        ) from None
    until = time.monotonic() + _LAST_MOMENT_S
    while is_alive(found.process) and time.monotonic() < until:
        time.sleep(_POLL_S)
    return campaign_state(settings, plan)


def _file(settings: Settings, plan: str, kind: str) -> Path:
    return settings.state / "campaigns" / f"{plan}.{kind}"


def _goes_on(found: CampaignState | None) -> UsageError:
    by = f": since {_minute(found.since)}, by {found.who}, pid {found.process.pid}" if found else ""
    return UsageError(
        f"a campaign of this plan goes on{by}",
        hint="`optrack attach` follows its run, `optrack stop` ends it, `optrack stop --after-item` lets the item end",
    )
