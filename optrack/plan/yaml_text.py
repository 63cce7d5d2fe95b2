"""YAML 1.2 text as plain data that keeps what was written: scalars, key order, and the place of every key.

A plain scalar becomes a number only if that number prints back exactly as written, so `no`, `on`, `1e3`,
`0777`, `1.10` and dates stay text. Anchors, aliases and merge keys (`<<`) work; duplicate keys are errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

Path = tuple[str, ...]
_MAX_NODES = 20_000
_MAX_DEPTH = 40
_MAX_CHARS = 128 * 1024
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,17}")
_UNWRITABLE = re.compile(r"[\0\ud800-\udfff]")
_TEXT_TAG = "tag:yaml.org,2002:str"
_CONSTANTS = dict.fromkeys(("", "~", "null", "Null", "NULL"))
_CONSTANTS |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(
    ("false", "False", "FALSE"), False
)
_HINTS = {
    "mapping values are not allowed": "put quotes around text that holds `: `",
    "could not find expected ':'": "write `key: value`, with a space after the colon",
    "cannot start any token": "put quotes around text that starts with a special sign",
    "undefined alias": "define it before with `&name`, or put quotes around text that starts with `*`",
}


class YamlError(Exception):
    """The text can't be read; `line` and `column` count from 1 within it."""

    def __init__(self, message: str, line: int = 1, column: int = 1, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.hint = hint


@dataclass
class Loaded:
    """Plain data, and for each path of keys the place (line, column, from 1) where its key is written."""

    data: Any
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)


def scalar(text: str) -> bool | int | float | str | None:
    """Return the value of a plain scalar; text wherever a number would not print back as written."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text) and str(int(text)) == text:
        return int(text)
    if _FLOAT.fullmatch(text) and repr(float(text)) == text:
        return float(text)
    return text


def load_yaml(text: str, *, as_text: Callable[[Path], bool] = lambda path: False) -> Loaded:
    """Read one YAML document; values at paths for which `as_text` holds stay text (null stays None).

    Raises YamlError for what isn't YAML, a duplicate key, a tab used as space, a key that isn't a scalar,
    or aliases that expand without end.
    """
    if len(text) > _MAX_CHARS:
        hint = "keep long texts in files of their own"
        raise YamlError(f"the block is longer than {_MAX_CHARS // 1024} KiB", hint=hint)
    node = _composed(text)
    loaded = Loaded(data=None)
    if node is not None:
        loaded.data = _Builder(loaded, as_text).build(node, (), _MAX_DEPTH)
    return loaded


@cache
def _reader() -> Any:
    """Return a class of YAML readers that doesn't look for plug-ins in its own folder whenever one is made."""
    from ruamel.yaml import YAML

    class Reader(YAML):
        def official_plug_ins(self) -> Any:
            return []

    return Reader


def _composed(text: str) -> Any:
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    reader = _reader()(typ="safe", pure=True)
    reader.max_depth = _MAX_DEPTH
    reader.composer.warn_double_anchors = False
    try:
        return reader.compose(text)
    except MarkedYAMLError as error:
        raise _marked(text, error) from None
    except (
        YAMLError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        RecursionError,
        AssertionError,
    ) as error:
        raise YamlError(f"this isn't YAML: {(str(error) or 'too deep').splitlines()[0]}") from None


def _marked(text: str, error: Any) -> YamlError:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    problem = str(error.problem or error.context or "not YAML")
    lines = text.split("\n")
    here = lines[line - 1] if line <= len(lines) else ""
    if "\t" in here[:column] or "\\t" in problem:
        tab = here.find("\t") + 1 or column
        return YamlError("a tab can't be used as space in YAML", line, tab, "use spaces")
    if "single document" in str(error.context or ""):
        return YamlError("a block holds one YAML document", line, column, "remove the line `---`")
    hint = next((hint for words, hint in _HINTS.items() if words in problem), None)
    return YamlError(f"this isn't YAML: {problem}", line, column, hint)


class _Builder:
    """Makes plain data of nodes, notes the places of keys, and counts, since aliases may expand without end."""

    def __init__(self, loaded: Loaded, as_text: Callable[[Path], bool]) -> None:
        self._loaded = loaded
        self._as_text = as_text
        self._count = 0

    def build(self, node: Any, path: Path, depth: int) -> Any:
        self._count += 1
        if depth <= 0 or self._count > _MAX_NODES:
            raise _at(node, "the block is too deep or its aliases expand too far", "write it out, flatter")
        if node.id == "sequence":
            return [self.build(child, (*path, str(i)), depth - 1) for i, child in enumerate(node.value)]
        if node.id != "scalar":
            return self._mapping(node, path, depth)
        _require_writable(node)
        if node.style in ("'", '"', "|", ">") or (node.tag == _TEXT_TAG and node.value):
            return node.value
        value = scalar(node.value)
        return node.value if value is not None and self._as_text(path) else value

    def _mapping(self, node: Any, path: Path, depth: int) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            if key_node.id != "scalar":
                raise _at(key_node, "a key must be plain text", "write `key: value`")
            _require_writable(key_node)
            key = str(key_node.value)
            if key == "<<" and not key_node.style:
                for source in value_node.value if value_node.id == "sequence" else [value_node]:
                    if source.id != "mapping":
                        raise _at(source, "`<<` merges maps only", "name an anchor of a map: `<<: *name`")
                    merged = self.build(source, path, depth - 1) | merged
                continue
            if key in own:
                message = f"the key `{key}` is there twice, first on line {lines[key]} of the block"
                raise _at(key_node, message, "keep one")
            mark = key_node.start_mark
            lines[key] = mark.line + 1
            self._loaded.places[(*path, key)] = (mark.line + 1, mark.column + 1)
            own[key] = self.build(value_node, (*path, key), depth - 1)
        return {**merged, **own} if merged else own


def _require_writable(node: Any) -> None:
    if _UNWRITABLE.search(node.value):
        message = "a character that no program can be given (NUL, or half of one)"
        raise _at(node, message, "write it otherwise")


def _at(node: Any, message: str, hint: str) -> YamlError:
    return YamlError(message, node.start_mark.line + 1, node.start_mark.column + 1, hint)
