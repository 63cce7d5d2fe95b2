"""A recorded run as a script: its commands as its engine gives them, in its code and environment."""

from __future__ import annotations

import re
from pathlib import Path

from optrack.errors import UsageError
from optrack.model.recipe import RecipeError, recipe_from
from optrack.model.run import Run
from optrack.model.snapshot import Snapshot
from optrack.render.replay import replay_script

_RUN_DIR = "/optrack-run-dir"
_PORT = 65521
"""Stand-ins that no command has by itself; the script's own variables take their places."""


def script_of(run: Run, project: Path, *, python: str, name: str = "replay.sh") -> str:
    """Return the replay script of a run; raises UsageError for one whose recipe this version can't read."""
    return replay_script(
        run.snapshot or Snapshot(),
        run=run.id,
        item=run.item,
        project=str(project),
        commands=commands_of(run, python),
        name=name,
        unset=tuple(key for key, value in (run.recipe.get("env") or {}).items() if value is None),
    )


def commands_of(run: Run, python: str) -> dict[str, str]:
    """Return the shell text of each step of a run: `setup`, `server`, `warmup` and each benchmark."""
    from optrack.engines.protocol import Place
    from optrack.engines.registry import engine_named

    try:
        recipe = recipe_from(run.recipe)
    except RecipeError as fault:
        raise UsageError(
            f"the recipe of run {run.id} can't be read: {fault.message}", hint=fault.hint
        ) from fault
    place = Place(run=run.id, item=run.item, launch=0, run_dir=Path(_RUN_DIR), port=recipe.port or _PORT)
    engine = engine_named(recipe.engine, python)
    server = engine.server(recipe, place)
    commands = {"setup": recipe.setup or ""}
    if server is not None:
        exports = "".join(f"export {key}={value}\n" for key, value in server.env.items())
        commands["server"] = exports + server.shell
    for number, bench in enumerate(recipe.warmup):
        commands["warmup" if not number else f"warmup_{number + 1}"] = engine.bench(
            recipe, bench, place
        ).shell
    for bench in recipe.bench:
        commands[bench.name] = engine.bench(recipe, bench, place).shell
    return {step: _with_variables(text) for step, text in commands.items() if text}


def _with_variables(shell: str) -> str:
    text = shell.replace(_RUN_DIR, '"$RUN_DIR"')
    return re.sub(rf"\b{_PORT}\b", "$PORT", text)
