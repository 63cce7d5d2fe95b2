"""The words by which plans are read, from `vocabulary.toml`, as sets that a title can be held against."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f"
_UNSPACED = re.compile(f"[{CJK}]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LONGEST = 600
"""Characters of a heading or entry that are looked at; what follows them is no title."""


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("vocabulary.toml").read_text(encoding="utf-8"))


def entries(table: str, *names: str) -> tuple[str, ...]:
    """Return the words of one or several lists of a table, as written."""
    return tuple(word for name in names for word in _data()[table][name])


def named(table: str) -> dict[str, str]:
    """Return each word of a table's lists, folded, with the name of the first list that has it."""
    lists = [(key, words) for key, words in _data()[table].items() if isinstance(words, list)]
    return {word.casefold(): key for key, words in reversed(lists) for word in words}


def signs(status: str) -> str:
    """Return the signs that stand for a status."""
    return str(_data()["status"]["signs"][status])


@cache
def alternatives(table: str, *names: str) -> str:
    """Return the words of a table's lists as a pattern of alternatives, spaces standing for any space."""
    ordered = sorted(entries(table, *names), key=len, reverse=True)
    return "|".join(re.escape(word).replace("\\ ", r"\s") for word in ordered)


class Words:
    """A set of words and phrases: whole words of spaced scripts, anywhere in unspaced ones, `*` for any ending."""

    def __init__(self, words: Iterable[str]) -> None:
        spaced = [word for word in words if _UNSPACED.search(word) is None]
        unspaced = sorted((re.escape(w) for w in words if _UNSPACED.search(w)), key=len, reverse=True)
        self._phrases = frozenset(" ".join(_tokens(word)) for word in spaced if not word.endswith("*"))
        self._stems = tuple(" ".join(_tokens(word)) for word in spaced if word.endswith("*"))
        self._longest = max((phrase.count(" ") + 1 for phrase in self._phrases), default=0)
        self._unspaced = re.compile("|".join(unspaced) or r"(?!)")

    def start(self, text: str) -> int:
        """Return how many words of the text's start are one of these (1 for an unspaced script), or 0."""
        return self._at(_tokens(text), 0) or int(self._unspaced.match(text.strip()) is not None)

    def within(self, text: str) -> bool:
        """Whether one of these stands anywhere in the text."""
        tokens = _tokens(text)
        return any(self._at(tokens, at) for at in range(len(tokens))) or (
            not text.isascii() and self._unspaced.search(text) is not None
        )

    def ends(self, text: str) -> bool:
        """Whether the text ends with one of these."""
        tokens = _tokens(text)
        return any(self._at(tokens, at) == len(tokens) - at for at in range(len(tokens))) or (
            not text.isascii() and any(m.end() == len(text) for m in self._unspaced.finditer(text))
        )

    def whole(self, text: str) -> bool:
        """Whether the text is one of these."""
        tokens = _tokens(text)
        spaced = self._at(tokens, 0) == len(tokens)
        return bool(tokens) and (spaced or self._unspaced.fullmatch(text.strip()) is not None)

    def all_of(self, text: str) -> bool:
        """Whether the text consists of nothing but these."""
        tokens = _tokens(text if text.isascii() else self._unspaced.sub(" ", text))
        at = 0
        while at < len(tokens):
            step = self._at(tokens, at)
            if not step:
                return False
            at += step
        return bool(text.strip())

    def _at(self, tokens: tuple[str, ...], at: int) -> int:
        for count in range(min(self._longest, len(tokens) - at), 0, -1):
            if " ".join(tokens[at : at + count]) in self._phrases:
                return count
        rest = " ".join(tokens[at : at + 4]) if self._stems else ""
        stem = next((stem for stem in self._stems if rest.startswith(stem)), None)
        return stem.count(" ") + 1 if stem is not None and rest else 0


@cache
def words(table: str, *names: str) -> Words:
    """Return lists of a table as one set."""
    return Words(entries(table, *names))


@lru_cache(256)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text[:_LONGEST].casefold()))


def plain(text: str) -> str:
    """Return the text without leading signs and pictures, runs of space or a trailing colon."""
    text = text[:_LONGEST]
    for start, character in enumerate(text):
        if unicodedata.category(character)[0] in "LN" or character in "#[`~\"'(（.+-":
            return " ".join(text[start:].split()).rstrip(":：").rstrip()
    return ""


def folded(text: str) -> str:
    """Return a title as it is compared: its words in lower case."""
    return " ".join(_tokens(text))


def _unnumbered(heading: str) -> str:
    return re.sub(r"^#?\d{1,6}(?:\.\d{1,6})*[.):]?\s+", "", plain(heading))


@lru_cache(512)
def is_context(heading: str) -> bool:
    """Whether a heading names what surrounds a plan (summary, results, risks, references), not what to do."""
    text = re.sub(r"^(?:the|our|key|main|final|some)\s+", "", _unnumbered(heading), flags=re.IGNORECASE)
    bare = re.sub(r"\s*\([^()]*\)$", "", text)
    named = words("headings", "context").start(text) or words("headings", "inside").within(text)
    return bool(named or words("headings", "context_end").ends(bare)) and not is_band(heading)


def is_order(heading: str) -> bool:
    """Whether a heading names an order or overview of items that are written out elsewhere."""
    return words("headings", "order").within(heading)


def is_sample(text: str) -> bool:
    """Whether a heading or lead-in says that what follows only shows how something looks."""
    return words("headings", "sample").within(text)


def is_planlike(heading: str) -> bool:
    """Whether a heading or title speaks of things to do."""
    return words("headings", "plan").within(heading)


def is_plan_title(title: str) -> bool:
    """Whether a title names its document or section a plan, whatever else it says."""
    return words("headings", "sure_plan").within(title)


def is_no_plan(title: str) -> bool:
    """Whether a document's title names another kind of document: a guide, a report, an agent's program."""
    return words("headings", "no_plan").within(title) and not is_plan_title(title)


def is_band(heading: str) -> bool:
    """Whether a heading is a band of priority, value or time (`HIGH PRIORITY`, `Quick wins`, `Lower priority`)."""
    text = re.split(r"\s*[(（:：—–]|\s-\s", plain(heading))[0].strip()
    phrase = words("bands", "phrases").start(text)
    if phrase:
        more = " ".join(_tokens(text)[phrase:])
        generic = words("headings", "generic").all_of(_unnumbered(more))
        return not more or generic or words("bands", "of", "things").all_of(more)
    if words("bands", "alone").whole(text):
        return True
    many = 1 < len(_tokens(text)) <= 6 or _UNSPACED.search(text) is not None
    rest = words("bands", "of", "things", "high", "medium", "low")
    return many and words("bands", "high", "medium", "low").within(text) and rest.all_of(text)


def level_of(text: str) -> str | None:
    """Return `high`, `medium` or `low` where a band, a cell or a remark names one; else None."""
    spans = [(name, words("bands", name)) for name in ("high", "medium", "low")]
    whole = (name for token in _tokens(text) for name, level in spans if level.whole(token))
    return next(whole, None) or next((name for name, level in spans if level.within(text)), None)
