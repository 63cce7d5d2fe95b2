"""How a standing is shown: by a character, a word and a tone; colour alone never says anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from optrack.model.item import ItemState
from optrack.model.judgement import Comparison, Verdict
from optrack.model.plan import Status
from optrack.model.run import Outcome, Run

Tone = Literal["plain", "strong", "good", "bad", "warn", "live", "quiet"]
TONES: tuple[Tone, ...] = ("plain", "strong", "good", "bad", "warn", "live", "quiet")


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark, its word and its tone."""

    sign: str
    word: str
    tone: Tone

    def __str__(self) -> str:
        return f"{self.sign} {self.word}".strip()


STATUS: dict[Status, Mark] = {
    "pending": Mark(".", "pending", "plain"),
    "in_progress": Mark(">", "in progress", "live"),
    "completed": Mark("*", "completed", "plain"),
    "cancelled": Mark("/", "cancelled", "quiet"),
}
VERDICT: dict[Verdict, Mark] = {
    "improvement": Mark("+", "improvement", "good"),
    "regression": Mark("-", "regression", "bad"),
    "no_change": Mark("=", "no change", "plain"),
    "inconclusive": Mark("?", "inconclusive", "warn"),
    "failed": Mark("x", "failed", "bad"),
}
NO_VERDICT = Mark("!", "no verdict", "warn")
BLOCKED = Mark("|", "blocked", "quiet")
COMPARISON: dict[Comparison, Mark] = {
    "fair": Mark("", "fair", "plain"),
    "unfair": Mark("!", "unfair", "bad"),
    "unknown": Mark("?", "unknown", "warn"),
}
OUTCOME: dict[Outcome, Mark] = {
    "succeeded": Mark("*", "succeeded", "good"),
    "failed": Mark("x", "failed", "bad"),
    "timed_out": Mark("x", "timed out", "bad"),
    "interrupted": Mark("/", "interrupted", "warn"),
}
NEXT = Mark(">", "next", "live")
RUNNING = Mark(">", "running", "live")


def standing(state: ItemState, *, blocked: bool = False) -> Mark:
    """Return where an item stands: blocked or its status."""
    if blocked and state.status == "pending":
        return BLOCKED
    return STATUS[state.status]


def verdict(state: ItemState) -> Mark | None:
    """Return what the evidence shows of an item, None before there is any."""
    if state.judgement is None:
        return None
    return VERDICT[state.judgement.verdict] if state.judgement.verdict else NO_VERDICT


def outcome(run: Run) -> Mark:
    """Return how a run ended, or that it is running."""
    return OUTCOME[run.outcome] if run.outcome else RUNNING


def flags(state: ItemState) -> tuple[Mark, ...]:
    """Return what else a reader should see at once: adopted, stale, archived."""
    found = []
    if state.adopted:
        found.append(Mark("@", "adopted", "good"))
    if state.stale:
        found.append(Mark("~", "stale", "warn"))
    if state.archived:
        found.append(Mark("/", "archived", "quiet"))
    return tuple(found)
