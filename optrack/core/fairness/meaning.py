"""What a difference means, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optrack.core.fairness.field_table import Field
from optrack.core.fairness.fields import dotted

_LONG = 80


def sentence(field: Field, path: tuple[str, ...], baseline: Any, candidate: Any) -> str:
    """Return the difference of one field as a sentence: what was what on either side."""
    label = field.label or dotted(path)
    if path[0] == "env":
        return _variable(path, label.format(**_names(path)), baseline, candidate)
    label = label.format(**_names(path)).rstrip(",")
    if field.pattern.endswith("edited_in_run"):
        return _edited(path, baseline, candidate)
    name, before, after = _capital(label), _shown(baseline), _shown(candidate)
    if len(before) + len(after) > 2 * _LONG:
        return f"{name} differs between baseline and candidate."
    if candidate is None:
        return f"{name} was {before} in the baseline's run and is absent in the candidate's."
    if baseline is None:
        return f"{name} is {after} in the candidate's run and was absent in the baseline's."
    return f"{name} was {before} in the baseline's run and is {after} in the candidate's."


def _variable(path: tuple[str, ...], label: str, baseline: Any, candidate: Any) -> str:
    where = "processes" if path[1] == "server" else "environment"
    before = f"was {_shown(baseline)}" if baseline is not None else "was not set"
    after = f"is {_shown(candidate)}" if candidate is not None else "is not set"
    return f"{label} {before} in the baseline's {where} and {after} in the candidate's."


def _edited(path: tuple[str, ...], baseline: Any, candidate: Any) -> str:
    whose = " and the ".join(
        n for n, files in (("baseline's", baseline), ("candidate's", candidate)) if files
    )
    files = ", ".join(sorted({str(file) for files in (baseline, candidate) for file in files or ()})[:5])
    return f"Code was edited in the {path[1]} repository while the {whose} run was measured: {files}."


def _names(path: tuple[str, ...]) -> Mapping[str, str]:
    """Return the steps of a path that labels may name."""
    return {
        "name": path[1] if len(path) > 1 else "",
        "leaf": path[-1] if path[-1:] != ("sha256",) else path[-2],
        "owner": path[-2] if len(path) > 1 else "",
        "device": path[3] if len(path) > 3 else "",
        "gpu": path[2] if len(path) > 2 else "",
    }


def _shown(value: Any) -> str:
    if value is None:
        return "not set"
    if value == "":
        return "empty"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, (list, tuple)):
        return " or ".join(map(_shown, value)) if value else "none"
    return str(value).replace("\n", "\\n")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
