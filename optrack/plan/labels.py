"""Labels of headings, entries and rows (`Priority 1:`, `1A.`, `P0 —`, `1.2`, `一、`): id, kind and title."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from optrack.plan.vocabulary import entries, is_band, plain, words

_CHINESE = "一二三四五六七八九十"
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_SEPARATOR = r"(?:\s*[:：.)）\]、|,，]+(?=\s|$|[^\d\s])|\s+(?:[—–\-]+|[·•→])(?=\s)|\s*[—–](?=\s?\S))"
_NOTE = r"(?P<note>\s*(?:[(（][^()（）]*[)）]|\[[^\[\]]*\]))?"
_SIGNED = r"(?P<sign>\s*[^\w\s()\[\]{}（）.:：,;/\\'\"`*#~<>=+·•→—–-]\ufe0f?(?:\s*[^\W\d]+){0,3})?"
"""A picture and the words for it between a label and its separator: `TASK-1 🔴 CRITICAL — …`."""

_WORD = re.compile(
    rf"^(?P<word>[^\W\d_]+(?:\s[^\W\d_]+)??|第)\s*[#№]?"
    rf"(?P<id>\d{{1,6}}(?:\.\d{{1,6}})*[a-zA-Z]?|[A-Za-z]\d{{0,2}}[a-z]?|[ivxIVX]{{1,4}}|[{_CHINESE}]{{1,3}})"
    r"(?!\w*[^\W\d_]\w*\b(?<![\u3040-\u9fff]))(?P<range>\s?[-–~～]\s?\d{1,6})?"
    rf"(?P<unit>\s?(?:阶段|段階|步|周|天|批|フェーズ|단계|주차))?{_NOTE}(?:{_SIGNED}(?P<sep>{_SEPARATOR}))?(?P<rest>.*)$",
    re.DOTALL,
)
_NUMBER_FIRST = re.compile(
    rf"^(?P<id>\d{{1,3}})(?:\s?(?P<word>단계|주차|순위|週目|段階){_NOTE}(?P<sep>{_SEPARATOR})?"
    rf"|(?P<range>\s?[-–]\s?\d{{1,3}})?\s(?P<span>[^\W\d_]{{3,9}})(?P<apart>{_SEPARATOR}))(?P<rest>.*)$",
    re.DOTALL,
)
"""`1단계: …`, and times ahead: `30 days — …`."""

_STATE = re.compile(rf"^(?P<mark>[^:：\-—–]{{2,40}}?)(?P<sep>{_SEPARATOR})(?P<rest>.*)$", re.DOTALL)
_CODE = re.compile(
    rf"^\[?(?P<id>\d{{1,2}}[a-zA-Z]\d?|\d{{3,6}}[A-Fa-f]|[A-Z]{{1,2}}(?:\d{{1,2}}|\d{{4,6}})[a-z]?(?:[-.]\w{{1,8}})?"
    rf"|[A-Za-z]{{2,8}}[-_]\d{{1,4}}[a-z]?|Q[1-4](?:\s20\d\d)?|[A-Z]{{1,3}}\d?-\d{{1,4}}[a-z]?|[A-Z]\.\d{{1,2}})\]?"
    rf"{_NOTE}{_SIGNED}(?P<sep>{_SEPARATOR})(?P<rest>.*)$",
    re.DOTALL,
)
_DOTTED = re.compile(
    rf"^(?P<id>v?\d{{1,6}}(?:\.\d{{1,6}}){{1,4}}[a-z]?)(?:{_SEPARATOR}|\s)\s*(?P<rest>\S.*)$", re.DOTALL
)
_PLAIN_NUMBER = re.compile(
    r"^#?\s?(?P<id>(?!(?:19|20)\d\d\b)\d{1,6}(?:\s?[-–]\s?\d{1,6})?)(?:[.):、）]|\s?[—–]|\s-)\s*(?P<rest>\D.*)$"
    rf"|^#(?P<hash>\d{{1,6}})\s+(?P<tail>.+)$|^[(（]?(?P<chinese>[{_CHINESE}]{{1,3}})[、.．)）]\s*(?P<title>\S.*)$",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Label:
    """A label: the id it gives (None for a band), its kind, its word in lower case, the title after it.

    `loose` labels have no sign after the number (`Tier 1 verification`), so they may only mention the item.
    `note` is a bracket or word of state before the title. The word of an `other` label is none that is known.
    """

    id: str | None
    kind: Literal["word", "other", "code", "dotted", "number", "band", "baseline"]
    word: str
    title: str
    loose: bool = False
    note: str = ""

    @property
    def is_group(self) -> bool:
        """Whether such items are groups that usually hold others."""
        return (
            self.kind == "band"
            or (self.kind == "word" and self.word in _set("groups", "times"))
            or self.word == "p"
        )

    @property
    def is_soft(self) -> bool:
        """Whether sections of prose are labelled so too, so that only what else they show tells."""
        return self.kind in ("number", "dotted", "other") or self.word in _set("soft")

    @property
    def is_bare(self) -> bool:
        """Whether no title follows the label, but for a bracket."""
        titled = self.kind == "word" and self.title.casefold().startswith(self.word)
        return titled and read_label(self.title + ":") is not None

    @property
    def name(self) -> str:
        """The label as other places of the document name it: `phase 2`."""
        return f"{self.word} {self.id}".casefold()

    @property
    def series(self) -> str:
        """What members of one series have in common: their word, or that they are numbers or codes."""
        if self.kind == "number" or (self.kind == "code" and self.id is not None and self.id[0].isdigit()):
            return "number"
        return re.sub(r"[\d.].*$", "", self.id or "") if self.kind == "code" else self.word


@lru_cache(256)
def read_label(text: str) -> Label | None:
    """Return the label that a heading or entry starts with, or None; pictures before it don't count."""
    text = plain(text)
    if not text or len(text) > 500:
        return None
    number = _PLAIN_NUMBER.match(text)
    inner = _strong(plain(number["rest"])) if number is not None and number["rest"] else None
    if inner is not None and not inner.loose and inner.kind in ("word", "code"):
        return inner
    return _strong(text) or _weak(text, number)


def _strong(text: str) -> Label | None:
    if words("labels", "baseline").start(text) and _is_baseline(text):
        rest = re.sub(r"^[^:：—–(\[（]*[:：—–(\[（-]*\s*", "", text).strip(" )]）")
        return Label("baseline", "baseline", "baseline", rest or text)
    label = _worded(text)
    if label is not None and label.kind == "word":
        return label
    code = _CODE.match(text)
    if code is not None and code["rest"].strip():
        kind: Literal["word", "code"] = "word" if re.fullmatch(r"P\d", code["id"]) else "code"
        word = "p" if kind == "word" else "code"
        return Label(code["id"].replace(" ", "-"), kind, word, code["rest"].strip(), note=code["note"] or "")
    return label or (Label(None, "band", "band", text) if is_band(text) else None)


def _is_baseline(text: str) -> bool:
    """Whether a heading that starts with the word says nothing else, but after a sign."""
    names = sorted(entries("labels", "baseline"), key=len, reverse=True)
    name = next(name for name in names if text.casefold().startswith(name))
    return re.match(r"\s*(?:$|[:：—–(\[（]|-\s)", text[len(name) :]) is not None


def _worded(text: str) -> Label | None:
    """The label of a word and a number; of several (`Week 1, Day 3: …`) the last."""
    found = _WORD.match(text) or _NUMBER_FIRST.match(text)
    groups = found.groupdict() if found is not None else {}
    word = _known(groups["word"] or groups["span"]) if found is not None else None
    if found is None or word is None or (word == "第" and not groups.get("unit")):
        return None
    if groups.get("span") and word not in _set("times"):
        return None
    identity, note, rest = _identity(found["id"]), found["note"] or "", found["rest"]
    sep = found["sep"] or groups.get("apart")
    known = word in _set("groups", "leaves", "times")
    if sep and sep.strip() in (",", "，"):
        inner = _worded(rest.strip())
        if inner is not None and inner.kind == "word" and not inner.loose:
            return inner
    if identity is None or (not known and not (sep and _is_new_word(found["word"], text, identity))):
        return None
    if not sep and rest.strip():
        if found["id"].isalpha() and found["id"].isascii():
            return None
        state = _STATE.match(rest.strip())
        stated = words("status", "completed", "cancelled", "in_progress", "pending")
        if state is not None and stated.start(state["mark"]):
            sep, rest, note = state["sep"], state["rest"], note or state["mark"]
        elif rest[:1].isalnum() and rest.isascii():
            return None
    if groups.get("range"):
        identity = f"{identity}-{re.sub(r'[^0-9]', '', groups['range'])}"
    title = rest.strip()
    loose = not sep and bool(title)
    return Label(identity, "word" if known else "other", word, title or text, loose=loose, note=note)


def _is_new_word(word: str, text: str, identity: str) -> bool:
    """Whether a word that the vocabulary doesn't know may be one before a number: `Gate 3: …`, not `Qwen3: …`."""
    apart = text[len(word) : len(word) + 1] in (" ", "#") or not word.isascii()
    return len(word) > 2 and apart and identity.isdigit() and len(identity) < 4


def _identity(written: str) -> str | None:
    """The id that a number, a letter or a numeral gives; None for a word."""
    if written[0] in _CHINESE:
        return _chinese(written)
    if written.lower() in _ROMAN and not (len(written) == 1 and written.isupper() and written not in "IVX"):
        return str(_ROMAN.index(written.lower()) + 1)
    return None if written.isalpha() and written.islower() else written


def _chinese(written: str) -> str:
    tens, ten, ones = written.rpartition("十")
    digits = [_CHINESE.index(c) + 1 for c in (tens or ("一" if ten else "")) + ones if c in _CHINESE[:9]]
    return str(digits[0] * 10 + sum(digits[1:])) if ten else str(digits[0])


@cache
def _set(*lists: str) -> frozenset[str]:
    return frozenset(entries("labels", *lists))


def _known(word: str) -> str | None:
    """The label word, as the vocabulary has it where it does (`Weeks` -> `week`); None for what is never one."""
    folded = word.casefold()
    for name in (folded, folded.removesuffix("s")):
        if name in _set("never"):
            return None
        if name in _set("groups", "leaves", "times"):
            return name
    return None if " " in folded or all(c in _CHINESE for c in folded) else folded


def _weak(text: str, number: re.Match[str] | None) -> Label | None:
    dotted = _DOTTED.match(text)
    if dotted is not None:
        return Label(dotted["id"], "dotted", "dotted", dotted["rest"].strip())
    if number is None:
        return None
    identity = number["id"] or number["hash"] or _chinese(number["chinese"])
    title = (number["rest"] or number["tail"] or number["title"]).strip()
    return Label(re.sub(r"\s?[-–]\s?", "-", identity), "number", "number", title)
