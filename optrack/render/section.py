"""What of a file is optrack's: all of it, by a mark, or a section; and times as users write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from optrack.errors import UsageError
from optrack.render.data import COLUMNS

WRITTEN = "<!-- optrack:written -->"
"""What markdown, HTML, SVG and scripts that optrack wrote hold; no outside text may look like it."""
_BEGINNINGS = (b'{\n  "schema_version": ', ",".join(COLUMNS).encode())


def is_ours(data: bytes) -> bool:
    """Whether a file's content is optrack's own, which may be replaced: by its mark, or by how JSON and CSV begin."""
    return not data.strip() or WRITTEN.encode() in data or data.startswith(_BEGINNINGS)


def with_section(document: bytes, name: str, text: str, *, where: str) -> bytes:
    """Return the document with the section called `name` rewritten, or added at the end where it has none.

    Marks count on lines of their own outside fenced code. Raises UsageError where one of them is missing, twice
    there, or the wrong way round. The section's line ends are those of the document.
    """
    begin, end = marks(name)
    newline = b"\r\n" if document.count(b"\r\n") * 2 > document.count(b"\n") else b"\n"
    body = "\n".join((begin, text.rstrip("\n"), end)).encode().replace(b"\n", newline)
    found = {mark: _lines_with(document, mark) for mark in (begin, end)}
    if not found[begin] and not found[end]:
        gap = b"" if not document else newline if document.endswith(b"\n") else newline * 2
        return document + gap + body + newline
    if len(found[begin]) != 1 or len(found[end]) != 1 or found[begin][0][0] > found[end][0][0]:
        raise UsageError(
            f"the marks of the section {name} don't pair up",
            where=where,
            hint=f"leave one line {begin} and after it one line {end}",
        )
    return document[: found[begin][0][0]] + body + document[found[end][0][1] :]


def marks(name: str) -> tuple[str, str]:
    """Return the lines that begin and end a section."""
    safe = re.sub(r"[^\w.-]+", "-", name).replace("--", "-")
    return f"<!-- optrack:begin {safe} -->", f"<!-- optrack:end {safe} -->"


def _lines_with(document: bytes, mark: str) -> list[tuple[int, int]]:
    """Return begin and end of each line that is the mark, outside fences."""
    found: list[tuple[int, int]] = []
    fence: bytes | None = None
    for line in re.finditer(rb"[^\r\n]+", document):
        text = line.group().strip()
        opened = re.match(rb"(`{3,}|~{3,})", text)
        if fence is not None:
            if text[:1] == fence[:1] and re.fullmatch(rb"(`+|~+)", text) and len(text) >= len(fence):
                fence = None
        elif opened:
            fence = opened.group(1)
        elif text == mark.encode():
            found.append(line.span())
    return found


_AGO = re.compile(r"(\d+(?:\.\d+)?)\s*(m|min|h|d|w)", re.IGNORECASE)
_SECONDS = {"m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}


def parse_since(text: str, now: datetime) -> datetime:
    """Return the time that `2026-11-29`, `2026-11-29T18:00Z`, `7d` or `24h` names; UTC unless it says otherwise."""
    ago = _AGO.fullmatch(text.strip())
    try:
        if ago is not None:
            return now - timedelta(seconds=float(ago[1]) * _SECONDS[ago[2].lower()])
        found = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError):
        hint = "write it like 2026-11-29, 2026-11-29T18:00Z, 24h or 7d"
        raise UsageError(f"{text!r} is neither a date nor an age", hint=hint) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
