"""What is captured of a launch: the host and its code before, the server's processes while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from optrack.host import logs, proc
from optrack.host.bench_capture import capture_bench, with_later_pass
from optrack.host.capture import capture_host, capture_running, capture_seen, merge
from optrack.host.code_capture import CODE_S, CodeCapture, captured
from optrack.host.environment import with_later
from optrack.host.external import ExternalServer
from optrack.host.launch import StageFailed
from optrack.host.observer import TreeObserver
from optrack.host.patching import CopyError, CopyStoppedError, PatchError, patched_copy, repository_of
from optrack.host.process_tree import Deadline
from optrack.host.used_files import used_files
from optrack.host.variable_search import SEARCH_S
from optrack.host.witnessed import is_elsewhere, read_witnesses
from optrack.judge.applied import arguments_part, rewritten_arguments
from optrack.judge.difference import differences
from optrack.judge.failures import plain_failure
from optrack.judge.file_use import with_later_look
from optrack.judge.processes import joined
from optrack.judge.unseen import unread_sentences
from optrack.judge.variables import HARMLESS, is_certain, is_noise
from optrack.model.events import PartsCaptured, Remarked
from optrack.model.snapshot import Arguments, Environment, GitState, Snapshot, WatchedFile
from optrack.runner.context import RunContext
from optrack.runner.launch import Launch
from optrack.runner.session import Arm

BEFORE_LAUNCH_S = 1.2
BEFORE_BENCH_S = 2.0
"""So long after the begin of the capture of the code the launch, and the first benchmark pass, wait for it."""


def capture_before(launch: Launch) -> None:
    """Capture what can be known before anything runs: code, the environment passed on, hardware."""
    session, arm = launch.context.session, launch.arm
    project, recipe = session.settings.project, arm.recipe
    arm.code = CodeCapture(
        project=project,
        repo=arm.repo,
        copied_from=repository_of(recipe, project) if recipe.patch else None,
        watch=[project / path for path in (*recipe.watch, *recipe.patch)],
        salt=session.salt,
    )
    seen = capture_host(env=launch.env, recipe_env=recipe.env, salt=session.salt, names=session.variables)
    keep(launch.context, arm, seen)
    take_code(launch.context, arm, BEFORE_LAUNCH_S)


def take_code(context: RunContext, arm: Arm, within_s: float = 0.0) -> None:
    """Keep what was captured of the code if it is there so many seconds after that capture began."""
    if arm.code is None or (code := arm.code.result(within_s)) is None:
        return
    arm.code = None
    keep(context, arm, code)
    for sentence in unread_sentences(code):
        context.note(sentence)


def close_code(context: RunContext, arm: Arm) -> None:
    """Keep what was captured of the code at the end of a run, or that it isn't known."""
    take_code(context, arm, 0.0 if context.stop.is_forced() else CODE_S + 2.0)
    if arm.code is not None:
        arm.code.stop()
        repositories = ["project", *(["repo"] if arm.repo is not None else [])]
        arm.code = None
        keep(context, arm, Snapshot(git={name: GitState(unknown=["repository"]) for name in repositories}))
        context.note_once(arm, "the code couldn't be captured in time, so a change of it would not be seen")


def capture_server(launch: Launch) -> None:
    """Capture what the server's processes really have, and what the server says of itself."""
    if launch.server is None:
        return
    session, arm = launch.context.session, launch.arm
    witnesses = read_witnesses(launch.place.run_dir, session.salt)
    unseen = launch.server.unseen if isinstance(launch.server, ExternalServer) else None
    launch.observer.stop()
    arm.ran.add(launch.observer.members)
    if unseen is not None and not is_elsewhere(witnesses):
        launch.context.note_once(arm, unseen)
        keep(launch.context, arm, Snapshot(env=Environment(observed_in="unknown")))
        return
    pids = [process.pid for process in launch.server.track()] if unseen is None else []
    running = capture_running(
        pids,
        leader=launch.server.leader.pid,
        witnesses=witnesses,
        recipe_env=launch.recipe.env,
        salt=session.salt,
        names=session.variables,
        holders=proc.holders(launch.place.port, pids),
        earlier=launch.observer.by_pid,
        project=session.settings.project,
        port=launch.place.port,
    )
    report = launch.engine.report(launch.recipe, launch.place)
    is_launched = not isinstance(launch.server, ExternalServer)
    if is_launched and report is not None and report.get("ours") is False:
        why = "the server that answers isn't the one that this run started"
        raise StageFailed("ready", "failed", plain_failure("not_ready", why))
    running = running.model_copy(update={"arguments": _arguments(launch, report)})
    if not launch.is_first:
        _compare_with_first(launch, running)
        return
    keep(launch.context, arm, running)
    for sentence in rewritten_arguments(running):
        launch.context.store.record(arm.run.id, Remarked(text=sentence))


def capture_failed_start(launch: Launch) -> None:
    """Keep what was seen of the processes of a server that never got ready.

    A shell that had not come to start the server yet shows nothing of the server's environment.
    """
    session, arm = launch.context.session, launch.arm
    launch.observer.stop()
    seen = capture_seen(
        launch.observer.members,
        recipe_env=launch.recipe.env,
        salt=session.salt,
        names=session.variables,
    )
    env = seen.env or Environment()
    if launch.is_first:
        if env.observed_in == "shell":
            env = Environment(observed_in="unknown")
        arguments = _arguments(launch, None)
        keep(launch.context, arm, seen.model_copy(update={"env": env, "arguments": arguments}))
        return
    first = (arm.snapshot or Snapshot()).env or Environment()
    if env.program is not None and env.program == first.program:
        _compare_with_first(launch, Snapshot(env=env))


def capture_passes(launch: Launch, observers: Sequence[TreeObserver]) -> None:
    """Capture what the processes of one repetition's benchmarks had, as they were seen while they lived.

    What is otherwise in a later repetition is kept as one of several values.
    """
    session, arm = launch.context.session, launch.arm
    members = [member for observer in observers for member in observer.members]
    arm.ran.add(members)
    arm.bench_members = members
    seen = capture_bench(
        members,
        [member for observer in observers for member in observer.lasting],
        recipe_env=launch.recipe.env,
        salt=session.salt,
        names=session.variables,
        project=session.settings.project,
        port=launch.place.port,
    )
    first = arm.snapshot.bench if arm.snapshot is not None else None
    if first is not None:
        seen = with_later_pass(first, seen)
    elif arm.snapshot is not None and seen.packages == arm.snapshot.packages:
        seen = seen.model_copy(update={"packages": None})
    keep(launch.context, arm, Snapshot(bench=seen))


def with_readers(context: RunContext, arm: Arm, snapshot: Snapshot) -> Snapshot:
    """Return the snapshot with which of its variables anything that ran can read; told from the files, once, when
    nothing is measured any more."""
    env, bench = snapshot.env, snapshot.bench.env if snapshot.bench else None
    if env is None or context.stop.is_forced():
        return snapshot
    sides = [side for side in (env, bench) if side is not None]
    seen = {name for side in sides for part in (side.passed, side.server, side.other) for name in part or ()}
    packages = [part for part in (snapshot.packages, snapshot.bench and snapshot.bench.packages) if part]
    names = [
        name for name in seen if not HARMLESS.match(name) and not is_noise(name) and not is_certain(name)
    ]
    read_by = captured(
        lambda: arm.ran.read_by(
            names,
            treatments=[name for name, value in arm.recipe.env.items() if value is not None],
            code=[context.session.settings.project, *([arm.repo] if arm.repo is not None else [])],
            packages=[
                Path(folder)
                for part in packages
                if part.python
                for folder in (*(part.python.folders or ()), *part.editable.values())
            ],
            until=Deadline(SEARCH_S),
        ),
        lambda problem: None,
        context.session.salt,
    )
    return snapshot.model_copy(update={"env": env.model_copy(update={"read_by": read_by})})


def capture_files(launch: Launch) -> None:
    """Look at the files that a launch uses: when its server is ready, and after its passes. What was another at an
    earlier look is kept as one of several contents, and what the run made is marked so."""
    arm, recipe, session = launch.arm, launch.recipe, launch.context.session
    earlier = (arm.snapshot.files if arm.snapshot is not None else None) or {}
    members = [*launch.observer.members, *arm.bench_members]
    commands = [
        recipe.launch,
        *(bench.command for bench in (*recipe.bench, *recipe.warmup)),
        *(check.command for check in recipe.check.values()),
    ]
    project = session.settings.project
    files = captured(
        lambda: used_files(
            [command for command in commands if command],
            members,
            project=project,
            cwd=launch.cwd,
            env=launch.env,
            apart=[session.settings.state, *([arm.repo] if arm.repo is not None and recipe.patch else [])],
            known=[name for name, about in earlier.items() if isinstance(about, WatchedFile) and about.use],
        ),
        lambda problem: {},
        session.salt,
    )
    asked = {project / path for path in (*recipe.watch, *recipe.patch)}
    files = {name: about for name, about in files.items() if project / name not in asked}
    is_first = not any(isinstance(about, WatchedFile) and about.use for about in earlier.values())
    since = None if is_first else arm.run.started_at.timestamp()
    keep(launch.context, arm, Snapshot(files=with_later_look(earlier, files, since)))


def keep(context: RunContext, arm: Arm, seen: Snapshot) -> None:
    """Add to the run's snapshot what was captured now, and record it."""
    before = arm.snapshot
    arm.snapshot = seen if before is None else merge(before, seen)
    context.store.record(arm.run.id, PartsCaptured.of(arm.snapshot, before))


def patched_code(arm: Arm, project: Path, should_stop: Callable[[], bool]) -> Path | None:
    """Return the folder of the server's code, patched where the recipe says so; None where the recipe names none.

    Raises StageFailed (`preflight`): `failed` where a patch doesn't apply, which is the item's fault, and
    `interrupted` where there is nothing to patch or the host doesn't let it be copied.
    """
    recipe = arm.recipe
    source = repository_of(recipe, project)
    if source is not None and not source.is_dir():
        why = plain_failure("not_copied", f"there is no folder {source}, which `repo` names")
        raise StageFailed("preflight", "interrupted", why)
    if source is None or not recipe.patch:
        return source
    patches = [project / patch for patch in recipe.patch]
    try:
        return patched_copy(source, patches, arm.folder / "repo", should_stop)
    except PatchError as error:
        raise StageFailed("preflight", "failed", plain_failure("patch", str(error))) from error
    except CopyError as error:
        kind = "disk_full" if error.is_full else "not_copied"
        raise StageFailed("preflight", "interrupted", plain_failure(kind, str(error))) from error
    except CopyStoppedError as error:
        why = plain_failure("interrupted", "stopped on request")
        raise StageFailed("preflight", "interrupted", why) from error


def _compare_with_first(launch: Launch, running: Snapshot) -> None:
    """Note what the processes of a later launch have otherwise than those of the first, and keep which of the
    variables differ: what only some of a run's launches had isn't what the run had."""
    first = launch.arm.snapshot or Snapshot()
    running = running.model_copy(update={"bench": first.bench})
    names = []
    for difference in differences(merge(first, running), first, declared={}):
        if difference.severity == "blocking" and difference.cls == "unexplained":
            meaning = difference.meaning.replace("the baseline's", "the first launch's")
            meaning = meaning.replace("the candidate's", "this one's")
            launch.context.note(f"launch {launch.number + 1} differs from the first: {meaning}")
            if difference.field.startswith("env.server."):
                names.append(difference.field.removeprefix("env.server."))
    before, now = [env.server if env else None for env in (first.env, running.env)]
    more = Snapshot()
    if names and before is not None and now is not None:
        more = Snapshot(env=Environment(server=with_later(before, now, names)))
    if first.processes is not None and running.processes is not None:
        more = more.model_copy(update={"processes": joined(first.processes, running.processes)})
    keep(launch.context, launch.arm, more)


def _arguments(launch: Launch, report: Mapping[str, Any] | None) -> Arguments:
    return arguments_part(
        asked=launch.recipe.server,
        command=launch.recipe.launch,
        reported=report,
        salt=launch.context.session.salt,
        log=logs.tail(launch.log).decode(errors="replace"),
    )
