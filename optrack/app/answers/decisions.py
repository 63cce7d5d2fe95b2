"""The answers of the commands that decide: mark, note, accept, adopt, ablate, audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from optrack.app.answers import Answer, View
from optrack.model.item import Acceptance, Adoption, Note, Transition
from optrack.model.judgement import Comparison, Judgement, Verdict


class MarkAnswer(Answer):
    """`mark`: the transition made."""

    transition: Transition


class NoteAnswer(Answer):
    """`note`: the remark made."""

    item: str
    note: Note


class AcceptAnswer(Answer):
    """`accept`: what was accepted."""

    acceptance: Acceptance


class AdoptAnswer(Answer):
    """`adopt`: the item adopted."""

    adoption: Adoption


class UndoneAnswer(Answer):
    """`adopt --undo`: the item that is no longer adopted."""

    undone: str


class AddedFactor(View):
    """An item that was added to take a treatment apart, with the factors that it keeps."""

    id: str
    title: str
    keeps: tuple[str, ...]


class AblateAnswer(Answer):
    """`ablate`: the items added."""

    items: tuple[AddedFactor, ...]


class VerdictChange(View):
    """A conclusion that no longer stands; `earlier` and `later` are the two judgements."""

    item: str
    run: str
    before: Verdict | None
    after: Verdict | None
    comparison: Comparison
    why: str
    offered_again: bool
    earlier: Judgement = Field(exclude=True)
    later: Judgement = Field(exclude=True)


class AuditAnswer(Answer):
    """`audit`: the conclusions that changed, the baseline's run that was rejected, and the adopted items whose
    evidence doesn't stand."""

    changed: tuple[VerdictChange, ...]
    rejected: str | None
    adopted_without_evidence: tuple[str, ...]


class DryRun(View):
    """What running an item would do: its environment and commands. The launches end between `at_least` and
    `launches` where the recipe gives a range."""

    item: str
    title: str
    env: Mapping[str, str]
    unset: tuple[str, ...]
    cwd: str
    patch: tuple[str, ...]
    setup: str | None
    server: str | None
    ready: Mapping[str, Any]
    warmup: tuple[str, ...]
    bench: Mapping[str, str]
    check: Mapping[str, str]
    launches: int
    at_least: int | None
    repetitions: int
    factors: Mapping[str, tuple[Any, Any]]
    port_is_chosen: bool
    beside_baseline: bool


class DryRunAnswer(DryRun, Answer):
    """`next --dry-run`, `run ITEM --dry-run`: what running the item would do."""


class DryRunsAnswer(Answer):
    """`run ITEM ITEM --dry-run`: what running each would do."""

    items: tuple[DryRun, ...]


class StartedAnswer(Answer):
    """`next --all --detach`: the file that the campaign narrates into."""

    log: str
    first: str = Field(exclude=True)
