"""vLLM's `bench sweep serve`: the folder of one experiment, and its `summary.csv`.

A folder holds one folder a combination of settings, in it `run=0.json`, `run=1.json`, … (each a result of
`bench serve` with the settings added) and, once the combination is through, `summary.json` with all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from optrack.metrics import vllm_serving
from optrack.metrics.output import Output, Parsed, Parser, last_of, nothing, number, readings_of
from optrack.metrics.rules import checked, table_rows
from optrack.model.value import Frozen

NAME = "vllm.bench_sweep"
_MARKS = frozenset({"run_number", "output_throughput", "completed"})


class Combination(Frozen):
    """The runs of one combination of settings, in their order; `name` is its folder's, as vLLM made it."""

    name: str
    runs: tuple[Parsed, ...]


def read_sweep(files: Mapping[str, bytes]) -> tuple[Combination, ...]:
    """Return the combinations of a sweep, given the folder's files by path relative to it.

    A folder without `run=N.json` files is read from its `summary.json`. Warm-ups and failures are left out.
    """
    folders: dict[str, dict[str, bytes]] = {}
    for path, data in sorted(files.items()):
        place = PurePosixPath(path)
        folders.setdefault(str(place.parent), {})[place.name] = data
    found = []
    for folder, inside in folders.items():
        runs = {name: data for name, data in inside.items() if _number(name) is not None}
        if runs:
            parsed = [vllm_serving.parse(Output(runs[name])) for name in sorted(runs, key=_order)]
        elif "summary.json" in inside:
            parsed = _summary(Output(inside["summary.json"]))
        else:
            continue
        found.append(Combination(name=PurePosixPath(folder).name, runs=tuple(parsed)))
    return tuple(found)


def _number(name: str) -> int | None:
    stem = name.removeprefix("run=").removesuffix(".json")
    return int(stem) if name == f"run={stem}.json" and stem.isdecimal() else None


def _order(name: str) -> int:
    return _number(name) or 0


def _summary(output: Output) -> list[Parsed]:
    whole = vllm_serving.parse(output)
    earlier = [Parsed(tool=whole.tool, readings=readings) for readings in whole.earlier]
    return [*map(checked, earlier), whole.model_copy(update={"earlier": (), "notes": ()})]


def _rows(output: Output) -> list[dict[str, str]]:
    rows = table_rows(output)
    return rows if rows and rows[0].keys() >= _MARKS else []


def recognises(output: Output) -> bool:
    """Whether the output is the `summary.csv` of a sweep."""
    return bool(_rows(output))


def parse(output: Output) -> Parsed:
    """Return the last row of a `summary.csv`; the others are kept as earlier results."""
    rows = _rows(output)
    if not rows:
        return nothing(NAME, "no table of a sweep's runs")
    results = [readings_of({k: number(v) for k, v in row.items() if k and k != "run_number"}) for row in rows]
    asked = number(rows[-1].get("num_prompts") or "")
    return checked(last_of(NAME, results, "runs in this table"), requested=int(asked) if asked else None)


PARSER = Parser(
    name=NAME,
    source="vllm-project/vllm: vllm/benchmarks/sweep/serve.py",
    recognises=recognises,
    parse=parse,
    whole_file=True,
)
