"""Labels of headings and list entries (`Priority 1:`, `1A.`, `P0 —`, `1.2`): id, kind and title."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from optrack.core.parse.words import GROUP_WORDS, LEAF_WORDS, is_band, plain

Kind = Literal["word", "code", "dotted", "number", "band", "baseline"]

_WORDS = "|".join(sorted({*GROUP_WORDS, *LEAF_WORDS}, key=len, reverse=True))
_NUMERALS = {
    "一": "1",
    "二": "2",
    "三": "3",
    "四": "4",
    "五": "5",
    "六": "6",
    "七": "7",
    "八": "8",
    "九": "9",
    "十": "10",
}
_ROMAN = {
    "i": "1",
    "ii": "2",
    "iii": "3",
    "iv": "4",
    "v": "5",
    "vi": "6",
    "vii": "7",
    "viii": "8",
    "ix": "9",
    "x": "10",
}
_SEPARATOR = r"(?:\s*[:：.)\]、|]+(?=\s|$|[^\d\s])|\s+[—–\-]+(?=\s)|\s*[—–](?=\s?\S))"
_WORD = re.compile(
    rf"^(?P<word>{_WORDS})\s*[#№]?(?P<id>\d{{1,6}}(?:\.\d{{1,6}})*[a-z]?|[A-Z]\d{{0,2}}[a-z]?|[ivx]{{1,4}}|[一二三四五六七八九十])"
    rf"(?P<range>\s?[-–]\s?\d+)?(?P<unit>\s?(?:阶段|段階))?(?P<note>\s*\([^()]*\))?(?P<sep>{_SEPARATOR})?(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_RANKED = re.compile(
    rf"^\[?(?P<id>P\d)\]?(?P<note>\s*\([^()]*\))?(?P<sep>{_SEPARATOR})(?P<rest>.*)$", re.DOTALL
)
_CODE = re.compile(
    rf"^\[?(?P<id>\d{{1,2}}[a-zA-Z]\d?|\d{{3,6}}[A-Fa-f]|[A-Z]{{1,2}}(?:\d{{1,2}}|\d{{4,6}})[a-z]?(?:[-.]\w{{1,8}})?"
    rf"|[A-Z]{{2,8}}[-_]\d{{1,4}}[a-z]?"
    rf"|[A-Z]\.\d{{1,2}})\]?(?P<note>\s*\([^()]*\))?(?P<sep>{_SEPARATOR})(?P<rest>.*)$",
    re.DOTALL,
)
_DOTTED = re.compile(r"^(?P<id>\d{1,6}(?:\.\d{1,6}){1,4}[a-z]?)[.:)]?\s+(?P<rest>\S.*)$", re.DOTALL)
_NUMBER = re.compile(
    r"^#?\s?(?P<id>(?!(?:19|20)\d\d\b)\d{1,6})(?:[.):]|\s?[—–]|\s-)\s*(?P<rest>\D.*)$"
    r"|^#(?P<hash>\d{1,6})\s+(?P<tail>.+)$",
    re.DOTALL,
)
_BASELINE = re.compile(
    r"^(?P<id>baseline|basislinie|línea base|ligne de base|基线)\s*(?:$|[:：—–(\[]\s*(?P<rest>.*)$"
    r"|-\s+(?P<dash>.*)$)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Label:
    """A label: the id it gives (None for a band), its kind, its word in lower case, the title after it.

    `start` is where the title starts in the plain text. `loose` labels have no sign after the number
    (`Tier 1 verification`), so they may only mention the item. `note` is a bracket before the title.
    """

    id: str | None
    kind: Kind
    word: str
    title: str
    loose: bool = False
    note: str = ""

    @property
    def is_group(self) -> bool:
        """Whether such items are groups that usually hold others."""
        return self.kind == "band" or (self.kind == "word" and self.word in GROUP_WORDS) or self.word == "p"


def read_label(text: str) -> Label | None:
    """Return the label that a heading or entry starts with, or None; pictures before it don't count."""
    text = plain(text)
    if not text or len(text) > 500:
        return None
    numbered = _NUMBER.match(text)
    if numbered is not None and numbered["rest"]:
        inner = _strong(plain(numbered["rest"]))
        if inner is not None and not inner.loose and inner.kind != "number":
            return inner
    return _strong(text) or _weak(text)


def _strong(text: str) -> Label | None:
    baseline = _BASELINE.match(text)
    if baseline is not None:
        rest = (baseline["rest"] or baseline["dash"] or "").strip(" )]")
        return Label("baseline", "baseline", "baseline", rest or text)
    ranked = _RANKED.match(text)
    if ranked is not None and ranked["rest"].strip():
        return Label(ranked["id"], "word", "p", ranked["rest"].strip(), note=ranked["note"] or "")
    word = _WORD.match(text)
    if word is not None:
        label = _worded(text, word)
        if label is not None:
            return label
    code = _CODE.match(text)
    if code is not None and code["rest"].strip():
        return Label(code["id"], "code", "code", code["rest"].strip(), note=code["note"] or "")
    if is_band(text):
        return Label(None, "band", "band", text)
    return None


def _worded(text: str, found: re.Match[str]) -> Label | None:
    word, identity, rest = found["word"].lower(), found["id"], found["rest"]
    if found["range"] or (word == "第" and not found["unit"]):
        return None
    if identity.lower() in _ROMAN and not identity.isdigit():
        if not found["sep"] and rest.strip():
            return None
        identity = (
            identity
            if len(identity) == 1 and identity.isupper() and identity not in "IVX"
            else _ROMAN[identity.lower()]
        )
    elif identity.isalpha() and identity.islower() and identity.isascii():
        return None
    identity = _NUMERALS.get(identity, identity)
    title = rest.strip()
    if not found["sep"]:
        if title and not title[0].isspace() and rest[:1].isalnum():
            return None
        bare = not title
        return Label(identity, "word", word, title or text, loose=not bare, note=found["note"] or "")
    return Label(identity, "word", word, title or text, note=found["note"] or "")


def _weak(text: str) -> Label | None:
    dotted = _DOTTED.match(text)
    if dotted is not None:
        return Label(dotted["id"], "dotted", "dotted", dotted["rest"].strip())
    number = _NUMBER.match(text)
    if number is not None:
        return Label(
            number["id"] or number["hash"], "number", "number", (number["rest"] or number["tail"]).strip()
        )
    return None
