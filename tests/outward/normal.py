"""What differs from one recording to the next, each replaced by a word: ids, times, ports, places, the host."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.outward.process import ROOT

_RUN_ID = re.compile(r"\b\d{8}T\d{6}-([0-9a-z]{4})-[A-Za-z0-9.][A-Za-z0-9.-]*")
_WIDTH = 150
_MASKED_KEYS = {
    "started_at", "ended_at", "at", "created_at", "updated_at", "exported_at", "time", "last_at", "first_at",
    "seconds", "duration_s", "host", "pid", "port", "elapsed_s", "cpu_s", "uptime_s", "interval_s",
    "sequence", "version", "python_version", "machine", "digest", "size", "mtime", "inode", "last", "first",
    "captured_at", "cpu_count", "memory", "runner_pid",
}  # fmt: skip
_WHOLE_KEYS = {"hardware", "load", "packages", "libraries", "stages", "sampling", "arguments", "processes"}
_TEXT: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.MULTILINE), word)
    for pattern, word in (
        (r"\b20\d\d-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?(Z|\+00:00| UTC)?", "<time>"),
        (r"\b[0-2]\d:[0-5]\d(:[0-5]\d(\.\d+)?)?\b( UTC)?", "<clock>"),
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<uuid>"),
        (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{16,64}\b", "<hex>"),
        (r"\b127\.0\.0\.1:\d+", "127.0.0.1:<port>"),
        (r"\b([Pp]ort|PORT)([ =]+)\d{4,5}\b", r"\1\2<port>"),
        (r"\b(pid|process|processes) \d+", r"\1 <pid>"),
        (r"\[ *\d+(\.\d+)? s\]", "[<s>]"),
        (r"\b\d+(\.\d+)?( s| min| h|s ago|m ago| seconds| minutes)\b", "<duration>"),
        (r"\b\d+m\d+s\b|\b\d+h\d+m\b", "<duration>"),
        (r"\b\d+(\.\d+)? (B|KB|MB|GB|KiB|MiB|GiB|bytes)\b", "<size>"),
        (r"the CPUs are \d+% busy.*", "the CPUs are <busy>"),
        (r"(package optrack(?:\*\*|</strong>)?: ).*?(?=</li>|$)", r"\1<code>"),
        (r"\b(changes) [0-9a-f]{12}\b", r"\1 <hex>"),
    )
)


class Normaliser:
    """Knows a project's places and runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._places = sorted(
            {
                (str(folder), "<project>"),
                (str(folder.parent), "<outside>"),
                (str(ROOT), "<root>"),
                (sys.executable, "<python>"),
                (str(Path(sys.executable).resolve()), "<python>"),
                (str(Path(sys.executable).parent), "<bin>"),
                (sys.prefix, "<prefix>"),
            },
            key=lambda place: -len(place[0]),
        )

    def runs(self) -> list[str]:
        """The ids of the runs whose folders the project has, in the order of their beginning."""
        return sorted(path.name for path in (self.folder / ".optrack" / "runs").glob("*"))

    def names(self) -> dict[str, str]:
        """A lasting name for each run: its item and its number among that item's runs."""
        counts: dict[str, int] = {}
        names = {}
        for run in self.runs():
            item = run[21:]
            counts[item] = counts.get(item, 0) + 1
            names[run] = f"<run {item} no {counts[item]}>"
        return names

    def text(self, text: str) -> str:
        """Return a text in which only what should be the same each time is left."""
        for place, word in self._places:
            text = text.replace(place, word)
        names = self.names()
        for run in sorted(names, key=len, reverse=True):
            text = text.replace(run, names[run])
        for run, name in names.items():
            text = re.sub(rf"(?<![\w.]){run[16:20]}(?![\w])", name.replace("<run", "<part"), text)
        text = _RUN_ID.sub("<run new>", text)
        for pattern, word in _TEXT:
            text = pattern.sub(word, text)
        return _sorted_turns(_narrow(text))

    def answer(self, text: str) -> str:
        """Return a printed text, or a JSON document laid out for reading line by line."""
        stripped = text.strip()
        if stripped[:1] in ("{", "[") and stripped[-1:] in ("}", "]"):
            try:
                document = json.loads(stripped)
            except ValueError:
                pass
            else:
                layout = "one line" if "\n" not in stripped else "several lines"
                return f"(JSON on {layout})\n" + laid_out(self.value(document))
        lines = stripped.splitlines()
        if len(lines) > 1 and all(line.startswith("{") and line.endswith("}") for line in lines):
            return "\n".join(self.answer(line) for line in lines)
        return self.text(text)

    def value(self, value: Any, key: str = "") -> Any:
        """Return a JSON value without what differs each time."""
        if key.startswith("package ") and value:
            return "<code>"
        if key in _WHOLE_KEYS and value:
            return shape(value)
        if isinstance(value, Mapping):
            return {self.text(name): self.value(inner, name) for name, inner in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [self.value(inner, key) for inner in value]
        if key in _MASKED_KEYS and value is not None and not isinstance(value, bool):
            return f"<{key}>"
        if isinstance(value, str):
            return self.text(value)
        return value


def shape(value: Any, depth: int = 2) -> Any:
    """Return the keys of a part of which the values are the host's."""
    if isinstance(value, Mapping):
        inside = {
            "<a start-up file>" if name.endswith(".pth") else name: inner for name, inner in value.items()
        }
        return {name: shape(inner, depth - 1) for name, inner in inside.items()} if depth else "<map>"
    if isinstance(value, list):
        return "<list>"
    return "<value>" if value is not None else None


def laid_out(value: Any, indent: str = "") -> str:
    """Return JSON text in which a part that fits stands on one line; the keys keep their order."""
    short = json.dumps(value, ensure_ascii=False)
    if len(short) + len(indent) <= _WIDTH or not isinstance(value, dict | list) or not value:
        return short
    deeper = indent + " "
    if isinstance(value, dict):
        parts = [
            f"{deeper}{json.dumps(k, ensure_ascii=False)}: {laid_out(v, deeper)}" for k, v in value.items()
        ]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(deeper + laid_out(v, deeper) for v in value) + f"\n{indent}]"


def _narrow(text: str) -> str:
    """Columns are as wide as what stands in them: keep the indentation, give each gap two spaces."""
    text = re.sub(r"(?<=\S) {2,}(?=\S)", "  ", text)
    text = re.sub(r"-{3,}", "---", text)
    return re.sub(r" +$", "", text, flags=re.MULTILINE)


def _sorted_turns(text: str) -> str:
    """The two of a pair run in random order: sort the lines of passes that follow on each other."""
    lines, turns, result = text.split("\n"), [], []
    for line in [*lines, ""]:
        if re.match(r"\s*(\[<s>\]|<time>|<clock>)?\s*(candidate|baseline) \d+\.\d+", line):
            turns.append(line)
            continue
        result += [*sorted(turns), line]
        turns = []
    return "\n".join(result[:-1])
