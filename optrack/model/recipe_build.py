"""From resolved plain data to a Recipe: defaults, spellings and units, and what doesn't fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from optrack.model.recipe import Bench, Check, MetricRule, Ready, Recipe, Timeouts
from optrack.model.recipe_schema import RECIPE
from optrack.model.units import fraction, number, seconds, size_bytes

_OWN_BENCH_KEYS = ("tool", "command", "parser", "output")


class RecipeError(ValueError):
    """Resolved data that makes no recipe: the path of keys at fault, and what to do."""

    def __init__(self, path: tuple[str, ...], message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.hint = hint


def recipe_from(data: Mapping[str, Any]) -> Recipe:
    """Return the recipe that resolved plain data describes; RecipeError for what doesn't fit."""
    try:
        return _recipe_from(data)
    except ValidationError as error:
        first = error.errors()[0]
        path = tuple(str(part) for part in first["loc"][:2])
        raise RecipeError(
            path,
            f"`{'.'.join(path)}` doesn't fit: {first['msg'].lower()}",
            "`optrack plan schema` has the shapes",
        ) from None


def _recipe_from(data: Mapping[str, Any]) -> Recipe:
    fault = next(RECIPE.faults(data, ()), None)
    if fault is not None:
        raise RecipeError(fault.path, fault.message, fault.hint)
    given = {key: value for key, value in data.items() if value is not None}
    bench = _benches(given.get("bench"), "bench")
    values: dict[str, Any] = {
        key: given[key]
        for key in (
            "engine",
            "env",
            "server",
            "launch",
            "cwd",
            "repo",
            "setup",
            "port",
            "derived",
            "launches",
            "repetitions",
            "order",
            "stop",
            "expect",
            "factor",
        )
        if key in given
    }
    for key in ("env", "derived"):
        if key in values:
            values[key] = {name: _text(value) for name, value in values[key].items()}
    for key in ("engine", "launch", "cwd", "repo", "setup", "factor"):
        if key in values:
            values[key] = str(_text(values[key]))
    for key in ("patch", "watch", "combine"):
        if key in given:
            values[key] = tuple(str(_text(entry)) for entry in _listed(given[key]))
    if "expect" in given:
        values["expect"] = {
            part: {k: _text(v) for k, v in (kv or {}).items()} for part, kv in given["expect"].items()
        }
    if "gpus" in given:
        values["gpus"] = tuple(given["gpus"]) if isinstance(given["gpus"], list) else given["gpus"]
    if "log_limit" in given:
        values["log_limit_bytes"] = size_bytes(given["log_limit"])
    return Recipe(
        **values,
        ready=_ready(given.get("ready", {})),
        warmup=_warmup(given.get("warmup"), bench),
        bench=bench,
        metrics={name: _metric_rule(name, rule or {}) for name, rule in given.get("metrics", {}).items()},
        check={name: _check(name, rule or {}) for name, rule in given.get("check", {}).items()},
        timeout=Timeouts(
            **{f"{name}_s": seconds(value) for name, value in _set(given.get("timeout", {})).items()}
        ),
    )


def _ready(data: Mapping[str, Any]) -> Ready:
    given = _set(data)
    values: dict[str, Any] = {key: str(given[key]) for key in ("http", "log", "command") if key in given}
    values |= {f"{key}_s": seconds(given[key]) for key in ("timeout", "silence") if key in given}
    if "tcp" in given:
        if not isinstance(given["tcp"], int) or not 0 <= given["tcp"] <= 65535:
            raise RecipeError(
                ("ready", "tcp"),
                "`ready.tcp` must be a port or true",
                "write `tcp: true` for the server's own port",
            )
        values["tcp"] = given["tcp"]
    return Ready(**values)


def _warmup(value: Any, bench: tuple[Bench, ...]) -> tuple[Bench, ...]:
    if isinstance(value, bool):
        return bench if value else ()
    if isinstance(value, int):
        if not 0 <= value <= 1000:
            raise RecipeError(("warmup",), "`warmup` must be a count from 0 to 1000, or a benchmark")
        return bench * value
    return _benches(value, "warmup")


def _benches(value: Any, key: str) -> tuple[Bench, ...]:
    if value is None:
        return ()
    if not isinstance(value, Mapping):
        return (Bench(name=key, command=str(_text(value))),)
    given = _set(value)
    if not given:
        return ()
    if "tool" in given or "command" in given:
        return (_bench(key, given, (key,)),)
    benches = []
    for name, entry in given.items():
        if isinstance(entry, str):
            benches.append(Bench(name=name, command=entry))
        elif isinstance(entry, Mapping) and ("tool" in entry or "command" in entry):
            benches.append(_bench(name, _set(entry), (key, name)))
        else:
            raise RecipeError(
                (key, name),
                f"`{key}` has neither `tool` nor `command`, and `{name}` is no benchmark of its own",
                f"write `{key}: {{tool: sglang.bench_serving, …}}`, shell text, or named benchmarks",
            )
    return tuple(benches)


def _bench(name: str, given: Mapping[str, Any], path: tuple[str, ...]) -> Bench:
    args = {key: value for key, value in given.items() if key not in _OWN_BENCH_KEYS}
    where = ".".join(path)
    if "tool" in given and "command" in given:
        raise RecipeError(
            (*path, "command"), f"`{where}` has both `tool` and `command`", "remove one with `null`"
        )
    if "command" in given and args:
        odd = next(iter(args))
        raise RecipeError(
            (*path, odd), f"`{where}.{odd}` means nothing beside `command`", "write it in the command"
        )
    for key, value in args.items():
        if isinstance(value, Mapping):
            raise RecipeError((*path, key), f"`{where}.{key}` must be a value or a list, not a map")
    own = {key: str(given[key]) for key in _OWN_BENCH_KEYS if key in given}
    return Bench(name=name, args=args, **own)


def _metric_rule(name: str, rule: Mapping[str, Any]) -> MetricRule:
    given = {key: str(_text(value)) for key, value in _set(rule).items()}
    sources = [key for key in ("regex", "json", "csv", "log") if key in given]
    if len(sources) > 1:
        raise RecipeError(
            ("metrics", name, sources[1]),
            f"metric `{name}` is read from both `{sources[0]}` and `{sources[1]}`",
            "keep one",
        )
    return MetricRule.model_validate(given)


def _check(name: str, rule: Mapping[str, Any]) -> Check:
    given = _set(rule)
    if ("command" in given) == ("metric" in given):
        raise RecipeError(
            ("check", name),
            f"check `{name}` needs either `command` or `metric`",
            "say where its number comes from",
        )
    values: dict[str, Any] = {key: str(given[key]) for key in ("command", "metric") if key in given}
    values |= {key: number(given[key]) for key in ("min", "max") if key in given}
    if "worse" in given:
        values["worse"] = fraction(given["worse"])
    return Check(**values)


def _set(data: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in (data or {}).items() if value is not None}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)
