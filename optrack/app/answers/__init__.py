"""What is answered with `--json`, to agents, in exports and notifications: pydantic models and their documents.

Each answer is made of the model's own values, and of views that show one under the names of the contract. What a
view or an answer holds beside its document (`exclude=True`) is there for who puts it into words.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from optrack.errors import OptrackError, PlanError, UsageError
from optrack.model.value import Frozen

SCHEMA_VERSION: Literal[1] = 1


class View(Frozen):
    """A part of an answer; it can be made from any value that has its fields as attributes."""

    model_config = ConfigDict(from_attributes=True, defer_build=True)

    @classmethod
    def of(cls, value: Any) -> Self:
        """Return the view of a value."""
        return cls.model_validate(value)


class Answer(View):
    """A command's answer: one document on standard output."""

    schema_version: Literal[1] = SCHEMA_VERSION


class ErrorBody(View):
    """What is wrong, where, and what to do; the exit code of the command says which kind it is."""

    code: str
    message: str
    hint: str | None
    where: str | None
    problems: tuple[str, ...] = Field(default=(), exclude_if=lambda problems: not problems)
    exit_code: int | None = Field(default=None, exclude_if=lambda code: code is None)


class ErrorAnswer(Answer):
    """What every command answers where it fails."""

    error: ErrorBody


def error_body(error: OptrackError, *, with_exit_code: bool = False) -> ErrorBody:
    """Return an error as a part of an answer."""
    return ErrorBody(
        code=error.code,
        message=error.message,
        hint=error.hint,
        where=error.where,
        problems=error.problems if isinstance(error, PlanError) else (),
        exit_code=error.exit_code if with_exit_code else None,
    )


def timestamp(at: datetime) -> str:
    """Return a time as ISO 8601 in UTC, to the millisecond."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def document(value: Frozen, *, exclude: Any = None) -> dict[str, Any]:
    """Return an answer or a part of one as plain data: times as text, numbers that JSON lacks as None."""
    plain: dict[str, Any] = _plain(value.model_dump(by_alias=True, exclude=exclude))
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return None if value != value or value in (float("inf"), float("-inf")) else value
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value


ANSWERS: dict[str, tuple[str, ...]] = {
    "error": (".ErrorAnswer",),
    "status": ("items.StatusAnswer",),
    "show-item": ("items.ShowItemAnswer",),
    "show-run": ("runs.ShowRunAnswer",),
    "next": ("runs.ResultAnswer", "runs.DetachedAnswer"),
    "next-all": ("runs.ResultsAnswer",),
    "next-explain": ("items.ChoiceAnswer",),
    "run": ("runs.ResultAnswer", "runs.DetachedAnswer"),
    "attach": ("runs.ResultAnswer", "runs.DetachedAnswer"),
    "stop": ("runs.ResultAnswer", "items.CampaignAnswer"),
    "watch": ("runs.TransitionLine", "runs.RunStartedLine", "runs.RunEndedLine"),
    "runs": ("runs.RunsAnswer",),
    "log": ("runs.LogAnswer",),
    "compare": ("runs.CompareAnswer",),
    "diff": ("runs.DiffAnswer",),
    "failures": ("runs.FailuresAnswer",),
    "mark": ("decisions.MarkAnswer",),
    "note": ("decisions.NoteAnswer",),
    "accept": ("decisions.AcceptAnswer",),
    "adopt": ("decisions.AdoptAnswer", "decisions.UndoneAnswer"),
    "ablate": ("decisions.AblateAnswer",),
    "audit": ("decisions.AuditAnswer",),
    "plan-check": ("plans.PlanCheckAnswer",),
    "plan-show": ("plans.PlanShowAnswer",),
    "plan-convert": ("plans.TextAnswer",),
    "plan-new": ("plans.OutputAnswer",),
    "plan-schema": ("plans.SchemaAnswer",),
    "use": ("plans.UseAnswer",),
    "todo": ("plans.TodoAnswer",),
    "todo-import": ("plans.TodoImportAnswer",),
    "add": ("items.AddAnswer",),
    "export": ("logs.ExportAnswer",),
    "export-file": ("logs.WrittenAnswer",),
    "report": ("logs.ExportAnswer",),
    "report-file": ("logs.WrittenAnswer",),
    "replay": ("runs.ReplayAnswer",),
    "parse": ("runs.ParseAnswer",),
    "import": ("runs.ResultsAnswer",),
    "context": ("logs.ContextAnswer",),
    "schema": ("plans.SchemaAnswer", "plans.NamesAnswer"),
    "demo": ("runs.ResultsAnswer",),
    "doctor": ("plans.DoctorAnswer",),
}
"""What each command answers, by name: one model, or several of which it is one."""


class _Schema(GenerateJsonSchema):
    """A field is required unless it is left out where it says nothing."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        return "serialization_exclude_if" not in field and not field.get("serialization_exclude")


def answer_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the answer called `name`; raises UsageError with the names."""
    if name not in ANSWERS:
        raise UsageError(f"there is no answer {name!r}", hint=f"answers: {', '.join(ANSWERS)}")
    models = tuple(_model(path) for path in ANSWERS[name])
    kind: Any = models[0]
    for other in models[1:]:
        kind = kind | other
    schema = TypeAdapter(kind).json_schema(mode="serialization", by_alias=True, schema_generator=_Schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"optrack/1/{name}", **schema}


def _model(path: str) -> type[Answer]:
    module, _, name = path.rpartition(".")
    found: type[Answer] = getattr(import_module(f"{__name__}.{module}" if module else __name__), name)
    return found
