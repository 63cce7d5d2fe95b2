"""Recording results that were measured elsewhere, as runs that are labelled so and credit nothing by themselves."""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optrack.app.campaign import Campaign
from optrack.app.project import Project, now
from optrack.errors import UsageError
from optrack.host.parsing import ParseRequest, ParserProcess
from optrack.host.regular import read_regular, reason
from optrack.judge.imported import Result, import_note, is_imported, is_sweep, read_sweep, results_of
from optrack.model.events import ArtifactWritten, Remarked, RunEnded, RunJudged, SamplesAdded
from optrack.model.judgement import Judgement
from optrack.model.metrics import Sample
from optrack.model.plan import Item
from optrack.model.run import Run, new_run_id

if TYPE_CHECKING:
    from optrack.app.answers.runs import ParseAnswer
    from optrack.host.stretch import Stretch
    from optrack.model.recipe_parts import MetricRule

_WITHHELD = (
    "The numbers were measured elsewhere and nothing was captured with them, so the comparison can't be shown "
    "to be fair and no improvement is credited."
)


def parse_output(output: bytes | Stretch, *, parser: str, rules: Mapping[str, MetricRule]) -> ParseAnswer:
    """Return what would be recorded of a benchmark's output."""
    from optrack.app.answers.runs import ParseAnswer, ParsedMetric

    with ParserProcess() as process:
        parsed = process.parse(ParseRequest(parser=parser, output=output, rules=rules)).parsed
    return ParseAnswer(
        tool=parsed.tool,
        invalid=parsed.invalid,
        metrics={
            r.metric.name: ParsedMetric(value=r.value, unit=r.metric.unit, better=r.metric.better)
            for r in parsed.readings
        },
        notes=tuple(parsed.notes),
        settings=parsed.settings,
        earlier=len(parsed.earlier),
        readings=tuple(parsed.readings),
    )


def import_files(
    project: Project, item_id: str, files: list[Path], *, parser: str, launch_each: bool
) -> tuple[Run, tuple[str, ...]]:
    """Record benchmark outputs as a run of an item; return the run and what couldn't be read.

    Raises UsageError where no file has a metric.
    """
    campaign = project.campaign()
    item = campaign.state(item_id).item
    resolved = campaign.resolved_or_none(item)
    rules = resolved.recipe.metrics if resolved else None
    outputs = {str(file): read_file(file) for file in files}
    with ParserProcess() as process:
        parsed = {
            file: process.parse(ParseRequest(parser=parser, output=data, rules=rules or {})).parsed
            for file, data in outputs.items()
        }
    result = results_of(parsed, launch_each=launch_each, name=item.id)
    if not result.samples:
        raise UsageError(
            "nothing could be read", where=str(files[0]), hint="; ".join(result.problems) or None
        )
    _require_new(campaign, item.id, result)
    recipe = dict(resolved.data) if resolved else {}
    return _record(project, campaign, item.id, result, recipe), result.problems


def _require_new(campaign: Campaign, item: str, result: Result) -> None:
    """Raise UsageError for the very numbers that an imported run of the item has already."""
    for run in campaign.reader.runs(campaign.plan.name, item, with_=("samples", "snapshot")):
        if run.snapshot is None and set(map(_number, run.samples)) == set(map(_number, result.samples)):
            raise UsageError(
                f"these results were imported as run {run.id} already: nothing changes",
                hint="another launch of the same configuration gives other numbers",
            )


def _number(sample: Sample) -> tuple[str, int, int, str]:
    return sample.metric.name, sample.launch, sample.repetition, repr(sample.value)


def import_sweep(
    project: Project, folder: Path, *, baseline: str | None
) -> list[tuple[Run, tuple[str, ...]]]:
    """Record each combination of a `vllm bench sweep` folder as a run of an item of its own, added if need be.

    `baseline` names the combination that is the plan's baseline. A combination that failed is recorded as a
    failed run.
    """
    paths = sorted(path for path in folder.rglob("*.json") if path.is_file())
    names = {str(path.relative_to(folder)): path for path in paths}
    if not is_sweep(list(names)):
        raise UsageError(
            f"{folder} has no run=N.json below it", hint="name the folder of a `vllm bench sweep`"
        )
    results = read_sweep({name: read_file(path) for name, path in names.items()})
    found = [result for result in results if result.samples or result.failure]
    known = {result.name for result in found}
    if baseline is not None and baseline not in known:
        raise UsageError(
            f"the sweep has no combination {baseline!r}", hint=f"it has: {', '.join(sorted(known))}"
        )
    found.sort(key=lambda result: result.name != baseline)
    return [_import_combination(project, result, is_base=result.name == baseline) for result in found]


def read_file(path: Path) -> bytes:
    """Return a result file's bytes; raises UsageError for one that can't be read or is no result by its size."""
    try:
        return read_regular(path)
    except OSError as error:
        hint = "name a benchmark's result, not a log" if error.errno == errno.EFBIG else None
        raise UsageError(f"{path} can't be read: {reason(error)}", hint=hint) from error


def _import_combination(project: Project, result: Result, *, is_base: bool) -> tuple[Run, tuple[str, ...]]:
    campaign = project.campaign()
    recipe: dict[str, Any] = {
        "engine": "vllm",
        "server": dict(result.parameters),
        "bench": {"tool": "vllm.bench_serve"},
    }
    if is_base:
        item_id = campaign.plan.baseline
    else:
        item_id = "sweep-" + (re.sub(r"[^\w.=]+", "-", result.name).strip("-") or "combination")[:60]
        if item_id not in campaign.by_id:
            item = Item(id=item_id, title=f"Sweep: {result.name}", line=0, rank=len(campaign.states))
            project.store.add_item(campaign.plan.name, item, who=campaign.settings.actor, at=now())
    return _record(project, campaign, item_id, result, recipe), result.problems


def _record(
    project: Project, campaign: Campaign, item_id: str, result: Result, recipe: Mapping[str, Any]
) -> Run:
    at = now()
    run = Run(
        id=new_run_id(at, item_id),
        plan=campaign.plan.name,
        item=item_id,
        host=campaign.settings.host,
        started_at=at,
        actor=campaign.settings.actor,
        recipe=recipe,
    )
    store = project.store
    if not store.claim(run, from_statuses=("pending", "completed", "cancelled")):
        raise UsageError(f"item {item_id} is being run", hint="import the result when that run has ended")
    store.record(run.id, Remarked(text=import_note(result.files or (result.name,))))
    for problem in result.problems:
        store.record(run.id, Remarked(text=f"Not imported: {problem}"))
    store.record(run.id, SamplesAdded(samples=tuple(result.samples)))
    for file in result.files:
        store.record(run.id, ArtifactWritten(path=file))
    outcome = "failed" if result.failure else "succeeded"
    ended = store.reader.run(run.id).model_copy(
        update={"outcome": outcome, "stage": "bench", "failure": result.failure}
    )
    judgement = None
    if item_id != campaign.plan.baseline:
        from optrack.app.evaluator import Evaluator

        judgement = _withheld(Evaluator(store.reader, campaign.plan).judge(ended))
        store.record(judgement.candidate, RunJudged(judgement=judgement), now())
        if (measured := _measured_verdict(campaign, item_id)) is not None:
            store.record(measured.candidate, RunJudged(judgement=measured), now())
    store.record(
        run.id,
        RunEnded(
            outcome="failed" if result.failure else "succeeded",
            stage="bench",
            failure=result.failure,
            item_after="completed",
            why="imported",
            verdict=judgement.verdict if judgement else None,
        ),
        now(),
    )
    return store.reader.run(run.id)


def _measured_verdict(campaign: Campaign, item: str) -> Judgement | None:
    """Return the judgement in force if it rests on a run that optrack made: it stays the one in force."""
    state = campaign.by_id.get(item)
    judgement = state.judgement if state is not None else None
    if judgement is None or is_imported(campaign.reader.run(judgement.candidate)):
        return None
    return judgement


def _withheld(judgement: Judgement) -> Judgement:
    """Take back an improvement that rests on numbers nothing was captured with."""
    if judgement.verdict != "improvement" or judgement.comparison == "fair":
        return judgement
    return judgement.model_copy(update={"verdict": None, "reasons": (_WITHHELD, *judgement.reasons)})
