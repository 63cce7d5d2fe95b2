"""The processes of a tree as they were started: program, folder and command line, without what a start draws anew."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Mapping, Sequence

from optrack.host.process_tree import Member
from optrack.judge.variables import plain
from optrack.model.secrets.masking import mask_argv, mask_text
from optrack.model.snapshot import Process

_MOST_WORDS = 200

_DRAWN: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE), "$UUID"),
    (re.compile(r"\b((?:tracker|read|write|child|parent)?_?(?:fd|pid|pipe_handle))=\d+"), r"\1=$N"),
    (
        re.compile(r"((?:\d{1,3}(?:\.\d{1,3}){3}|localhost|\[[0-9a-f:]*\]):)(?:3[2-9]|[45]\d|6[0-5])\d{3}\b"),
        r"\1$PORT",
    ),
)
"""What a start draws anew, and what stands for it: ids, descriptors, ports that the kernel gives out."""

_TEMPORARY = re.compile(
    rf"(?:{re.escape(tempfile.gettempdir())}|/tmp|/var/tmp|/dev/shm)/[\w.-]*?"
    r"(?:tmp[a-z0-9_]{8}|[._-][A-Za-z0-9]{6,}|[0-9a-f]{16,})(?=[/.:,]|$)(?<!\.json)(?<!\.yaml)"
)
"""A temporary file's or folder's drawn name, as mkstemp(3) and mktemp(1) make it."""


def process_line(
    member: Member, members: Sequence[Member], *, salt: bytes, places: Mapping[str, str], port: int | None
) -> Process:
    """Return a member as a snapshot keeps it; `places` are texts that differ in every run and what stands for them."""
    pids = [other.pid for other in members]
    state = "unreadable" if member.environ is None else "as its parent's start" if member.forked else "read"
    command, started = (
        _words(argv, salt=salt, places=places, port=port, pids=pids) for argv in (member.argv, member.started)
    )
    kept = {"started": started} if started and started != command else {}
    role = "shell" if member.shell else "helper" if member.helper else None
    return Process(
        name=mask_text(member.name, salt),
        pid=member.pid,
        parent=pids.index(member.parent) if member.parent in pids else None,
        program=plain(_placed(member.executable, places)),
        command=command,
        cwd=plain(_placed(member.cwd, places)) if member.cwd is not None else None,
        environment=state,
        role=role,
        brief=member.brief,
        starts=1,
        **kept,
    )


def _words(
    argv: Sequence[str],
    *,
    salt: bytes,
    places: Mapping[str, str],
    port: int | None,
    pids: Collection[int],
) -> list[str]:
    words = [_placed(word, places) for word in mask_argv(argv[:_MOST_WORDS], salt)]
    return [_without_drawn(word, port, pids) for word in words]


def _placed(text: str, places: Mapping[str, str]) -> str:
    """Return a text with each place in it, where it is a whole path, replaced by what stands for it, longest first."""
    for place, stand_in in sorted(places.items(), key=lambda pair: -len(pair[0])):
        if len(place) > 1:
            text = re.sub(rf"{re.escape(place)}(?![\w.-])", stand_in, text)
    return text


def _without_drawn(word: str, port: int | None, pids: Collection[int]) -> str:
    for pattern, stand_in in _DRAWN:
        word = pattern.sub(stand_in, word)
    word = _TEMPORARY.sub("$TEMPORARY", word)
    if port is not None:
        word = re.sub(rf"(?<![\w.]){port}(?!\w)", "$PORT", word)
    return "$PID" if word.isdigit() and int(word) in pids and int(word) > 300 else word
