"""One page that tells an agent the plan, what stands where, what it may do next and how."""

from __future__ import annotations

COMMANDS: tuple[tuple[str, str], ...] = (
    ("optrack next --json", "run the next item in the foreground and judge it; --detach returns at once"),
    (
        "optrack next --explain --json",
        "why this item is next and what every other one waits for; runs nothing",
    ),
    ("optrack next --dry-run --json", "the exact environment and commands; runs nothing"),
    ("optrack run ITEM --json", "run one item, whatever its rank"),
    ("optrack attach RUN --json", "wait for a detached run and get its result"),
    ("optrack stop RUN", "end a run with its teardown"),
    ("optrack status --json", "where every item stands"),
    ("optrack show ITEM|RUN --json", "an item with runs and judgement, or a run with everything captured"),
    ("optrack compare A B --json", "two items or runs: differences, statistics, verdict"),
    ("optrack failures --json", "failures by fingerprint: what was met before"),
    ("optrack log RUN", "the server's log of a run"),
    ("optrack note ITEM TEXT", "leave a remark for whoever comes next"),
    ("optrack add TITLE --recipe YAML", "add an item beside the plan's text; --write appends it to the file"),
    ("optrack mark ITEM STATUS --why TEXT", "set a status by hand; it is labelled as such everywhere"),
    ("optrack export -o FILE", "the progress log"),
    ("optrack watch --json", "transitions and ends of runs as they happen, a JSON line each"),
    ("optrack schema NAME", "the JSON Schema of a command's answer"),
)
EXIT_CODES: tuple[tuple[int, str], ...] = (
    (0, "done; a run was recorded and succeeded"),
    (1, "the run was recorded and its outcome isn't `succeeded`: a result, not a fault of the tool"),
    (2, "usage, plan or settings error; nothing ran"),
    (3, "nothing to run: all done, or all blocked"),
    (4, "the host isn't fit to measure on; nothing ran; try again later or with --wait"),
    (130, "interrupted; torn down and recorded"),
)
RULES: tuple[str, ...] = (
    "A verdict comes from measured runs alone: no command sets one. `mark` sets a status, and says by hand.",
    "A comparison that isn't fair gives no improvement; `show ITEM` names the differences in the way.",
    "`inconclusive` means that the evidence can't tell; `launches_needed` says how many launches would.",
    "A failed run is a result: its fingerprint, stage and the line that matters are recorded.",
    "One run at a time on a host. Don't kill processes by name or port: `optrack stop RUN` ends a run.",
    "optrack never changes the plan's file, except for `add --write`. Edit the plan and it is read again.",
    "Set OPTRACK_ACTOR to your name: every transition records who made it.",
)
