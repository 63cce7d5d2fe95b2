"""Marks around a title: signs and words of state, struck-through text, remarks in brackets like `(~30 min)`."""

from __future__ import annotations

import re
from functools import cache

from optrack.model.plan import Status
from optrack.plan.parts import Line, Marked
from optrack.plan.quantity import TIME_UNITS, is_quantity, quantity
from optrack.plan.vocabulary import CJK, Words, alternatives, entries, plain, signs, words

_STATES: tuple[Status, ...] = ("completed", "cancelled", "in_progress", "pending")
_SIGNS: dict[str, Status | None] = {sign: state for state in _STATES for sign in signs(state)}
_SIGNS |= dict.fromkeys("⚠🔥⭐⚡")
_ANY_SIGN = "".join(_SIGNS) + "\ufe0f"
_EDGES = " \t:—–-|·*_"

_END = rf"(?![^\W_](?<![{CJK}\uac00-\ud7af]))"
_ANY_STATE = "|".join(f"(?P<{state}>{alternatives('status', state)})" for state in _STATES)
_STATE = re.compile(
    rf"(?P<not>(?:{alternatives('status', 'not')})[\s\-]*)?(?:{_ANY_STATE}){_END}", re.IGNORECASE
)
_PART = re.compile(r"(?<!\d)\d{1,2}\s?%|\b\d+\s*/\s*\d+\b")
_UNDONE = re.compile(
    rf"^\W*(?:and |but |then )?(?:{alternatives('status', 'cancelled')}){_END}", re.IGNORECASE
)
_LEADING = re.compile(
    r"^(?:[\[(（【]([^\[\]()（）【】]{1,24})[\])）】]\s*[:：]?"
    r"|([A-Z][A-Z \-]{1,16}[A-Z])(?:\s*[:：]|\s[—–\-])(?=\s))\s*(?=\S)"
)
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
_BRACKET = re.compile(r"\s*[(（][^()（）]*[)）]")
_PARTS = re.compile(r"[,;，；、]|\s[-–—]\s")


def status_of(text: str) -> Status | None:
    """Return the status that a field, cell or remark starts with (`✅ DONE`, `Tested, rejected`), or None.

    What is said to be done only in part is in progress; what takes itself back is not said.
    """
    head = text.strip(" *_~`([")[:160]
    bare = re.sub(r"^(?:100\s?%\s*)?", "", head.lstrip(_ANY_SIGN + _EDGES))
    found = _STATE.match(bare)
    if found is None:
        sign = _SIGNS.get(head[:1])
        return "in_progress" if sign == "completed" and _is_hedged(bare) else sign
    if found["not"]:
        denied = re.match(r"not|nicht|no|未|尚未|не", found["not"], re.IGNORECASE)
        return "pending" if found["completed"] and denied else None
    state = next(state for state in _STATES if found[state])
    rest = bare[found.end() : found.end() + 60]
    if state == "completed" and _UNDONE.match(rest):
        return "cancelled"
    remark = rest if rest.lstrip()[:1] == "(" else rest.split("(")[0]
    return "in_progress" if state == "completed" and _is_hedged(remark) else state


def is_state_alone(text: str) -> bool:
    """Whether a text is nothing but a word of state, with or without a sign."""
    found = _STATE.fullmatch(text.strip(_ANY_SIGN + _EDGES + ".。!"))
    return found is not None and not found["not"]


def _is_hedged(text: str) -> bool:
    return words("status", "hedge").within(text) or _PART.search(text) is not None


def read_title(line: Line, *, locations: bool = False) -> Marked:
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
        if not _take_leading(marked) and not _take_bracket(marked, locations):
            _take_state(marked)
        if marked.title == before:
            break
    if line.is_struck:
        partly = not line.all_struck
        after = status_of(line.text[line.struck_end :].lstrip(" :—–-.~(")) if partly else None
        marked.status = marked.status or after or sign or "cancelled"
        marked.title = line.text[: line.struck_end] if after else marked.title
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
    elif words("remarks", "risk").within(remark) and _ranks(remark):
        marked.risk = marked.risk or re.sub(r"^\W*\w+\s*[:：]\s*", "", remark)
    elif any(is_quantity(part) for part in _PARTS.split(remark)):
        _take_amounts(marked, remark)
    elif _ranks(remark) or words("remarks", "priority").whole(remark):
        marked.priority = marked.priority or remark
    else:
        return False
    return True


def _ranks(remark: str) -> bool:
    """Whether a bracket says only how high something ranks: `HIGH PRIORITY`, `P0-CRITICAL`, `basso rischio`."""
    rest = re.sub(r"\b(?:p|priority )\d\b", "high", remark, flags=re.IGNORECASE)
    return words("bands", "high", "medium", "low").within(rest) and _rank_words().all_of(rest)


@cache
def _rank_words() -> Words:
    levels = entries("bands", "high", "medium", "low", "of", "things")
    return Words((*levels, *entries("remarks", "risk", "ranks")))


def _strip_signs(marked: Marked) -> Status | None:
    """Take the signs at both ends of a title away; return the state that they stand for, the first that has one."""
    text = marked.title
    bare = text.strip(_ANY_SIGN + " ")
    if bare == text or not bare:
        return None
    before, _, after = text.partition(bare)
    marked.title = bare
    return next((state for c in before + after if (state := _SIGNS.get(c)) is not None), None)


def _take_leading(marked: Marked) -> bool:
    """A word of state in a bracket, or in capitals before a sign: `[DONE] …`, `WIP: …`."""
    found = _LEADING.match(marked.title)
    state = status_of(found[1] or found[2]) if found is not None else None
    if found is None or state is None:
        return False
    marked.status, marked.title = marked.status or state, marked.title[found.end() :]
    return True


def _take_bracket(marked: Marked, locations: bool) -> bool:
    found = _TRAILING.search(marked.title, max(len(marked.title) - 200, 0))
    if found is None or not marked.title[: found.start()].strip():
        return False
    remark = next(group for group in found.groups() if group is not None).strip()
    if found["square"] is not None and remark in ("", "x", "X"):
        marked.status = marked.status or ("completed" if remark else None)
    elif not take_remark(marked, remark) and not (locations and _LOCATION.search(remark)):
        return False
    marked.title = marked.title[: found.start()].rstrip()
    return True


def _take_state(marked: Marked) -> None:
    """Words of state behind a sign within the title (`… ✅ COMPLETE - RESCUED`) or behind its last dash or
    colon, or how high it ranks (`… - HIGH PRIORITY`)."""
    title = marked.title
    at = next((i for i, sign in enumerate(title) if i and sign in _SIGNS), 0)
    spoken = title[at:].lstrip(_ANY_SIGN + _EDGES)
    loud = spoken.isupper() and len(spoken.split()) <= 6
    state = status_of(title[at:].strip("\ufe0f ")) if at and (loud or _STATE.match(spoken)) else None
    dashed = _DASHED.search(title, 1) if state is None else None
    if dashed is not None and title[: dashed.start()].strip():
        at, spoken = dashed.start(), dashed["state"].strip("* ")
        word = _STATE.match(spoken) if len(spoken.split()) <= 6 else None
        if word is not None:
            closed = spoken[: word.end()].isupper() or _CLOSES.match(spoken[word.end() :])
            state = status_of(spoken) if closed else None
        elif _ranks(spoken):
            marked.priority, marked.title = marked.priority or spoken, title[:at].rstrip(_EDGES)
    if state is not None:
        marked.status = marked.status or state
        marked.title = title[:at].rstrip(_EDGES)


def _take_amounts(marked: Marked, remark: str) -> None:
    parts = [part for part in _PARTS.split(remark) if not _SHARE.search(part)]
    for part in parts:
        amount = quantity(part)
        spent = amount.unit in (*TIME_UNITS[3:], "sessions")
        signed = re.match(r"\s*(?:est(?:imated)?\.?\s*|ca\.?\s*)?[~≈]?[+\-−]", part)
        if spent and not re.search(r"sav|faster|less", part, re.IGNORECASE):
            marked.effort = marked.effort or amount
        elif amount.unit and (amount.unit in ("x", "ms") or signed or _SAVES.search(part)):
            marked.gain = marked.gain or amount
        elif not amount.unit and marked.effort is not None and marked.gain is None and part.strip():
            marked.gain = amount
        elif words("remarks", "risk").within(part) and _ranks(part):
            marked.risk = marked.risk or part.strip()
    if marked.gain is None and marked.effort is not None:
        marked.gain = next((share for share in map(quantity, parts) if share.unit in ("%", "pp")), None)


def split_title(line: Line, title: str | None = None) -> tuple[Line, str]:
    """Return the title's part of an entry's text, which starts with `title` if given, and the prose that follows it."""
    if title is not None:
        line = line.part(max(line.text.find(title[:40]), 0))
    if line.is_struck and not line.all_struck:
        end = line.struck_end
        return line.part(0, end), line.text[end:].lstrip(" :—–-.")
    text, lead = line.text, line.stripped().lead
    at = text.find(lead) + len(lead) if lead is not None else 0
    if lead is not None and (len(plain(lead)) > 2 or text[at:].lstrip()[:1] in (":", "：")):
        bracket = _BRACKET.match(text, at)
        at = bracket.end() if bracket is not None else at
        return line.part(0, at), text[at:].lstrip(" :：—–-")
    dash, hyphen = _LONG_DASH.search(text, 2), _HYPHEN.search(text, 2)
    if dash is None and hyphen is not None and (line.style[:1] == "c" or is_quantity(text[hyphen.end() :])):
        dash = hyphen
    return (line.part(0, dash.start()), text[dash.end() :]) if dash is not None else (line, "")
