"""What each command answers with `--json`, by name; `answer_schema` gives its JSON Schema."""

from __future__ import annotations

from typing import Any

from optrack.contract.answer import ErrorAnswer
from optrack.contract.deciding import (
    AblateAnswer,
    AcceptAnswer,
    AddAnswer,
    AdoptAnswer,
    AuditAnswer,
    DoctorAnswer,
    MarkAnswer,
    NoteAnswer,
    OutputAnswer,
    PlanCheckAnswer,
    PlanConvertAnswer,
    PlanShowAnswer,
    TodoAnswer,
    TodoImportAnswer,
    UseAnswer,
)
from optrack.contract.parts import Part
from optrack.contract.seeing import (
    ChoiceAnswer,
    CompareAnswer,
    DiffAnswer,
    FailuresAnswer,
    LogAnswer,
    ParseAnswer,
    ReplayAnswer,
    ResultAnswer,
    ResultsAnswer,
    RunsAnswer,
    ShowItemAnswer,
    ShowRunAnswer,
    StatusAnswer,
    WatchLine,
)
from optrack.contract.telling import ContextAnswer, ExportAnswer, SchemaAnswer, WrittenAnswer
from optrack.errors import UsageError

ANSWERS: dict[str, type[Part]] = {
    "error": ErrorAnswer,
    "status": StatusAnswer,
    "show-item": ShowItemAnswer,
    "show-run": ShowRunAnswer,
    "next": ResultAnswer,
    "next-all": ResultsAnswer,
    "next-explain": ChoiceAnswer,
    "run": ResultAnswer,
    "attach": ResultAnswer,
    "stop": ResultAnswer,
    "watch": WatchLine,
    "runs": RunsAnswer,
    "log": LogAnswer,
    "compare": CompareAnswer,
    "diff": DiffAnswer,
    "failures": FailuresAnswer,
    "mark": MarkAnswer,
    "note": NoteAnswer,
    "accept": AcceptAnswer,
    "adopt": AdoptAnswer,
    "ablate": AblateAnswer,
    "audit": AuditAnswer,
    "plan-check": PlanCheckAnswer,
    "plan-show": PlanShowAnswer,
    "plan-convert": PlanConvertAnswer,
    "plan-new": OutputAnswer,
    "plan-schema": SchemaAnswer,
    "use": UseAnswer,
    "todo": TodoAnswer,
    "todo-import": TodoImportAnswer,
    "add": AddAnswer,
    "export": ExportAnswer,
    "export-file": WrittenAnswer,
    "report": ExportAnswer,
    "report-file": WrittenAnswer,
    "replay": ReplayAnswer,
    "parse": ParseAnswer,
    "import": ResultsAnswer,
    "context": ContextAnswer,
    "schema": SchemaAnswer,
    "demo": ResultsAnswer,
    "doctor": DoctorAnswer,
}


def answer_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the answer called `name`; raises UsageError with the names."""
    if name not in ANSWERS:
        raise UsageError(f"there is no answer {name!r}", hint=f"answers: {', '.join(ANSWERS)}")
    schema = ANSWERS[name].model_json_schema(mode="validation", by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"optrack/1/{name}", **schema}
