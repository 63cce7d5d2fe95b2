"""The bytes of a plan as text, and its front matter: title, metric, target, minimum effect, baseline, adoption."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ValidationError

from optrack.errors import PlanError
from optrack.model.plan import PrimaryMetric, Problem
from optrack.model.written import Fault, Fraction, ItemId, Text, Written, faults_of, one_of
from optrack.plan.parts import error_at
from optrack.plan.yaml_text import Loaded, Path, YamlError, load_yaml

_HINT = "save the file as UTF-8"
_KEY = re.compile(r"^[A-Za-z_][\w-]*\s*:", re.MULTILINE)


def _metric(value: Any) -> Any:
    return {"name": value} if isinstance(value, str | int | float) else value


class FrontMatterKeys(Written):
    """What the front matter may hold."""

    title: Text | None = None
    metric: Annotated[PrimaryMetric, BeforeValidator(_metric)] | None = None
    target: Text | None = None
    min_effect: Fraction | None = None
    baseline: ItemId | None = None
    adopt: Annotated[Literal["manual", "auto"], one_of("manual", "auto")] | None = None


def decode(data: bytes, path: str) -> str:
    """Return the text with `\\n` line ends and no byte order mark.

    Raises PlanError naming the encoding and the offending byte (offset from 0) with its line.
    """
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise PlanError("the file is UTF-32, which isn't read (byte 0)", hint=_HINT, where=f"{path}:1")
    encoding = "utf-8"
    body = data
    if data.startswith(codecs.BOM_UTF8):
        body = data[len(codecs.BOM_UTF8) :]
    elif data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16-le" if data.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
        body = data[2:]
    skipped = len(data) - len(body)
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        line = body[: error.start].count(b"\n") + 1
        raise PlanError(
            f"the file isn't valid {encoding.upper()}: byte 0x{body[error.start]:02x} at offset "
            f"{skipped + error.start} ({error.reason})",
            hint=_HINT,
            where=f"{path}:{line}",
        ) from None
    if "\0" in text:
        at = text.index("\0")
        offset = skipped + len(text[:at].encode(encoding))
        guess = "; UTF-16 without a byte order mark looks like this" if encoding == "utf-8" else ""
        raise PlanError(
            f"the file holds a NUL: byte 0x00 at offset {offset}{guess}",
            hint=_HINT,
            where=f"{path}:{text.count(chr(10), 0, at) + 1}",
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")


@dataclass
class FrontMatter:
    """What the front matter says, the text without it (its lines left empty), and its problems."""

    text: str
    values: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)


def read_front_matter(text: str) -> FrontMatter:
    """Take the YAML between a first line `---` and the next such line, if there is one."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return FrontMatter(text)
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    content = "\n".join(lines[1:end]) if end is not None else "\n".join(lines[1:])
    if end is None or (content.strip() and not _KEY.search(content)):
        return _unclosed(text, content) if end is None else FrontMatter(text)
    found = FrontMatter("\n" * (end + 1) + "\n".join(lines[end + 1 :]))
    try:
        loaded = load_yaml(content)
    except YamlError as problem:
        found.problems.append(
            error_at(
                problem.line + 1, f"front matter: {problem.message}", problem.hint, column=problem.column
            )
        )
        return found
    _take(found, loaded)
    return found


def _unclosed(text: str, content: str) -> FrontMatter:
    found = FrontMatter(text)
    if _KEY.match(content):
        found.problems.append(error_at(1, "the front matter isn't closed", "end it with a line `---`"))
    return found


def _take(found: FrontMatter, loaded: Loaded) -> None:
    found.places = {path: (line + 1, column) for path, (line, column) in loaded.places.items()}
    values = loaded.data if loaded.data is not None else {}
    faults = _faults(values)
    for fault in faults:
        line, column = found.places.get(fault.path[:2], found.places.get(fault.path[:1], (1, 1)))
        found.problems.append(error_at(line, f"front matter: {fault.message}", fault.hint, column=column))
    if isinstance(values, dict):
        bad = {step for fault in faults for step in fault.path[:1]}
        good = FrontMatterKeys.model_validate({key: value for key, value in values.items() if key not in bad})
        found.values = {key: getattr(good, key) for key in good.model_fields_set}


def _faults(values: Any) -> list[Fault]:
    try:
        FrontMatterKeys.model_validate(values)
    except ValidationError as error:
        return faults_of(error, {"metric": PrimaryMetric}, FrontMatterKeys)
    return []
