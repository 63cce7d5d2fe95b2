"""Captures of a launch, its code, and the session's journal."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optrack.engines.protocol import Place
from optrack.host import logs
from optrack.host import proc as sockets
from optrack.host.capture import CodeCapture, capture_host, capture_running, capture_seen, merge
from optrack.host.environment import with_later
from optrack.host.launch import StageFailed
from optrack.host.patching import repository_of
from optrack.host.process_tree import Sightings
from optrack.host.tree import Tree
from optrack.judge.applied import arguments_part, rewritten_arguments
from optrack.judge.difference import differences
from optrack.judge.failures import plain_failure
from optrack.judge.unseen import unread_sentences
from optrack.model.run import ProcessId
from optrack.model.snapshot import Arguments, Environment, Snapshot
from optrack.runner.journal import Journal
from optrack.runner.session import Session, Side

if TYPE_CHECKING:
    from optrack.store.write import Store
from collections.abc import Callable

from optrack.host.patching import CopyError, CopyStoppedError, PatchError, patched_copy

BEFORE_S = 1.2
"""So long a launch waits for the capture of the code."""

CODE_S = 60.0
"""So long the first benchmark pass does: longer than that capture takes."""


class Capturing:
    """The captures of the launch number `number` of one side; the first launch's are the run's snapshot."""

    def __init__(self, session: Session, side: Side, number: int, store: Store, journal: Journal) -> None:
        self.session, self.side, self.number = session, side, number
        self.is_first = number == session.first
        self.store, self.journal = store, journal
        self.seen = Sightings()
        self.code: CodeCapture | None = None

    def before(self, env: Mapping[str, str]) -> None:
        """Capture what can be known before anything runs: code, the environment passed on, hardware."""
        project, recipe = self.session.settings.project, self.side.recipe
        until = time.monotonic() + BEFORE_S
        self.code = CodeCapture(
            project=project,
            repo=self.side.repo,
            copied_from=repository_of(recipe, project) if recipe.patch else None,
            watch=[project / path for path in (*recipe.watch, *recipe.patch)],
            salt=self.session.salt,
        )
        self.keep(
            capture_host(env=env, recipe_env=recipe.env, salt=self.session.salt, names=self.session.variables)
        )
        self.take_code(until - time.monotonic())

    def take_code(self, within_s: float = CODE_S) -> None:
        """Keep what was captured of the code; it may be still at it while the server starts."""
        if self.code is None:
            return
        found = self.code.result(max(0.0, within_s))
        if found is None:
            return
        self.code = None
        self.keep(found)
        for sentence in unread_sentences(found):
            self.journal.note(sentence)

    def appeared(self, process: ProcessId) -> None:
        """Look at a new process of the server, and again at those before it, while they live."""
        self.seen.look(process.pid)

    def running(self, server: Tree, place: Place, log: Path) -> None:
        """Capture what the server's processes really have, and what the server says of itself."""
        pids = [process.pid for process in server.track()]
        found = capture_running(
            pids,
            leader=server.leader.pid,
            recipe_env=self.side.recipe.env,
            salt=self.session.salt,
            names=self.session.variables,
            holders=sockets.holders(place.port, pids),
        )
        report = self.side.engine.report(self.side.recipe, place)
        if report is not None and report.get("ours") is False:
            why = "the server that answers isn't the one that this run started"
            raise StageFailed("ready", "failed", plain_failure("not_ready", why))
        found = found.model_copy(update={"arguments": self._arguments(report, log)})
        if self.is_first:
            self.keep(found)
            for sentence in rewritten_arguments(found):
                self.store.note_run(self.side.run.id, sentence)
        else:
            self.compare(found)

    def failed_start(self, log: Path) -> None:
        """Keep what was seen of the processes of a server that never got ready.

        A shell that had not come to start the server yet shows nothing of the server's environment.
        """
        found = capture_seen(
            self.seen.members,
            recipe_env=self.side.recipe.env,
            salt=self.session.salt,
            names=self.session.variables,
        )
        env = found.env or Environment()
        if not self.is_first:
            first = (self.side.snapshot or Snapshot()).env or Environment()
            if env.program is not None and env.program == first.program:
                self.compare(Snapshot(env=env))
            return
        told = env if env.witness != "shell" else Environment(witness="unknown")
        self.keep(found.model_copy(update={"env": told, "arguments": self._arguments(None, log)}))

    def compare(self, found: Snapshot) -> None:
        """Say what the processes of a later launch have otherwise than those of the first, and keep which of the
        variables differ: what only some of a run's launches had isn't what the run had."""
        first = self.side.snapshot or Snapshot()
        names = []
        for difference in differences(merge(first, found), first, declared={}):
            if difference.severity == "blocking" and difference.cls == "unexplained":
                meaning = difference.meaning.replace("the baseline's", "the first launch's")
                meaning = meaning.replace("the candidate's", "this one's")
                self.journal.note(f"launch {self.number + 1} differs from the first: {meaning}")
                if difference.field.startswith("env.server."):
                    names.append(difference.field.removeprefix("env.server."))
        before, now = [env.server if env else None for env in (first.env, found.env)]
        if names and before is not None and now is not None:
            self.keep(Snapshot(env=Environment(server=with_later(before, now, names))))

    def keep(self, found: Snapshot) -> None:
        """Add to the run's snapshot what was captured now, and record it."""
        self.side.snapshot = found if self.side.snapshot is None else merge(self.side.snapshot, found)
        self.store.put_snapshot(self.side.run.id, self.side.snapshot)

    def _arguments(self, report: Mapping[str, Any] | None, log: Path) -> Arguments:
        return arguments_part(
            asked=self.side.recipe.server,
            command=self.side.recipe.launch,
            reported=report,
            salt=self.session.salt,
            log=logs.tail(log).decode(errors="replace"),
        )


def code_of(side: Side, project: Path, should_stop: Callable[[], bool]) -> Path | None:
    """Return the folder of the server's code, patched where the recipe says so; None where the recipe names none.

    Raises StageFailed (`preflight`): `failed` where a patch doesn't apply, which is the item's fault, and
    `interrupted` where there is nothing to patch or the host doesn't let it be copied.
    """
    recipe = side.recipe
    source = repository_of(recipe, project)
    if source is not None and not source.is_dir():
        why = plain_failure("not_copied", f"there is no folder {source}, which `repo` names")
        raise StageFailed("preflight", "interrupted", why)
    if source is None or not recipe.patch:
        return source
    patches = [project / patch for patch in recipe.patch]
    try:
        return patched_copy(source, patches, side.folder / "repo", should_stop)
    except PatchError as error:
        raise StageFailed("preflight", "failed", plain_failure("patch", str(error))) from error
    except CopyError as error:
        kind = "disk_full" if error.is_full else "not_copied"
        raise StageFailed("preflight", "interrupted", plain_failure(kind, str(error))) from error
    except CopyStoppedError as error:
        why = plain_failure("interrupted", "stopped on request")
        raise StageFailed("preflight", "interrupted", why) from error
