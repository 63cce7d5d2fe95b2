"""Results that were measured elsewhere: benchmark outputs, and the folder that `vllm bench sweep` writes.

A sweep's folder (vllm-project/vllm, vllm/benchmarks/sweep/serve.py) has a folder for each combination of
parameters, named `SERVE--NAME-BENCH--NAME`, with a `run=N.json` for each pass on the one server started for it
and a `run=N.failure.json` for each pass that failed; a server that failed leaves `SERVE-NAME-failure.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from optrack.judge.failures import plain_failure
from optrack.metrics.output import Parsed
from optrack.metrics.read import parse_output
from optrack.model.metrics import Sample
from optrack.model.run import Failure, Run
from optrack.model.value import Frozen

MARK = "Imported: "
"""How the note begins that tells an imported run from one that optrack made."""


class Result(Frozen):
    """What was measured of one configuration: samples, the files they came from, or how it failed."""

    name: str
    files: tuple[str, ...]
    samples: tuple[Sample, ...] = ()
    failure: Failure | None = None
    parameters: Mapping[str, Any] = {}
    problems: tuple[str, ...] = ()


def is_imported(run: Run) -> bool:
    """Whether a run was measured elsewhere, so that nothing of it was captured."""
    return any(note.startswith(MARK) for note in run.notes)


def import_note(files: Sequence[str]) -> str:
    """Return the note that marks a run as imported from these files."""
    shown = ", ".join(files[:4]) + (f" and {len(files) - 4} more" if len(files) > 4 else "")
    return f"{MARK}measured elsewhere and read from {shown}; nothing was captured of it"


def results_of(outputs: Mapping[str, Parsed], *, launch_each: bool = False, name: str = "") -> Result:
    """Return what was read of benchmark outputs (by file name) as one result: a repetition or a launch each.

    A file in which nothing was found is told in `problems`; with no file left, the result has no samples.
    """
    samples: list[Sample] = []
    problems: list[str] = []
    used: list[str] = []
    for file, parsed in outputs.items():
        if not parsed.readings:
            problems.append(f"{file}: {parsed.invalid or 'no metric was found'}")
            continue
        number = len(used)
        samples += _samples(parsed, number if launch_each else 0, 0 if launch_each else number)
        used.append(file)
    return Result(name=name, files=tuple(used), samples=tuple(samples), problems=tuple(problems))


def is_sweep(names: Sequence[str]) -> bool:
    """Whether these paths below a folder are those of a sweep."""
    return any(re.search(r"(?:^|/)run=\d+(?:\.failure)?\.json$", name) for name in names)


def read_sweep(outputs: Mapping[str, bytes]) -> tuple[Result, ...]:
    """Return the results of a sweep, one for each combination, from its JSON files by path below its folder."""
    groups: dict[str, dict[str, bytes]] = {}
    failures: dict[str, list[str]] = {}
    for path, data in sorted(outputs.items(), key=lambda pair: _natural(pair[0])):
        folder, _, file = path.rpartition("/")
        if re.fullmatch(r"run=\d+\.json", file):
            groups.setdefault(folder, {})[path] = data
        elif file.endswith("failure.json"):
            about = _object(data)
            message = f"{about.get('error_type') or 'failed'}: {about.get('error') or 'no message'}"
            combination = folder if file.startswith("run=") else file.removesuffix("-failure.json")
            failures.setdefault(combination, []).append(message)
            groups.setdefault(combination, {})
    return tuple(_combination(name, files, failures.get(name, [])) for name, files in groups.items())


def _combination(folder: str, files: Mapping[str, bytes], failures: Sequence[str]) -> Result:
    parsed = {file: parse_output("vllm.bench_serve", data) for file, data in files.items()}
    found = results_of(parsed, name=combination_name(folder))
    failure = plain_failure("imported", failures[0], "\n".join(failures)) if failures else None
    data = _object(next(iter(files.values()), b""))
    parameters = {key: value for key, value in data.items() if key in _named_parameters(folder)}
    return found.model_copy(
        update={
            "failure": failure if not found.samples else None,
            "problems": (*found.problems, *(failures if found.samples else ())),
            "parameters": parameters,
        }
    )


def combination_name(folder: str) -> str:
    """Return what a combination's folder calls it, without the words that `vllm bench sweep` adds."""
    last = folder.rsplit("/", 1)[-1]
    name = re.sub(r"(?:^|-)(SERVE|BENCH)--?", " ", last).strip(" -")
    return " ".join(name.split()) or "sweep"


def _named_parameters(folder: str) -> frozenset[str]:
    return frozenset(re.findall(r"([A-Za-z_][\w.]*)=", folder.rsplit("/", 1)[-1]))


def _samples(parsed: Parsed, launch: int, repetition: int) -> list[Sample]:
    return [
        Sample(
            metric=reading.metric,
            value=reading.value,
            launch=launch,
            repetition=repetition,
            invalid=parsed.invalid,
        )
        for reading in parsed.readings
    ]


def _object(data: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(data.decode(errors="replace"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _natural(path: str) -> tuple[Any, ...]:
    return tuple(int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path))
