"""The answers about plans, todo lists, schemas and the host."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from optrack.app.answers import Answer, View
from optrack.app.answers.items import PlanHead, PlanItemView
from optrack.model.item import Transition
from optrack.model.plan import LeftOut, Plan, Problem, Status
from optrack.plan.todo import TodoChange


class PlanView(PlanHead):
    """What was understood of a plan; `value` is the plan."""

    items: tuple[PlanItemView, ...]
    value: Plan = Field(exclude=True)


class PlanShowAnswer(Answer):
    """`plan show`: what was understood of a plan, and what wasn't read as an item."""

    plan: PlanView
    problems: tuple[Problem, ...]
    left_out: tuple[LeftOut, ...]


class PlanAnswer(Answer):
    """The agent's `plan`: what was understood of the campaign's plan."""

    plan: PlanView


class PlanCheckAnswer(Answer):
    """`plan check`: what is wrong in a plan."""

    plan: str
    items: int
    errors: int
    warnings: int
    problems: tuple[Problem, ...]


class TextAnswer(Answer):
    """`plan new`, `plan convert`: a text."""

    text: str


class OutputAnswer(Answer):
    """`plan new FILE`: the file written."""

    output: str


class UseAnswer(Answer):
    """`use`: the plan chosen."""

    plan: str
    is_same: bool = Field(default=False, exclude=True)


class TodoEntry(View):
    """An entry of a todo list."""

    content: str
    status: Status
    priority: Literal["high", "medium", "low"]
    id: str


class TodoAnswer(Answer):
    """`todo`: the plan as a todo list."""

    todos: tuple[TodoEntry, ...]


class TodoImportAnswer(Answer):
    """`todo import`: what a todo list changed; `entries` is how many it has."""

    changes: tuple[TodoChange, ...]
    transitions: tuple[Transition, ...]
    same: tuple[str, ...]
    unmatched: tuple[str, ...]
    refused: tuple[str, ...]
    problems: tuple[str, ...]
    entries: int = Field(exclude=True)


class SchemaAnswer(Answer):
    """`schema NAME`, `plan schema`: a JSON Schema."""

    schema_: dict[str, Any] = Field(serialization_alias="schema")


class NamesAnswer(Answer):
    """`schema`: the names of the answers."""

    names: tuple[str, ...]


class Check(View):
    """What one check found."""

    name: str
    ok: bool
    text: str


class DoctorAnswer(Answer):
    """`doctor`: what was checked."""

    checks: tuple[Check, ...]
