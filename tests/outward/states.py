"""The states that projects are brought to, each by its files and by the steps that a user would take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.outward import plans
from tests.outward.plans import BLOCKS, FASTER, PLAN, project
from tests.outward.programs import FRONT, RECIPE, item, plan
from tests.outward.steps import Edit, Shell, Step, StopAt, do

SHARED = do("accept", "load", "--why", "this host is shared")
NO_REPOSITORY = do("accept", "git.project", "--why", "nobody edits here")
GIT = Shell(
    "printf '.optrack\\nnotified.jsonl\\nhome\\n' > .gitignore; git init -q -b main . && git add -A && "
    "GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' "
    "git -c user.name=ada -c user.email=ada@example.org commit -q -m before"
)


@dataclass(frozen=True)
class State:
    """A project's files, the steps that bring it where it is, and the commands that alter it, each from there."""

    name: str
    files: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    acts: tuple[Step, ...] = ()
    agent: bool = False
    details: int = 99
    """Of how many items and runs every question is asked."""


def _decided(*items: str, recipe: str = RECIPE, front: str = FRONT) -> dict[str, str]:
    return project(plan(*items, recipe=recipe, front=front))


_HAND_ACTS: tuple[Step, ...] = (
    do("mark", "1", "completed", "--why", "read on paper"),
    do("mark", "1", "completed", "--why", "read on paper", "--json"),
    do("mark", "1", "cancelled", "--why", " "),
    do("mark", "1", "blocked", "--why", "x"),
    do("mark", "1Z", "completed", "--why", "x"),
    do("mark", "1Z", "completed", "--why", "x", "--json"),
    do("note", "1", "try *again*\nafter the upgrade"),
    do("note", "1", "again", "--json"),
    do("note", "1", " "),
    do("accept", "nothing.like.it", "--why", "x"),
    do("accept", "env.A", "--why", "no matter", "--item", "1"),
    do("accept", "env.A", "--why", "no matter", "--json"),
    do("add", "Another"),
    do("add", "Another", "--json", "--recipe", "env: {SPEED: 200}", "--gain", "5-10 ms", "--needs", "1"),
    do("add", "Another", "--id", "77", "--hypothesis", "why not", "--effort", "1 hour", "--write"),
    do("add", "Another", "--id", "1"),
    do("add", "Another", "--recipe", "lauch: x"),
    do("add", "--from", "-", stdin='{"title": "From JSON", "id": "J1", "risk": "low"}'),
    do("todo", "import", "-", stdin='[{"content": "New one", "status": "pending", "priority": "high", "id": "n"}]'),
    do(
        "todo", "import", "--dry-run", "-", "--json",
        stdin='[{"content": "x", "status": "completed", "priority": "low", "id": "1"}]',
    ),
    do("todo", "import", "-", stdin="{"),
    do("use", "plan"),
    do("use", "nothing", "--json"),
    do("stop", "nothing"),
    do("attach"),
    do("attach", "--json"),
)  # fmt: skip

_RUN_ACTS: tuple[Step, ...] = (
    do("adopt", "1A", "--why", "it gained"),
    do("adopt", "1A", "--json"),
    do("adopt", "1B"),
    do("adopt", "1B", "--anyway", "--why", "needed all the same"),
    do("adopt", "--undo"),
    do("adopt", "baseline"),
    do("ablate", "4"),
    do("ablate", "4", "--json"),
    do("ablate", "1A"),
    do("audit"),
    do("audit", "--json"),
    do("audit", "--baseline", "@baseline/2", "--why", "another job ran"),
    do("audit", "--baseline", "@baseline/2", "--why", "another job ran", "--json"),
    do("audit", "--baseline", "@1A", "--why", "x"),
    do("stop", "@1A"),
    do("attach", "@1A"),
    do("export", "-o", "log.md"),
    do("export", "-o", "log.html"),
    do("export", "--update", "doc.md"),
    do("export", "--format", "mlflow"),
    do("replay", "@1A", "-o", "replay.sh"),
    do("report", "1A", "-o", "report.html"),
)


STATES: tuple[State, ...] = (
    State("bare", acts=(do("plan", "new", "plans/new.md"), do("plan", "new", "plans/n.md", "--json"))),
    State("empty", {**project("# A plan\n\nNothing yet.\n")}, acts=_HAND_ACTS[:4]),
    State("unreadable", {**project("---\ntitle: [\n---\n"), "optrack.toml": "cpu_shere = 1\n"}),
    State(
        "tracker",
        project(plans.TRACKER),
        (
            do("status"),
            do("mark", "1b", "completed", "--why", "done"),
            do("mark", "1B", "completed", "--why", "done by eye"),
            do("note", "1B", "a remark"),
            Edit(PLAN, "- [ ] Profile the server", "- [ ] Profile the client"),
            do("todo", "import", "-", stdin='[{"content": "From outside", "status": "in_progress", "id": "o"}]'),
        ),
        acts=_HAND_ACTS,
    ),
    State("errors", project(plans.ERRORS), (do("next"), do("next", "--json"), do("run", "1"))),
    State("waiting", project(plans.KINDS), details=6),
    State(
        "kinds",
        project(plans.KINDS),
        (
            NO_REPOSITORY,
            SHARED,
            do("next"),
            do("run", "1A", "1B", "--json"),
            do("run", "2"),
            do("next", "--by", "value"),
            do("run", "3"),
            do("run", "4"),
            do("run", "5"),
            do("run", "6", "--json"),
            do("mark", "9", "completed", "--why", "read on paper"),
            do("note", "1A", "try again after the upgrade"),
            do("run", "1Z"),
        ),
        acts=(*_RUN_ACTS, *_HAND_ACTS),
        agent=True,
    ),
    State("all", project(plans.KINDS), (NO_REPOSITORY, SHARED, do("next", "--all"), do("next"), do("next", "--json")), details=2),
    State("failing", project(plans.FAILING), (*(do("run", str(n)) for n in range(1, 10)), do("run", "9", "--json"))),
    State(
        "guards",
        project(plans.GUARDS),
        (GIT, do("next"), do("run", "1", "2", "3")),
        acts=(do("adopt", "2"), do("audit")),
        agent=True,
    ),
    State(
        "stopped",
        _decided(item("1", "Slow", "bench: 'sleep 60; echo score = 5'"), FASTER.replace("1: F", "2: F")),
        (
            do("run", "baseline"),
            StopAt(("run", "1"), "bench.log"),
            StopAt(("run", "1", "--json"), "bench.log"),
            StopAt(("run", "1"), "bench.log", dies=True),
            do("status"),
            do("run", "2", "--resume"),
        ),
    ),
    State(
        "unfair",
        _decided(FASTER, item("2", "Protocol", "env: {SPEED: 110}"), recipe=BLOCKS),
        (
            SHARED,
            do("next", NCCL_PROTO="LL", NCCL_ALGO="Ring"),
            do("next"),
            do("accept", "env.NCCL_ALGO", "--why", "it is the default"),
            do("next"),
        ),
        acts=(do("adopt", "1"), do("audit", "--baseline", "@baseline", "--why", "lost"), do("run", "1")),
    ),
    State(
        "unknown",
        _decided(FASTER, item("2", "More", "env: {SPEED: 110}"), recipe=BLOCKS),
        (SHARED, do("next"), do("next"), do("next")),
        acts=(do("adopt", "1"), do("adopt", "1", "--anyway", "--why", "x"), NO_REPOSITORY),
    ),
    State(
        "adopted",
        _decided(
            FASTER, item("2", "Slower", "env: {OTHER: x}"), item("3", "More", "env: {SPEED: 160}"),
            item("4", "Left", "env: {B: c}"),
        ),
        (
            NO_REPOSITORY, SHARED, do("next"), do("next"), do("adopt", "1", "--why", "it gained"), do("next"),
            do("adopt", "2", "--anyway", "--why", "needed"), do("adopt", "--undo"), do("run", "3"), do("adopt", "3"),
        ),
        acts=(do("adopt", "--undo"), do("audit"), do("audit", "--baseline", "@baseline/2", "--why", "x"), do("next")),
    ),
    State(
        "automatic",
        _decided(FASTER, item("2", "More", "env: {SPEED: 160}"), front=FRONT.replace("2%", "2%\nadopt: auto")),
        (NO_REPOSITORY, SHARED, do("next", "--all", "--json")),
    ),
    State(
        "rejected",
        _decided(FASTER, item("2", "More", "env: {SPEED: 110}"), recipe=BLOCKS),
        (
            NO_REPOSITORY, SHARED, do("next"), do("next"), do("next"),
            do("audit", "--baseline", "@baseline", "--why", "another job ran"), do("next"), do("next"),
        ),
        acts=(do("audit"), do("audit", "--baseline", "@baseline", "--why", "again")),
    ),
    State(
        "ablated",
        _decided(item("1", "Both", "env: {SPEED: 130, OTHER: x}"), item("2", "Three", "env: {A: 1, B: 2, C: 3}")),
        (NO_REPOSITORY, SHARED, do("next"), do("next"), do("ablate", "1"), do("run", "2"), do("next", "--all")),
        acts=(do("ablate", "2"),),
    ),
    State(
        "stale",
        project(plans.KINDS),
        (
            do("next"), do("run", "1A", "1B"),
            Edit(PLAN, "env: {SPEED: 140}", "env: {SPEED: 145}"),
            Edit(PLAN, "### 1B: Slower", "### 1X: Slower"),
            Edit(PLAN, "9: By hand", "9: By another hand"),
            do("status"), do("add", "Beside", "--id", "X9", "--recipe", "env: {SPEED: 99}"), do("run", "X9"),
        ),
        acts=(do("next"), do("audit")),
    ),
    State(
        "several",
        {**_decided(FASTER), "plans/other.md": plan(item("1", "Fails", "bench: exit 3"), item("2", "Other"))},
        (do("status"), do("use", "other"), do("run", "1"), do("use", "plan"), do("run", "1"), do("run", "1", "--plan", "plans/other.md")),
        acts=(do("use", "other"), do("status", "--plan", "plans/other.md"), do("runs", "--plan", "plans/nothing.md")),
    ),
    State(
        "imported",
        {**_decided(FASTER, item("2", "By tool", "metrics: null\nbench: echo")), **plans.SWEEP, "sglang.jsonl": plans.SGLANG},
        (
            do("import", "results/a.txt", "results/b.txt", "--item", "1", "--launch-each", "--json"),
            do("import", "results/c.txt", "--item", "baseline"),
            do("import", "sglang.jsonl", "--item", "2"),
            do("import", "results/nothing.txt", "--item", "1"),
            do("import", "results/none.txt", "--item", "1", "--json"),
        ),
        acts=(
            do("parse", "sglang.jsonl"), do("parse", "sglang.jsonl", "--json"), do("parse", "results/a.txt"),
            do("parse", "results/a.txt", "--item", "1", "--json"), do("parse", "sglang.jsonl", "--tool", "none"),
            do("import", "results", "--item", "1"), do("import", "results", "--json"),
        ),
    ),
    State("engines", project(plans.ENGINES), (do("status"), do("run", "1", "--dry-run")), agent=True),
    State("shipped", plans.shipped(), (do("use", "quickstart"),), details=3),
)  # fmt: skip
