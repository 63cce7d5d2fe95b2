"""What is asked of a plan and of its items' recipes: what was understood, what is wrong, what would run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optrack.app.answers.decisions import DryRun, DryRunAnswer, DryRunsAnswer
from optrack.app.answers.plans import PlanAnswer, PlanCheckAnswer, PlanShowAnswer, PlanView
from optrack.errors import PlanError
from optrack.model.plan import Item, Plan
from optrack.model.recipe_parts import LaunchRange
from optrack.settings import Settings

if TYPE_CHECKING:
    from optrack.app.campaign import Campaign


def plan_view(plan: Plan, recipes: Mapping[str, Mapping[str, Any] | None]) -> PlanView:
    """Return what was understood of a plan; `recipes` has each item's resolved recipe, if it has one."""
    from optrack.app.answers.items import PlanItemView

    return PlanView(
        name=plan.name,
        path=plan.path,
        title=plan.title,
        metric=plan.metric,
        target=plan.target,
        min_effect=plan.min_effect,
        baseline=plan.baseline,
        items=tuple(PlanItemView.of(item, recipes.get(item.id)) for item in plan.items),
        value=plan,
    )


def show_plan(plan: Plan) -> PlanShowAnswer:
    """Return what was understood of a plan by itself, apart from any record."""
    from optrack.plan.resolve import resolve

    recipes: dict[str, Mapping[str, Any] | None] = {}
    for item in plan.items:
        try:
            has_recipe = item.recipe is not None or item.id == plan.baseline
            recipes[item.id] = resolve(plan, item).data if has_recipe else None
        except PlanError:
            recipes[item.id] = None
    return PlanShowAnswer(plan=plan_view(plan, recipes), problems=plan.problems, left_out=plan.left_out)


def campaign_plan(campaign: Campaign) -> PlanAnswer:
    """Return what was understood of a campaign's plan, with the recipes as they would run."""
    resolved = campaign.resolutions(campaign.plan.items)
    recipes = {item: found.data for item, found in resolved.items()}
    return PlanAnswer(plan=plan_view(campaign.plan, recipes))


def check_plan(plan: Plan, settings: Settings, source: Path | None = None) -> PlanCheckAnswer:
    """Return what is wrong in a plan, what is probably not meant, and how it differs from the `source` it tells."""
    from optrack.app.plan_problems import plan_problems
    from optrack.app.project import read_plan
    from optrack.plan.convert import source_problems

    problems = plan_problems(plan, settings.python, settings.project)
    if source is not None:
        problems = (*problems, *source_problems(plan, read_plan(source)))
    errors = sum(problem.severity == "error" for problem in problems)
    return PlanCheckAnswer(
        plan=plan.path,
        items=len(plan.items),
        errors=errors,
        warnings=len(problems) - errors,
        problems=problems,
    )


def conversion(path: Path) -> str:
    """Return the page for an agent that writes a document as a plan."""
    from optrack.app.project import read_plan
    from optrack.model.recipe import recipe_schema
    from optrack.plan.convert import conversion_page

    return conversion_page(read_plan(path), list(recipe_schema()["properties"]))


def scaffold(title: str, commands: Sequence[str] = ()) -> str:
    """Return a new, commented plan; its baseline is what a server's command and a benchmark's do, if given."""
    from optrack.plan.scaffold import new_plan, plan_from_commands, split_commands

    if not commands:
        return new_plan(title)
    server, bench = commands if len(commands) == 2 else split_commands("\n".join(commands))
    return plan_from_commands(server, bench, title=title)


def dry_run(campaign: Campaign, items: Sequence[Item]) -> DryRunAnswer | DryRunsAnswer:
    """Return what running each item would do; nothing runs and nothing is recorded."""
    found = [_dry_run(campaign, item) for item in items]
    return DryRunAnswer(**dict(found[0])) if len(found) == 1 else DryRunsAnswer(items=tuple(found))


def _dry_run(campaign: Campaign, item: Item) -> DryRun:
    from optrack.engines.protocol import Place
    from optrack.engines.registry import engine_named
    from optrack.judge.evidence import most_launches

    resolved = campaign.resolved(item)
    recipe = resolved.recipe
    engine = engine_named(recipe.engine, campaign.settings.python)
    place = Place(run="RUN", item=item.id, launch=0, run_dir=Path("$RUN_DIR"), port=recipe.port or 30000)
    server = engine.server(recipe, place)
    passes = {bench.name: engine.bench(recipe, bench, place).shell for bench in recipe.bench}
    env = {key: value for key, value in recipe.env.items() if value is not None}
    base = campaign.plan.item(campaign.plan.baseline)
    return DryRun(
        item=item.id,
        title=item.title,
        env=(dict(server.env) if server else {}) | env,
        unset=tuple(sorted(key for key, value in recipe.env.items() if value is None)),
        cwd=str(campaign.settings.project / (recipe.cwd or "")),
        patch=tuple(recipe.patch),
        setup=recipe.setup,
        server=server.shell if server else None,
        ready=engine.ready(recipe).model_dump(exclude_none=True),
        warmup=tuple(engine.bench(recipe, bench, place).shell for bench in recipe.warmup),
        bench=passes,
        check={name: check.command for name, check in recipe.check.items() if check.command},
        launches=most_launches(recipe, sequential=False),
        at_least=recipe.launches.min if isinstance(recipe.launches, LaunchRange) else None,
        repetitions=recipe.repetitions,
        factors=resolved.factors,
        port_is_chosen=recipe.port is None,
        beside_baseline=base is not None and base.id != item.id and recipe.order != "block",
    )
