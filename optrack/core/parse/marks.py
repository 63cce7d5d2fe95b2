"""Marks around a title: done signs, struck-through text, remarks in brackets like `(DONE)` or `(~30 min)`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from optrack.core.parse.inline import Inline
from optrack.core.parse.words import plain
from optrack.core.plan import Quantity
from optrack.core.quantity import TIME_UNITS, is_quantity, quantity
from optrack.core.status import Status

_DONE_SIGNS = "✅☑✔✓🟢🎉"
_DROPPED_SIGNS = "❌🚫⛔✗✘"
_UNDER_WAY = ("🚧", "🏃")
_RUNNING_SIGNS = "🚧🔄⏳🏃"
_DONE = (
    r"done|complete|completed|fixed|verified|implemented|shipped|merged|landed|finished|resolved|applied|tested|closed"
    r"|deployed|already (?:done|implemented|applied|deployed|in place)|adopted|kept|erledigt|fertig|hecho"
    r"|completado|concluído"
    r"|concluido|feito|terminé|fait|готово|выполнено|完了|完成|已完成"
)
_DROPPED = (
    r"cancelled|canceled|rejected|dropped|abandoned|won'?t (?:do|fix)|wontfix|skipped|obsolete|superseded"
    r"|not worth it"
    r"|discarded|deprecated|reverted|descartado|rechazado|cancelado|verworfen|abandonné|отменено|取消"
)
_RUNNING = (
    r"in progress|wip|ongoing|started|running|doing|active|under way|in arbeit|en curso|em andamento|进行中"
)
_STATUS = re.compile(
    rf"^(?P<not>(?:not|un|partially|partly|almost|half|to be|yet to be|nearly|will be"
    rf"|needs? to be)[\s\-]?(?:yet )?)?"
    rf"(?:(?P<done>{_DONE})|(?P<dropped>{_DROPPED})|(?P<running>{_RUNNING}))\b",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"^(?:(?:very |do |the )?(?:critical|urgent|highest|high|medium|moderate|low|lowest|biggest|top|p\d)\b"
    r"[\s\-/]*(?:\w+[\s\-/]*){0,3}(?:priority|prio|impact|effort|risk|value|gain|roi|wins?|complexity|difficulty)?s?"
    r"(?:[\s,/+&\-]+(?:very )?(?:high|medium|low)[\s\-]*(?:impact|effort|risk|value|confidence)?)*"
    r"|recommended|optional|optionally|do first|do now|next|blocked|new|wip|todo|pending|quick wins?|easy"
    r"|hard|medium"
    r"|must[\s\-]have|nice[\s\-]to[\s\-]have|if time permits|later|deferred|experimental|stretch"
    r"|(?:impacto|impact) \w+(?:[\s\-]\w+)*|from .*|quick win.*|best .*|biggest .*|est(?:imated)?\b.*"
    r"|expected\b.*)$",
    re.IGNORECASE,
)
_LEADING = re.compile(r"^[\[(]([\w ]{2,24})[\])]\s*:?\s*(?=\w)")
_TRAILING = re.compile(r"\s*(?:\((?P<round>[^()]*(?:\([^()]*\)[^()]*)*)\)|\[(?P<square>[^\[\]]*)\])\s*$")
_DASHED = re.compile(r"\s+[—–\-:]+\s*(?P<status>[^—–]{2,60})$")
_SIGNED = re.compile(
    rf"\s*(?P<status>[{_DONE_SIGNS}{_DROPPED_SIGNS}{_RUNNING_SIGNS}]\ufe0f?\s*[*_]*(?:{_DONE}|{_DROPPED}|{_RUNNING})\b"
    r"[^—–:]{0,40})$",
    re.IGNORECASE,
)
_LOCATION = re.compile(
    r"^(?:e\.g\.|see |in )|^[\w./\-*]+/[\w./\-*:]*$|^[\w./\-]+\.\w{1,5}(?::\d+(?:-\d+)?)?$", re.IGNORECASE
)
_SAVES = re.compile(
    r"speed-?ups?|faster|gains?|sav(?:es?|ed|ings?)|reduc\w*|improve\w*|less|fewer|lower|higher|throughput|boost|win\b",
    re.IGNORECASE,
)
_SHARE = re.compile(r"%\s+of\b|\d\s*/\s*\d", re.IGNORECASE)


@dataclass
class Marked:
    """A title without its marks, and what the marks said."""

    title: str
    status: Status | None = None
    priority: str | None = None
    gain: Quantity | None = None
    effort: Quantity | None = None


def status_of(text: str) -> Status | None:
    """Return the status that a cell or remark starts with (`✅ DONE`, `Tested, rejected`), or None."""
    sign: Status | None = None
    head = text.strip()[:80]
    if head.startswith(tuple(_DROPPED_SIGNS)):
        sign = "cancelled"
    elif head.startswith(tuple(_RUNNING_SIGNS)):
        sign = "in_progress"
    elif head.startswith(tuple(_DONE_SIGNS)):
        sign = "completed"
    words = re.sub(r"^(?:100\s?% )?", "", plain(head).strip("*_ "))
    found = _STATUS.match(words)
    if found is None:
        return sign if not re.search(r"\w", words) else None
    if found["not"]:
        return None
    if found["dropped"]:
        return "cancelled"
    if found["running"]:
        return "in_progress"
    rest = words[found.end() : found.end() + 24]
    dropped = re.match(rf"\W+(?:and |but |then )?(?:{_DROPPED})\b", rest, re.IGNORECASE)
    if re.match(r"\W*(?:\d{1,2}\s?%|partially|partly|in part|except)", rest) and not rest.strip().startswith(
        "100"
    ):
        return None
    return "cancelled" if dropped else "completed"


def read_title(line: Inline, *, locations: bool = False) -> Marked:
    """Return the title in `line` without done signs, bracketed remarks, amounts and emphasis.

    With `locations`, a trailing bracket that names a file or an example is left out too.
    """
    text = line.text.strip()[:400]
    status: Status | None = "cancelled" if line.is_struck else None
    if text.startswith(tuple(_DONE_SIGNS)) or text.endswith(tuple(_DONE_SIGNS)):
        status = "completed"
    elif text.startswith(tuple(_DROPPED_SIGNS)) or text.endswith(tuple(_DROPPED_SIGNS)):
        status = "cancelled"
    elif text.startswith(_UNDER_WAY) or text.endswith(_UNDER_WAY):
        status = "in_progress"
    marked = Marked(plain(text.rstrip(_DONE_SIGNS + _DROPPED_SIGNS + _RUNNING_SIGNS + "️ ")), status)
    leading = _LEADING.match(marked.title)
    if leading is not None and (said := status_of(leading[1])) is not None:
        marked.status, marked.title = said, marked.title[leading.end() :]
    for _ in range(6):
        if not (_take_bracket(marked, locations) or _take_status(marked)):
            break
    marked.title = marked.title.strip().rstrip(":—–-").strip() or plain(text)
    return marked


def take_remark(marked: Marked, remark: str) -> bool:
    """Read a bracket's text into `marked`; False if it is part of the title."""
    remark = remark.strip()
    if len(remark) > 160:
        return False
    status = status_of(remark)
    if status is not None and len(remark) < 60:
        marked.status = status
        return True
    if any(is_quantity(part) for part in re.split(r"[,;]| - | – | — ", remark)):
        _take_amounts(marked, remark)
        return True
    if _REMARK.match(plain(remark)):
        if not re.match(r"from |best |biggest ", remark, re.IGNORECASE):
            marked.priority = marked.priority or remark
        return True
    return False


def _take_bracket(marked: Marked, locations: bool) -> bool:
    found = _TRAILING.search(marked.title)
    if found is None or not marked.title[: found.start()].strip():
        return False
    remark = found["round"] if found["round"] is not None else found["square"]
    if found["square"] is not None and remark.strip() in ("", "x", "X"):
        marked.status = "completed" if remark.strip() else marked.status
    elif not take_remark(marked, remark) and not (locations and _LOCATION.search(remark.strip())):
        return False
    marked.title = marked.title[: found.start()].rstrip()
    return True


def _take_status(marked: Marked) -> bool:
    found = _DASHED.search(marked.title) or _SIGNED.search(marked.title)
    if found is None:
        return False
    status = status_of(found["status"])
    if status is None or len(found["status"].split()) > 6 or not found.start():
        return False
    marked.status = status
    marked.title = marked.title[: found.start()].rstrip()
    return True


def _take_amounts(marked: Marked, remark: str) -> None:
    parts = re.split(r"[,;]| - | – | — ", remark)
    for part in parts:
        amount = quantity(part)
        if _SHARE.search(part):
            continue
        if amount.unit in TIME_UNITS[3:] and not re.search(r"sav|faster|less", part, re.IGNORECASE):
            marked.effort = marked.effort or amount
        elif amount.unit and (
            amount.unit == "x"
            or re.match(r"\s*(?:est(?:imated)?\.?\s*|ca\.?\s*)?[~≈]?[+\-−]", part)
            or _SAVES.search(part)
            or amount.unit == "ms"
        ):
            marked.gain = marked.gain or amount
        elif not amount.unit and marked.effort is not None and marked.gain is None and part.strip():
            marked.gain = amount
    if marked.gain is None and marked.effort is not None:
        shares = [quantity(part) for part in parts if not _SHARE.search(part)]
        marked.gain = next((share for share in shares if share.unit in ("%", "pp")), None)
