"""Marks around a title: signs and words of state, struck-through text, remarks in brackets like `(~30 min)`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from optrack.model.plan import Quantity, Status
from optrack.plan.blocks import Inline
from optrack.plan.quantity import TIME_UNITS, is_quantity, quantity
from optrack.plan.vocabulary import CJK, Words, alternatives, entries, plain, signs, words

_STATES: tuple[Status, ...] = ("completed", "cancelled", "in_progress", "pending")
_SIGNS = {sign: state for state in _STATES for sign in signs(state)} | {
    "⚠": None,
    "🔥": None,
    "⭐": None,
    "⚡": None,
}
_ANY_SIGN = "".join(_SIGNS) + "\ufe0f"
_EDGES = " \t:—–-|·*_"


_WORDS = {state: alternatives("status", state) for state in (*_STATES, "not")}
_END = rf"(?![^\W_](?<![{CJK}\uac00-\ud7af]))"
_STATE = re.compile(
    rf"(?P<not>(?:{_WORDS['not']})[\s\-]*)?"
    rf"(?:(?P<completed>{_WORDS['completed']})|(?P<cancelled>{_WORDS['cancelled']})"
    rf"|(?P<in_progress>{_WORDS['in_progress']})|(?P<pending>{_WORDS['pending']})){_END}",
    re.IGNORECASE,
)
_PART = re.compile(r"(?<!\d)\d{1,2}\s?%|\b\d+\s*/\s*\d+\b")
_UNDONE = re.compile(rf"^\W*(?:and |but |then )?(?:{_WORDS['cancelled']}){_END}", re.IGNORECASE)
_LEADING = re.compile(r"^[\[(（【]([^\[\]()（）【】]{1,24})[\])）】]\s*[:：]?\s*(?=\S)")
_CAPITALS = re.compile(r"^([A-Z][A-Z \-]{1,16}[A-Z])(?:\s*[:：]|\s[—–\-])\s+(?=\S)")
_TRAILING = re.compile(
    r"\s*(?:[(（](?P<round>[^()（）]*(?:[(（][^()（）]*[)）][^()（）]*)*)[)）]|\[(?P<square>[^\[\]]*)\]|【(?P<thick>[^【】]*)】)\s*$"
)
_DASHED = re.compile(r"(?:\s+[—–\-:|]+\s*|\s*[—–：:]\s*|\s*\*\*)(?P<state>[^—–:：]{2,60})$")
_CLOSES = re.compile(
    r"\s*(?:$|[,.;(!—–-]|\d|(?:in|on|by|at|since|via|see|with|am|im|en|el|em|le)\b)", re.IGNORECASE
)
"""What may follow a word of state behind a title: `done in exp. 56`, but not `next steps`."""

_LOCATION = re.compile(
    r"^(?:e\.g\.|see |in )|^[\w./\-*]+/[\w./\-*:]*$|^[\w./\-]+\.\w{1,5}(?::\d+(?:-\d+)?)?$", re.IGNORECASE
)
_SAVES = re.compile(
    r"speed-?ups?|faster|gains?|sav(?:es?|ed|ings?)|reduc\w*|improve\w*|less|fewer|lower|higher|throughput|boost|win\b",
    re.IGNORECASE,
)
_SHARE = re.compile(r"%\s+of\b|\d\s*/\s*\d", re.IGNORECASE)
_LONG_DASH = re.compile(r"\s+(?:—|–|--)\s+|\s—|—\s")
_HYPHEN = re.compile(r"\s+-\s+")
_PARTS = re.compile(r"[,;，；、]|\s[-–—]\s")


@dataclass(slots=True)
class Marked:
    """A title without its marks, and what the marks said."""

    title: str
    status: Status | None = None
    priority: str | None = None
    risk: str | None = None
    gain: Quantity | None = None
    effort: Quantity | None = None


def status_of(text: str) -> Status | None:
    """Return the status that a field, cell or remark starts with (`✅ DONE`, `Tested, rejected`), or None.

    What is said to be done only in part is in progress; what takes itself back is not said.
    """
    head = text.strip(" *_~`([")[:160]
    sign = _SIGNS.get(head[:1])
    bare = re.sub(r"^(?:100\s?%\s*)?", "", head.lstrip(_ANY_SIGN + _EDGES))
    found = _STATE.match(bare)
    if found is None:
        return sign if sign != "completed" or not _is_hedged(bare) else "in_progress"
    if found["not"]:
        return (
            "pending"
            if found["completed"] and re.match(r"not|nicht|no|未|尚未|не", found["not"], re.IGNORECASE)
            else None
        )
    state = next(state for state in _STATES if found[state])
    rest = bare[found.end() : found.end() + 60]
    if state == "completed":
        if _UNDONE.match(rest):
            return "cancelled"
        if _is_hedged(rest.split("(")[0] if rest.lstrip()[:1] != "(" else rest):
            return "in_progress"
    return state


def _is_hedged(text: str) -> bool:
    return words("status", "hedge").within(text) or _PART.search(text) is not None


def read_title(line: Inline, *, locations: bool = False) -> Marked:
    """Return the title in `line` without signs of state, bracketed remarks, amounts and emphasis.

    With `locations`, a trailing bracket that names a file or an example is left out too. Of several states
    that the title names, the word counts before the sign, and that before the strike-through.
    """
    text = line.text.strip()[:400]
    marked = Marked(text)
    sign: Status | None = None
    for _ in range(8):
        before = marked.title
        marked.title = marked.title.strip().strip("\ufe0f")
        sign = _strip_signs(marked) or sign
        if not _take_leading(marked):
            _take_bracket(marked, locations) or _take_signed(marked) or _take_dashed(marked)
        if marked.title == before:
            break
    if line.is_struck:
        after = status_of(line.text[line.struck_end :].lstrip(" :—–-.~(")) if not line.all_struck else None
        marked.status = marked.status or after or sign or "cancelled"
        marked.title = line.cut(line.struck_end).text if after and not line.all_struck else marked.title
    marked.status = marked.status or sign
    marked.title = plain(marked.title.strip().rstrip(":：—–-").strip()) or plain(text)
    return marked


def take_remark(marked: Marked, remark: str) -> bool:
    """Read a bracket's text into `marked`; False if it is part of the title."""
    remark = remark.strip()
    if not remark or len(remark) > 160:
        return False
    status = status_of(remark)
    if status is not None and len(remark) < 60:
        marked.status = marked.status or status
        return True
    if words("remarks", "risk").within(remark) and _ranks(remark):
        marked.risk = marked.risk or re.sub(r"^\W*\w+\s*[:：]\s*", "", remark)
        return True
    if any(is_quantity(part) for part in _PARTS.split(remark)):
        _take_amounts(marked, remark)
        return True
    if _ranks(remark) or words("remarks", "priority").whole(remark):
        marked.priority = marked.priority or remark
        return True
    return False


def _ranks(remark: str) -> bool:
    """Whether a bracket says only how high something ranks: `HIGH PRIORITY`, `P0-CRITICAL`, `basso rischio`."""
    rest = re.sub(r"\b(?:p|priority )\d\b", "high", remark, flags=re.IGNORECASE)
    levels = words("bands", "high", "medium", "low")
    return levels.within(rest) and _rank_words().all_of(rest)


@cache
def _rank_words() -> Words:
    return Words(
        (
            *entries("bands", "high", "medium", "low", "of", "things"),
            *entries("remarks", "risk"),
            "and",
            "very",
            "do",
            "first",
            "roi",
            "gpu",
        )
    )


def _strip_signs(marked: Marked) -> Status | None:
    """Take the signs at both ends of a title away; return the state that they stand for, the first that has one."""
    text = marked.title
    bare = text.strip(_ANY_SIGN + " ")
    if bare == text or not bare:
        return None
    ends = text[: text.find(bare)] + text[text.find(bare) + len(bare) :]
    marked.title = bare
    return next((state for c in ends if (state := _SIGNS.get(c)) is not None), None)


def _take_leading(marked: Marked) -> bool:
    found = _LEADING.match(marked.title) or _CAPITALS.match(marked.title)
    state = status_of(found[1]) if found is not None else None
    if found is None or state is None:
        return False
    marked.status, marked.title = marked.status or state, marked.title[found.end() :]
    return True


def _take_bracket(marked: Marked, locations: bool) -> bool:
    found = _TRAILING.search(marked.title, max(len(marked.title) - 200, 0))
    if found is None or not marked.title[: found.start()].strip():
        return False
    remark = next(group for group in found.groups() if group is not None)
    if found["square"] is not None and remark.strip() in ("", "x", "X"):
        marked.status = marked.status or ("completed" if remark.strip() else None)
    elif not take_remark(marked, remark) and not (locations and _LOCATION.search(remark.strip())):
        return False
    marked.title = marked.title[: found.start()].rstrip()
    return True


def _take_signed(marked: Marked) -> bool:
    """A sign within the title with words of state behind it (`… ✅ COMPLETE - RESCUED`), or with words in capitals."""
    at = next((i for i, c in enumerate(marked.title) if i and c in _SIGNS), None)
    if at is None:
        return False
    tail = marked.title[at:].strip("\ufe0f ")
    spoken = tail.lstrip(_ANY_SIGN + _EDGES)
    state = status_of(tail)
    if state is None or (
        _STATE.match(spoken) is None and not (spoken.isupper() and len(spoken.split()) <= 6)
    ):
        return False
    marked.status = marked.status or state
    marked.title = marked.title[:at].rstrip(_EDGES)
    return True


def _take_dashed(marked: Marked) -> bool:
    found = _DASHED.search(marked.title, 1)
    if found is None:
        return False
    written = found["state"].strip("* ")
    state = status_of(written)
    alone = _STATE.match(written)
    if (
        state is None
        or alone is None
        or len(written.split()) > 6
        or not marked.title[: found.start()].strip()
    ):
        return False
    if not written[: alone.end()].isupper() and not _CLOSES.match(written[alone.end() :]):
        return False
    marked.status = marked.status or state
    marked.title = marked.title[: found.start()].rstrip()
    return True


def _take_amounts(marked: Marked, remark: str) -> None:
    parts = [part for part in _PARTS.split(remark) if not _SHARE.search(part)]
    for part in parts:
        amount = quantity(part)
        if amount.unit in (*TIME_UNITS[3:], "sessions") and not re.search(
            r"sav|faster|less", part, re.IGNORECASE
        ):
            marked.effort = marked.effort or amount
        elif amount.unit and (
            amount.unit in ("x", "ms")
            or re.match(r"\s*(?:est(?:imated)?\.?\s*|ca\.?\s*)?[~≈]?[+\-−]", part)
            or _SAVES.search(part)
        ):
            marked.gain = marked.gain or amount
        elif not amount.unit and marked.effort is not None and marked.gain is None and part.strip():
            marked.gain = amount
        elif words("remarks", "risk").within(part) and _ranks(part):
            marked.risk = marked.risk or part.strip()
    if marked.gain is None and marked.effort is not None:
        marked.gain = next((share for share in map(quantity, parts) if share.unit in ("%", "pp")), None)


def split_title(line: Inline, title: str | None) -> tuple[Inline, str]:
    """Return the title's part of an entry's text, which starts with `title` if given, and the prose that follows it."""
    if title is not None:
        at = line.text.find(title[:40])
        line = line.after(at) if at > 0 else line
    lead = line.stripped().lead
    if line.is_struck and not line.all_struck:
        end = line.struck_end
        return line.cut(end), line.text[end:].lstrip(" :—–-.")
    text = line.text
    at = text.find(lead) + len(lead) if lead is not None else 0
    tail = text[at:]
    if lead is not None and (len(plain(lead)) > 2 or tail.lstrip()[:1] in (":", "：")):
        bracket = re.match(r"\s*[(（][^()（）]*[)）]", tail)
        if bracket is not None:
            at, tail = at + bracket.end(), tail[bracket.end() :]
        return line.cut(at), tail.lstrip(" :：—–-")
    dash = _LONG_DASH.search(text, 2)
    if dash is None:
        hyphen = _HYPHEN.search(text, 2)
        coded = bool(line.spans) and line.spans[0].code and hyphen is not None
        dash = hyphen if hyphen is not None and (coded or is_quantity(text[hyphen.end() :])) else None
    if dash is not None:
        return line.cut(dash.start()), text[dash.end() :]
    return line, ""
