"""The parts of a recipe: readiness, benchmarks, metric rules, checks and time limits, and what each may look like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from optrack.model.metrics import Better
from optrack.model.snapshot import PARTS
from optrack.model.text import shown
from optrack.model.value import Frozen
from optrack.model.written import (
    Argument,
    Fraction,
    JsonPath,
    Number,
    Path,
    Pattern,
    Seconds,
    Shell,
    Text,
    Written,
    argument,
    map_of,
    one_of,
    text,
    unknown_key,
    wrong,
)


def _in_layer(info: ValidationInfo) -> bool:
    return bool(info.context)


class Ready(Written):
    """When the server counts as ready: each given condition holds. `tcp` True means the server's own port."""

    http: Text | None = Field(default=None, description="a path or URL that must answer")
    tcp: Annotated[int | bool, BeforeValidator(lambda value: _port_or_true(value))] | None = Field(
        default=None, description="a port that must be open, or true for the server's own"
    )
    log: Pattern | None = Field(
        default=None, description="a regular expression that the server's log must match"
    )
    command: Shell | None = Field(default=None, description="shell text that must exit 0")
    timeout_s: Seconds = Field(default=1200.0, alias="timeout")
    silence_s: Seconds | None = Field(
        default=None, alias="silence", description="give up after this long without output"
    )


def _port_or_true(value: Any) -> int:
    if isinstance(value, int) and 0 <= value <= 65535:
        return value
    raise wrong("must be a port or true", "write `tcp: true` for the server's own port")


class ServerProcess(Written):
    """How a server's process is found that isn't below its launch's command: by one of these."""

    port: Annotated[int | bool, BeforeValidator(lambda value: _port_or_true(value))] | None = Field(
        default=None, description="the port that it listens on, or true for the launch's own"
    )
    pid: int | Text | None = Field(default=None, description="its number, or the file that has it")
    command: Shell | None = Field(default=None, description="shell text that prints its number")

    @model_validator(mode="after")
    def _one_way(self, info: ValidationInfo) -> Self:
        given = [key for key in ("port", "pid", "command") if getattr(self, key) is not None]
        if len(given) != 1 and not _in_layer(info):
            raise wrong("needs one of `port`, `pid` and `command`", "say how the server's process is found")
        return self


STOP_RULES = ("fixed", "sequential")


def stop_rule(recipe: Mapping[str, Any], default: str) -> str:
    """Return the rule by which a resolved recipe's launches stop; its `stop` may be a command instead."""
    return str(recipe["stop"]) if recipe.get("stop") in STOP_RULES else default


def with_stop_command(recipe: Any) -> Any:
    """Return recipe data whose `stop`, where it is no rule, stands under `stop_command`; a bare word is neither."""
    stop = recipe.get("stop") if isinstance(recipe, Mapping) else None
    if not isinstance(stop, str) or stop in STOP_RULES or " " not in stop.strip():
        return recipe
    rest = {key: value for key, value in recipe.items() if key != "stop"}
    return {**rest, "stop_command": rest.get("stop_command") or stop}


class Bench(Frozen):
    """One benchmark: a known tool with arguments by name, or shell text; `parser` reads its output."""

    name: str = "bench"
    tool: str | None = None
    command: str | None = None
    args: Mapping[str, Argument] = Field(default_factory=dict)
    parser: str = "auto"
    output: str | None = None


class MetricRule(Written):
    """A metric beside those of the tool's parser: where it is found, and its direction."""

    regex: Pattern | None = Field(default=None, description="found in the benchmark's output")
    json_path: JsonPath | None = Field(
        default=None, alias="json", description="a JMESPath into the benchmark's JSON"
    )
    csv: Text | None = Field(default=None, description="a column of the benchmark's CSV")
    log: Pattern | None = Field(default=None, description="found in the server's log")
    unit: Text = ""
    better: Annotated[Better, one_of("higher", "lower")] | None = None
    file: Text | None = Field(default=None, description="where to look instead of the benchmark's output")

    @model_validator(mode="after")
    def _one_source(self, info: ValidationInfo) -> Self:
        given = {"regex": self.regex, "json": self.json_path, "csv": self.csv, "log": self.log}
        sources = [key for key, value in given.items() if value is not None]
        if len(sources) > 1 and not _in_layer(info):
            raise wrong(
                f"is read from both `{sources[0]}` and `{sources[1]}`", "keep one", below=(sources[1],)
            )
        return self


class Check(Written):
    """A guard: a command whose number must lie within bounds, or a metric with a bound on how much worse."""

    command: Shell | None = None
    metric: Text | None = None
    min: Number | None = None
    max: Number | None = None
    worse: Fraction | None = Field(
        default=None, description="how much worse than the baseline's the metric may be"
    )

    @model_validator(mode="after")
    def _one_source(self, info: ValidationInfo) -> Self:
        if (self.command is None) == (self.metric is None) and not _in_layer(info):
            raise wrong("needs either `command` or `metric`", "say where its number comes from")
        return self


class Timeouts(Written):
    """Limits per stage, in seconds."""

    setup_s: Seconds = Field(default=1800.0, alias="setup")
    bench_s: Seconds = Field(default=1800.0, alias="bench")
    check_s: Seconds = Field(default=1800.0, alias="check")
    teardown_s: Seconds = Field(default=60.0, alias="teardown")
    grace_s: Seconds = Field(default=30.0, alias="grace")


_OWN_BENCH_KEYS = ("tool", "command", "parser", "output")


def _benches(value: Any, key: str, *, layer: bool) -> tuple[Bench, ...]:
    if isinstance(value, tuple):
        return value
    if not isinstance(value, Mapping):
        return (Bench(name=key, command=text(value, "shell text or a map")),)
    given = map_of(value)
    if layer:
        _require_arguments(given)
        return ()
    if "tool" in given or "command" in given:
        return (_bench(key, given, (), key),)
    return tuple(_named_bench(name, entry, key) for name, entry in given.items())


def _require_arguments(given: Mapping[str, Any]) -> None:
    for name, entry in given.items():
        for key, value in entry.items() if isinstance(entry, Mapping) else ():
            argument(value, (name, key))
        if not isinstance(entry, Mapping):
            argument(entry, (name,))


def _named_bench(name: str, entry: Any, key: str) -> Bench:
    if isinstance(entry, str):
        return Bench(name=name, command=text(entry, "shell text", (name,)))
    if isinstance(entry, Mapping) and ("tool" in entry or "command" in entry):
        return _bench(name, map_of(entry), (name,), f"{key}.{name}")
    raise wrong(
        f"`{key}` has neither `tool` nor `command`, and `{name}` is no benchmark of its own",
        f"write `{key}: {{tool: sglang.bench_serving, …}}`, shell text, or named benchmarks",
        below=(name,),
        whole=True,
    )


def _bench(name: str, given: Mapping[str, Any], below: Path, where: str) -> Bench:
    args = {key: argument(value, (*below, key)) for key, value in given.items() if key not in _OWN_BENCH_KEYS}
    if "tool" in given and "command" in given:
        message = f"`{where}` has both `tool` and `command`"
        raise wrong(message, "remove one with `null`", below=(*below, "command"), whole=True)
    if "command" in given and args:
        odd = next(iter(args))
        raise wrong("means nothing beside `command`", "write it in the command", below=(*below, odd))
    own = {key: text(given[key], "text", (*below, key)) for key in _OWN_BENCH_KEYS if key in given}
    return Bench(name=name, args=args, **own)


def benches(value: Any, info: ValidationInfo) -> tuple[Bench, ...]:
    return _benches(value, "bench", layer=_in_layer(info))


def warmups(value: Any, info: ValidationInfo) -> tuple[Bench, ...]:
    bench = info.data.get("bench", ())
    if isinstance(value, bool):
        return bench if value else ()
    if isinstance(value, int):
        if not 0 <= value <= 1000:
            raise wrong("must be a count from 0 to 1000, or a benchmark")
        return tuple(bench * value)
    return _benches(value, "warmup", layer=_in_layer(info))


class LaunchRange(Frozen):
    """How many launches a session makes: it ends between `min` and `max`, as soon as its verdict is settled."""

    min: int = 1
    max: int = 16


_MOST_LAUNCHES = 1000


def launches_of(value: Any) -> int | LaunchRange:
    if isinstance(value, LaunchRange):
        return value
    if not isinstance(value, Mapping):
        if _is_count(value):
            return int(value)
        shape = f"a whole number from 1 to {_MOST_LAUNCHES}"
        raise wrong(f"must be {shape}, not {shown(value)}", "`{min: 2, max: 8}` lets the evidence choose")
    for key, count in value.items():
        if key not in LaunchRange.model_fields:
            raise unknown_key(str(key), "launches", tuple(LaunchRange.model_fields))
        if count is not None and not _is_count(count):
            what = f"must be a whole number from 1 to {_MOST_LAUNCHES}, not {shown(count)}"
            raise wrong(what, below=(str(key),))
    found = LaunchRange(**{key: count for key, count in value.items() if count is not None})
    if found.min > found.max:
        raise wrong(f"has a `min` of {found.min} above its `max` of {found.max}")
    return found


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST_LAUNCHES


def gpus_of(value: Any) -> str | int | tuple[int, ...]:
    if isinstance(value, list | tuple):
        if not value:
            raise wrong("names no GPU", "leave it out for all of them")
        for entry in value:
            if not isinstance(entry, int) or isinstance(entry, bool) or not 0 <= entry < 2**31:
                raise wrong(f"must be a list of GPU numbers, not of {shown(entry)}", "write it like `[0, 1]`")
        return tuple(value)
    if value == "all":
        return "all"
    count = int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 10 else value
    if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**31:
        return count
    raise wrong(
        f"must be `all`, a count or a list, not {shown(value)}", "write it like `all`, `2` or `[0, 1]`"
    )


def variables_of(value: Any) -> Any:
    given = map_of(value, keep_null=True)
    for name in given:
        if not name or "=" in name:
            raise wrong("is no name of a variable", "write `NAME: value`", below=(name,))
    return given


def expected_of(value: Any) -> Any:
    given = map_of(value)
    for part in value:
        if part not in PARTS:
            raise unknown_key(part, "expect", PARTS)
    for part, values in given.items():
        if not isinstance(values, Mapping):
            raise wrong(f"must be a map, not {shown(values)}", "write `NAME: value`", below=(part,))
    return given
