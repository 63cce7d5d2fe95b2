"""Values as a plan writes them: text, durations, sizes, fractions, words; each with its JSON Schema and its messages.

Durations become seconds (`20m`, `1h30m`, 90), sizes bytes by powers of 1024 (`20GB`), fractions numbers from 0 to 1
(`2%`). A number may stand as text where it would print otherwise (`0.90`, `1e3`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, ValidationError, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from optrack.model.text import listed, nearest, shown
from optrack.model.value import Frozen

Path = tuple[str, ...]
Scalar = bool | int | float | str | None
LONGEST_S = 2**31
_MOST_PATTERN_CHARS = 1000
_DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d{1,3})?")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_UNWRITABLE = re.compile(r"[\0\ud800-\udfff]")


@dataclass(frozen=True)
class Fault:
    """A value that doesn't fit: where (path of keys), what is wrong and what to do."""

    path: Path
    message: str
    hint: str | None = None


class Written(Frozen):
    """A map with known keys; one that is null counts as absent, since in a layer it removes what is below."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    @model_validator(mode="before")
    @classmethod
    def _given(cls, value: Any) -> Any:
        if isinstance(value, Mapping):
            known = {*keys_of(cls), *cls.model_fields}
            return {key: entry for key, entry in value.items() if entry is not None or key not in known}
        if isinstance(value, cls):
            return value
        raise wrong(f"must be a map, not {shown(value)}", f"its keys are {listed(keys_of(cls))}")


def keys_of(model: type[Frozen]) -> tuple[str, ...]:
    """Return the keys that a map of this model may have."""
    return tuple(field.alias or name for name, field in model.model_fields.items())


def wrong(
    message: str, hint: str | None = None, *, below: Path = (), whole: bool = False
) -> PydanticCustomError:
    """Return the error of a value; `below` are the keys at fault within it.

    The message goes on from the value's name, or with `whole` is a sentence of its own.
    """
    about = {"text": message, "hint": hint, "below": below, "whole": whole}
    return PydanticCustomError("written", "{text}", about)


def faults_of(error: ValidationError, models: Mapping[str, type[Frozen]], whole: type[Frozen]) -> list[Fault]:
    """Return what pydantic found wrong in a map of the model `whole`; `models` are the inner ones by top-level key."""
    found = []
    for entry in error.errors(include_url=False, include_input=False):
        about = entry.get("ctx", {})
        path = (*(str(step) for step in entry["loc"] if step != "[key]"), *about.get("below", ()))
        name = f"`{'.'.join(path)}`" if path else "this"
        if entry["type"] == "extra_forbidden":
            found.append(_unknown(path, keys_of(models[path[0]] if len(path) > 1 else whole)))
        elif entry["type"] == "written":
            text = about["text"] if about["whole"] else f"{name} {about['text']}"
            found.append(Fault(path, text, about["hint"]))
        else:
            message = f"{name} doesn't fit: {entry['msg'].lower()}"
            found.append(Fault(path, message, "`optrack plan schema` has the shapes"))
    return found


def unknown_key(name: str, inside: str, known: Collection[str]) -> PydanticCustomError:
    """Return the error of an unknown key in the free-standing map `inside`."""
    fault = _unknown((inside, name), known)
    return wrong(fault.message, fault.hint, below=(name,), whole=True)


def _unknown(path: Path, known: Collection[str]) -> Fault:
    near = nearest(path[-1], known)
    hint = f"did you mean `{near}`?" if near else f"known here: {listed(known)}"
    inside = f" in `{'.'.join(path[:-1])}`" if len(path) > 1 else ""
    return Fault(path, f"unknown key `{path[-1]}`{inside}", hint)


def seconds(value: Any) -> float | None:
    """Return a duration (`20m`, `1h30m`, `90`, in seconds) as seconds; None if it is no duration."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if 0 <= value < LONGEST_S else None
    text = value.strip() if isinstance(value, str) else ""
    parts = _DURATION.fullmatch(text)
    if not text or parts is None:
        return seconds(float(text)) if re.fullmatch(r"\d+(?:\.\d+)?", text) else None
    hours, minutes, secs, millis = (float(part or 0) for part in parts.groups())
    total = hours * 3600 + minutes * 60 + secs + millis / 1000
    return total if total < LONGEST_S else None


def size_bytes(value: Any) -> int | None:
    """Return a size (`20GB`, `512M`, a number of bytes) in bytes, by powers of 1024; None if it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if 0 <= value < 2**63 else None
    parts = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    size = float(parts[1]) * 1024 ** _POWERS[parts[2].upper()] if parts else math.inf
    return int(size) if size < 2**63 else None


def fraction(value: Any) -> float | None:
    """Return `2%` or 0.02 as 0.02; None if it is no fraction between 0 and 1."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if 0 <= value < 1 else None
    parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", value) if isinstance(value, str) else None
    return fraction(float(parts[1]) / (100 if parts[2] else 1)) if parts else None


def number(value: Any) -> float | None:
    """Return a finite number, also one that stayed text; None if it is none."""
    is_text = isinstance(value, str) and _NUMBER.fullmatch(value.strip())
    if isinstance(value, bool) or not (is_text or isinstance(value, int | float)):
        return None
    try:
        read = float(value)
    except OverflowError:
        return None
    return read if math.isfinite(read) else None


def text(value: Any, what: str = "text", below: Path = ()) -> str:
    """Return a scalar as the text it was written as; raises the error of what is none or can't be handed on."""
    if not isinstance(value, str | int | float):
        raise wrong(f"must be {what}, not {shown(value)}", below=below)
    if isinstance(value, str) and _UNWRITABLE.search(value):
        raise wrong(
            "holds a character that no program can be given (NUL, or half of one)",
            "write it otherwise",
            below=below,
        )
    return str(value).lower() if isinstance(value, bool) else str(value)


def argument(value: Any, below: Path = ()) -> Any:
    """Return a scalar or a list of scalars as it is."""
    if isinstance(value, Mapping):
        raise wrong("must be a value or a list, not a map", below=below)
    for entry in value if isinstance(value, list | tuple) else (value,):
        if entry is None and isinstance(value, list | tuple):
            raise wrong("has an empty entry", "remove it", below=below)
        if entry is not None:
            text(entry, "a value", below)
    return value


def text_of(what: str) -> Any:
    """Return the validator of text that is named so in messages."""
    return BeforeValidator(lambda value: text(value, what))


def map_of(value: Any, *, keep_null: bool = False) -> Any:
    """Return a free map from names to values, without those that are null."""
    if not isinstance(value, Mapping):
        raise wrong(f"must be a map, not {shown(value)}", "write its entries as `name: value`")
    for name in value:
        text(name, "a name", (str(name),))
    return {name: entry for name, entry in value.items() if keep_null or entry is not None}


def several(value: Any, what: str = "text") -> Any:
    """Return a list of texts, or one alone, as a tuple."""
    entries = value if isinstance(value, list | tuple) else [value]
    for index, entry in enumerate(entries):
        below = (str(index),) if isinstance(value, list | tuple) else ()
        if entry is None:
            raise wrong("has an empty entry", "remove it")
        text(entry, what, below)
    return tuple(text(entry) for entry in entries)


def _read_by(read: Callable[[Any], Any], what: str) -> BeforeValidator:
    def validate(value: Any) -> Any:
        result = read(value)
        if result is None and value is not None:
            raise wrong(f"must be {what}, not {shown(value)}")
        return result

    return BeforeValidator(validate)


def whole(least: int, most: int) -> Any:
    """Return the validator of a whole number between two bounds."""

    def read(value: Any) -> int | None:
        return (
            value
            if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
            else None
        )

    return _read_by(read, f"a whole number from {least} to {most}")


def one_of(*words: str) -> Any:
    """Return the validator of one of some words, with the nearest as hint."""

    def validate(value: Any) -> Any:
        if value in words:
            return value
        near = nearest(str(value), words)
        choice = " or ".join(f"`{word}`" for word in words)
        raise wrong(f"must be {choice}, not {shown(value)}", f"did you mean `{near}`?" if near else None)

    return BeforeValidator(validate)


def _pattern(value: Any) -> str:
    pattern = text(value, "a regular expression")
    try:
        if len(pattern) > _MOST_PATTERN_CHARS:
            raise OverflowError(f"it is longer than {_MOST_PATTERN_CHARS} characters")
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        raise wrong(f"isn't a regular expression: {error}", "escape special signs with \\") from None
    return pattern


def _json_path(value: Any) -> str:
    path = text(value)
    if (problem := path_problem(path)) is not None:
        hint = "see jmespath.org; put names with special signs in double quotes"
        raise wrong(f"isn't a JMESPath expression: {problem}", hint)
    return path


def path_problem(path: str) -> str | None:
    """Return why a text is no JMESPath expression, or None."""
    import jmespath

    if len(path) > _MOST_PATTERN_CHARS:
        return f"it is longer than {_MOST_PATTERN_CHARS} characters"
    try:
        jmespath.compile(path)
    except RecursionError:
        return "it is nested too deeply"
    except Exception as error:  # noqa: BLE001 (besides its own errors, its reader lets those of Python through)
        return " ".join(str(error).split())[:200] or type(error).__name__
    return None


_ANY_SCALAR = WithJsonSchema({"type": ["string", "number", "boolean"]})
_SPAN = {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": _DURATION.pattern}]}
Text = Annotated[str, text_of("text"), _ANY_SCALAR]
Shell = Annotated[str, text_of("shell text"), _ANY_SCALAR]
Expression = Annotated[str, text_of("an expression"), _ANY_SCALAR]
ItemId = Annotated[str, text_of("an item's id"), _ANY_SCALAR]
Pattern = Annotated[str, BeforeValidator(_pattern), WithJsonSchema({"type": "string", "format": "regex"})]
JsonPath = Annotated[str, BeforeValidator(_json_path), WithJsonSchema({"type": "string"})]
Seconds = Annotated[
    float, _read_by(seconds, "a duration like `30s`, `20m` or `1h30m`"), WithJsonSchema(_SPAN)
]
Size = Annotated[
    int,
    _read_by(size_bytes, "a size like `512MB` or `20GB`"),
    WithJsonSchema({"type": ["integer", "string"]}),
]
Fraction = Annotated[
    float,
    _read_by(fraction, "a fraction like `2%` or `0.02`"),
    WithJsonSchema({"type": ["number", "string"]}),
]
Number = Annotated[float, _read_by(number, "a number"), WithJsonSchema({"type": ["number", "string"]})]
Argument = Annotated[
    Scalar | list[Scalar],
    BeforeValidator(argument),
    WithJsonSchema({"anyOf": [{"type": ["string", "number", "boolean"]}, {"type": "array"}]}),
]
