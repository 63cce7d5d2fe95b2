"""What a recipe and a plan's front matter may hold: each key's shape, and the recipe's JSON Schema."""

from __future__ import annotations

from typing import Any

from optrack.model.shape import (
    Duration,
    Fraction,
    JsonPath,
    Number,
    OneOf,
    Pattern,
    Scalar,
    Shape,
    Size,
    Text,
    Whole,
)
from optrack.model.shape_maps import ByType, Fields, MapOf, Several
from optrack.model.snapshot import PARTS

_TEXT = Text()
_SHELL = Text("shell text")
_ARGUMENT = ByType(Scalar("a value"), MapOf(Scalar("a value")), Several(Scalar("a value")))
_BETTER = OneOf(("higher", "lower"))
_BENCH = ByType(_SHELL, MapOf(ByType(Scalar("a value"), MapOf(_ARGUMENT), Several(Scalar("a value")))))

METRIC_RULE = Fields(
    {
        "regex": Pattern(),
        "json": JsonPath("text"),
        "csv": _TEXT,
        "log": Pattern(),
        "file": _TEXT,
        "unit": _TEXT,
        "better": _BETTER,
    },
    {
        "regex": "found in the benchmark's output",
        "json": "a JMESPath into the benchmark's JSON",
        "csv": "a column of the benchmark's CSV",
        "log": "found in the server's log",
        "file": "where to look instead of the benchmark's output",
    },
)
CHECK = Fields(
    {
        "command": _SHELL,
        "metric": _TEXT,
        "min": Number(),
        "max": Number(),
        "worse": Fraction(),
    },
    {"worse": "how much worse than the baseline's the metric may be"},
)
READY = Fields(
    {
        "http": _TEXT,
        "tcp": Scalar("a port or true"),
        "log": Pattern(),
        "command": _SHELL,
        "timeout": Duration(),
        "silence": Duration(),
    },
    {"http": "a path or URL that must answer", "silence": "give up after this long without output"},
)
TIMEOUT = Fields({name: Duration() for name in ("setup", "bench", "check", "teardown", "grace")})

RECIPE = Fields(
    {
        "engine": _TEXT,
        "env": MapOf(_TEXT),
        "server": MapOf(_ARGUMENT),
        "launch": _SHELL,
        "cwd": _TEXT,
        "repo": _TEXT,
        "patch": Several(_TEXT),
        "setup": _SHELL,
        "port": Whole(1, 65535),
        "ready": READY,
        "warmup": ByType(Scalar("a count, shell text or a map"), _BENCH),
        "bench": _BENCH,
        "metrics": MapOf(METRIC_RULE),
        "derived": MapOf(Text("an expression")),
        "check": MapOf(CHECK),
        "launches": Whole(1, 1000),
        "repetitions": Whole(1, 10000),
        "order": OneOf(("interleaved", "block")),
        "stop": OneOf(("fixed", "sequential")),
        "timeout": TIMEOUT,
        "expect": MapOf(MapOf(_TEXT), names=PARTS),
        "watch": Several(_TEXT),
        "combine": Several(Text("an item's id")),
        "factor": _TEXT,
        "gpus": ByType(Scalar("`all`, a count or a list"), Fields({}), Several(Whole(0))),
        "log_limit": Size(),
    },
    {
        "engine": "sglang, vllm or command (the default)",
        "env": "environment variables for every step; null unsets an inherited one",
        "server": "the engine's arguments by name",
        "launch": "shell text that starts the server",
        "cwd": "where commands run, from the project folder",
        "repo": "the git repository that `patch` applies to",
        "patch": "applied in a git worktree of `repo`, never in the user's tree",
        "setup": "shell text before the launch, e.g. a build",
        "ready": "when the server counts as ready: each given condition holds",
        "warmup": "a count of uncounted passes of the benchmark, or a benchmark of its own",
        "bench": "shell text, a tool with arguments by name, or several of these by name",
        "metrics": "metrics beside those that the tool's parser gives",
        "derived": "metrics computed from others, by expression",
        "check": "what must still hold: a faster wrong server is a regression",
        "launches": "starts of the server in a run",
        "repetitions": "benchmark passes in a launch",
        "order": "whether launches alternate with the baseline's",
        "stop": "whether the number of launches is fixed or follows the evidence",
        "timeout": "limits by stage",
        "expect": "what must be found in the launched processes",
        "watch": "files whose content is part of the snapshot",
        "combine": "items whose treatments are merged where they were an improvement",
        "factor": "one name for all that the treatment changes together",
        "gpus": "the GPUs to run on",
        "log_limit": "the size at which the server's log is cut off",
    },
)
FRONT_MATTER = Fields(
    {
        "title": _TEXT,
        "metric": ByType(_TEXT, Fields({"name": _TEXT, "unit": _TEXT, "better": _BETTER})),
        "target": _TEXT,
        "min_effect": Fraction(),
        "baseline": Text("an item's id"),
        "adopt": OneOf(("manual", "auto")),
    }
)
_AS_TEXT = (
    "env",
    "combine",
    "watch",
    "patch",
    "launch",
    "setup",
    "cwd",
    "repo",
    "factor",
    "derived",
    "expect",
)


def stays_text(path: tuple[str, ...]) -> bool:
    """Whether the recipe's value at this path of keys is text as written, whatever it looks like."""
    return path[0] in _AS_TEXT if path else False


def shape_at(path: tuple[str, ...]) -> Shape | None:
    """Return the shape of the top-level recipe key that `path` starts with, or None."""
    return RECIPE.keys.get(path[0]) if path else None


def recipe_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a recipe block, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "optrack recipe",
        "description": "How an item is launched and benchmarked; laid over its parent's recipe key by key.",
        **RECIPE.json(),
        "type": "object",
    }
