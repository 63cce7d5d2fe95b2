"""The answers of the commands that export, brief and describe."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from optrack.contract.answer import Answer
from optrack.contract.parts import (
    LogItemPart,
    MetricPart,
    Part,
    QuantityPart,
    RunPart,
    StatePart,
    TransitionPart,
)


class WrittenAnswer(Answer):
    """`export -o`, `report -o`: the files written."""

    output: str
    format: str
    files: list[str]


class LogPlanPart(Part):
    """The plan of an exported log."""

    name: str
    title: str
    metric: MetricPart
    target: QuantityPart | None
    min_effect: float
    baseline: str


class ExportAnswer(Answer):
    """`export --format json`: the whole log."""

    plan: LogPlanPart
    items: list[LogItemPart]
    runs: list[RunPart]
    transitions: list[TransitionPart]
    acceptances: list[dict[str, Any]]
    adoptions: list[dict[str, Any]]
    calibration: dict[str, Any]
    next: str | None


class GoingPart(Part):
    """A run that is going on."""

    run: str
    item: str
    who: str


class ContextAnswer(Answer):
    """`context`: one page for an agent."""

    plan: dict[str, Any]
    items: list[StatePart]
    next: dict[str, Any]
    going: list[GoingPart]
    commands: list[dict[str, str]]
    exit_codes: dict[str, str]
    rules: list[str]


class SchemaAnswer(Answer):
    """`schema`, `plan schema`: a JSON Schema, or the names there are."""

    schema_: dict[str, Any] | None = Field(default=None, alias="schema")
    names: list[str] | None = None
