"""Recipes: how an item is launched and benchmarked. Keys, defaults, units, messages and JSON Schema, all in one place.

A block of a plan is a layer, which need not be whole (`layer_faults`); laid over one another, layers make a recipe
(`recipe_from`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema, model_validator

from optrack.model.recipe_parts import (
    Bench,
    Check,
    LaunchRange,
    MetricRule,
    Ready,
    ServerProcess,
    Timeouts,
    benches,
    expected_of,
    gpus_of,
    launches_of,
    variables_of,
    warmups,
    with_stop_command,
)
from optrack.model.value import Frozen
from optrack.model.written import (
    Argument,
    Expression,
    Fault,
    Path,
    Shell,
    Size,
    Text,
    Written,
    faults_of,
    map_of,
    one_of,
    several,
    whole,
)

_MAP = BeforeValidator(map_of)
_LIST = WithJsonSchema({"type": ["string", "array"]})
_SEVERAL = (BeforeValidator(several), _LIST)
_ITEMS = (BeforeValidator(lambda value: several(value, "an item's id")), _LIST)
_BENCH_SCHEMA = WithJsonSchema({"type": ["string", "object"]})
_STOP_SCHEMA = WithJsonSchema({"type": "string"})
_EnvValue = Text | None


class Recipe(Written):
    """A resolved recipe. In `env` a None unsets an inherited variable; all values are text as written."""

    @model_validator(mode="before")
    @classmethod
    def _stop_is_a_command(cls, value: Any) -> Any:
        return with_stop_command(value)

    engine: Text = Field(default="command", description="sglang, vllm or command (the default)")
    env: Annotated[Mapping[str, _EnvValue], BeforeValidator(variables_of)] = Field(
        default_factory=dict,
        description="environment variables for every step; null unsets an inherited one",
    )
    server: Annotated[Mapping[str, Argument], _MAP] = Field(
        default_factory=dict, description="the engine's arguments by name"
    )
    launch: Shell | None = Field(default=None, description="shell text that starts the server")
    cwd: Text | None = Field(default=None, description="where commands run, from the project folder")
    repo: Text | None = Field(default=None, description="the git repository that `patch` applies to")
    patch: Annotated[tuple[str, ...], *_SEVERAL] = Field(
        default=(), description="applied in a git worktree of `repo`, never in the user's tree"
    )
    setup: Shell | None = Field(default=None, description="shell text before the launch, e.g. a build")
    port: Annotated[int, whole(1, 65535)] | None = Field(default=None, json_schema_extra={"minimum": 1})
    ready: Ready = Field(
        default=Ready(), description="when the server counts as ready: each given condition holds"
    )
    bench: Annotated[tuple[Bench, ...], BeforeValidator(benches), _BENCH_SCHEMA] = Field(
        default=(), description="shell text, a tool with arguments by name, or several of these by name"
    )
    warmup: Annotated[
        tuple[Bench, ...],
        BeforeValidator(warmups),
        WithJsonSchema({"type": ["integer", "boolean", "string", "object"]}),
    ] = Field(
        default=(),
        description="a count of uncounted passes of the benchmark, or a benchmark of its own",
    )
    metrics: Annotated[Mapping[str, MetricRule], _MAP] = Field(
        default_factory=dict, description="metrics beside those that the tool's parser gives"
    )
    derived: Annotated[Mapping[str, Expression], _MAP] = Field(
        default_factory=dict, description="metrics computed from others, by expression"
    )
    check: Annotated[Mapping[str, Check], _MAP] = Field(
        default_factory=dict, description="what must still hold: a faster wrong server is a regression"
    )
    launches: Annotated[int | LaunchRange, BeforeValidator(launches_of)] = Field(
        default=1,
        description="starts of the server in a run: a count, or `{min, max}` between which the evidence decides",
    )
    repetitions: Annotated[int, whole(1, 10000)] = Field(
        default=1, description="benchmark passes in a launch", json_schema_extra={"minimum": 1}
    )
    order: Annotated[Literal["interleaved", "rounds", "block"], one_of("interleaved", "rounds", "block")] = (
        Field(
            default="interleaved",
            description="pairs with the baseline, rounds with it and neighbouring items, or one block after the other",
        )
    )
    stop: Annotated[Literal["fixed", "sequential"], one_of("fixed", "sequential"), _STOP_SCHEMA] = Field(
        default="fixed",
        description="whether the number of launches is fixed or follows the evidence; or the command that ends a "
        "server which `process` finds",
    )
    stop_command: Shell | None = Field(
        default=None, description="what ends a server that `process` finds, where `stop` says something else"
    )
    process: ServerProcess | None = Field(
        default=None,
        description="how the server's process is found where the launch hands it to a daemon; without `launch`, a "
        "server that runs already, which is left running",
    )
    timeout: Timeouts = Field(default=Timeouts(), description="limits by stage")
    expect: Annotated[Mapping[str, Mapping[str, _EnvValue]], BeforeValidator(expected_of)] = Field(
        default_factory=dict, description="what must be found in the launched processes"
    )
    watch: Annotated[tuple[str, ...], *_SEVERAL] = Field(
        default=(), description="files whose content is part of the snapshot"
    )
    combine: Annotated[tuple[str, ...], *_ITEMS] = Field(
        default=(), description="items whose treatments are merged where they were an improvement"
    )
    factor: Text | None = Field(
        default=None, description="one name for all that the treatment changes together"
    )
    subject: Annotated[Literal["workload"], one_of("workload")] | None = Field(
        default=None,
        description="`workload` where the item tries other work: else one that changes `bench`, or how the primary "
        "metric is read, gets no verdict",
    )
    gpus: (
        Annotated[
            str | int | tuple[int, ...],
            BeforeValidator(gpus_of),
            WithJsonSchema(
                {"anyOf": [{"const": "all"}, {"type": "integer", "minimum": 0}, {"type": "array"}]}
            ),
        ]
        | None
    ) = Field(default=None, description="the GPUs to run on: `all`, a count, or a list of their numbers")
    log_limit_bytes: Size = Field(
        default=20 * 2**30, alias="log_limit", description="the size at which the server's log is cut off"
    )

    @property
    def runs_already(self) -> bool:
        """Whether the server runs already, and is left running."""
        return self.process is not None and not self.launch and not self.server


_INNER: dict[str, type[Frozen]] = {
    "ready": Ready,
    "metrics": MetricRule,
    "check": Check,
    "timeout": Timeouts,
    "process": ServerProcess,
}
_AS_TEXT = frozenset(
    (
        "env",
        "combine",
        "stop_command",
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
)


class RecipeError(ValueError):
    """Resolved data that makes no recipe: the path of keys at fault, and what to do."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.path = fault.path
        self.message = fault.message
        self.hint = fault.hint


def recipe_from(data: Mapping[str, Any]) -> Recipe:
    """Return the recipe that resolved plain data describes; RecipeError for what doesn't fit."""
    try:
        return Recipe.model_validate(data, by_alias=True, by_name=False)
    except ValidationError as error:
        raise RecipeError(faults_of(error, _INNER, Recipe)[0]) from None


def layer_faults(data: Any) -> list[Fault]:
    """Return what doesn't fit in one recipe block, which need not make a whole recipe."""
    try:
        Recipe.model_validate(data, by_alias=True, by_name=False, context={"layer": True})
    except ValidationError as error:
        return faults_of(error, _INNER, Recipe)
    return []


def stays_text(path: Path) -> bool:
    """Whether the recipe's value at this path of keys is text as written, whatever it looks like."""
    return bool(path) and path[0] in _AS_TEXT


def recipe_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a recipe block, for editors; each key may be null."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_nullable(Recipe.model_json_schema(by_alias=True)),
        "title": "optrack recipe",
        "description": "How an item is launched and benchmarked; laid over its parent's recipe key by key.",
    }


def _nullable(schema: Any) -> Any:
    """The schema with null allowed wherever a key has a value, without titles and defaults."""
    if isinstance(schema, list):
        return [_nullable(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: _nullable(entry) for key, entry in schema.items() if key not in ("title", "default")}
    for keys in ("properties", "additionalProperties"):
        if isinstance(schema.get(keys), dict):
            plain[keys] = dict(_each(schema[keys])) if keys == "properties" else _or_null(schema[keys])
    return plain


def _each(properties: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, entry in properties.items():
        yield key, _or_null(entry)


def _or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    plain = _nullable(dict(schema))
    if {"type": "null"} in plain.get("anyOf", ()):
        return dict(plain)
    about = {key: plain.pop(key) for key in ("description",) if key in plain}
    return {**about, "anyOf": [*plain.pop("anyOf", ()), *([plain] if plain else ()), {"type": "null"}]}
