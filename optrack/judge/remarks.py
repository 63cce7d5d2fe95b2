"""What a judgement tells beside its verdict: derived metrics, and what the server declined."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from optrack.judge.derived import derive
from optrack.judge.failures import normalised
from optrack.judge.log_text import clean_lines
from optrack.judge.variable_use import unread_treatment
from optrack.model.judgement import Judgement
from optrack.model.metrics import means_of
from optrack.model.run import Run
from optrack.model.secrets.masking import mask_text
from optrack.model.snapshot import Snapshot
from optrack.model.treatment import treatment

_DECLINES = re.compile(
    r"\b(?:disabl(?:ed|ing)|turn(?:ed|ing) off|unsupported|not (?:be )?(?:supported|available|used)|unavailable"
    r"|ignor(?:ed|ing)|no effect|fall(?:s|ing)? back|overrid(?:es|den|ing))\b",
    re.IGNORECASE,
)
_LEVEL = re.compile(r"\b(?:ERROR|WARN|WARNING|CRITICAL|FATAL)\b|^\W{0,3}[EW]\d{4} ", re.IGNORECASE)
_TROUBLE = re.compile(r"\b(?:fail(?:ed|ure|ing|s)?|fallback|eager|degraded|disable)\b", re.IGNORECASE)
"""What of a line of these levels says that something runs otherwise than it was asked."""
_PASSING = re.compile(r"HTTP/\d|\bit/s\b|\d%\|")
"""Requests and progress bars: what they say passes."""
_MOST_LINES = 400
_MOST_TOLD = 40
"""Of the lines that don't speak of the treatment: a server that says more says it of everything."""

_LONGEST = 300
_COMMON = frozenset({"backend", "disable", "enable", "server", "size"})
"""Words of options that say nothing of what they are about."""


def declining_lines(text: str, salt: bytes) -> tuple[str, ...]:
    """Return the lines of a log that decline something, each once, without prefixes, secrets masked."""
    found: dict[str, str] = {}
    for line, whole in zip(clean_lines(text), re.split(r"\r\n|[\r\n]", text), strict=True):
        said = line.strip()
        declines = _DECLINES.search(said) or (_TROUBLE.search(said) and _LEVEL.search(whole[:_LONGEST]))
        if declines and len(said) <= _LONGEST and not _PASSING.search(said):
            found.setdefault(normalised(said), said)
        if len(found) >= _MOST_LINES:
            break
    return tuple(mask_text(said, salt) for said in found.values())


def declined(candidate: Snapshot, baseline: Snapshot, factors: Collection[str]) -> tuple[str, ...]:
    """Return a sentence for each line in which a server declines something that matters here.

    That is what only one side's server said, and what the candidate's says of a factor: a line that shares two words
    with its name, or the only one it has. Those come first, and of the others only the first few are told.
    """
    if candidate.arguments is None or baseline.arguments is None:
        return ()
    before, after = ({normalised(line) for line in _lines(side)} for side in (baseline, candidate))
    subjects = [words for factor in factors if (words := _words(factor.rpartition(".")[2]) - _COMMON)]
    about, others = [], []
    for line in _lines(candidate):
        shared = any(len(_words(line) & words) >= min(2, len(words)) for words in subjects)
        if shared:
            about.append(f"The server said of what the treatment changes: {line}")
        elif normalised(line) not in before:
            others.append(f"The server said, and the baseline's didn't: {line}")
    others += [
        f"The baseline's server said, and the candidate's didn't: {line}"
        for line in _lines(baseline)
        if normalised(line) not in after
    ]
    left = len(others) - _MOST_TOLD
    more = [f"The server's log has {left} more such lines."] if left > 0 else []
    return (*about, *others[:_MOST_TOLD], *more)


def _lines(snapshot: Snapshot) -> Sequence[str]:
    return snapshot.arguments.declined if snapshot.arguments is not None else ()


def _words(text: str) -> set[str]:
    return {word for word in re.split(r"[^a-z0-9+]+", text.lower()) if len(word) > 3}


def with_remarks(judgement: Judgement, candidate: Run, baseline: Run | None) -> Judgement:
    """Return the judgement of whole runs with the derived metrics of the candidate's recipe, why any can't be
    computed, and what its server says that it left out. A run that measured nothing has no derived metrics."""
    expressions = candidate.recipe.get("derived", {}) if candidate.samples else {}
    theirs = means_of(baseline.samples) if baseline else {}
    found = derive(expressions, means_of(candidate.samples), theirs) if expressions else ()
    said = [f"{d.name} can't be computed: {d.problem}." for d in found if d.problem]
    if baseline is not None and candidate.snapshot is not None and baseline.snapshot is not None:
        said += unread_treatment(candidate.snapshot, treatment(candidate.recipe, baseline.recipe))
        said += declined(candidate.snapshot, baseline.snapshot, treatment(candidate.recipe, baseline.recipe))
    return judgement.model_copy(
        update={"derived": {d.name: d.value for d in found}, "reasons": (*judgement.reasons, *said)}
    )
