"""The decode lines of SGLang's server log: what they say of one stretch of time."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from optrack.metrics.output import Output, readings_of
from optrack.model.metrics import Reading

BATCH = re.compile(
    r"^\[(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?P<ms>\.\d{3})?(?P<ranks>(?: [A-Z_]+\d+)*)\] "
    r"(?P<phase>Decode|Prefill) batch\b"
)
_FIELDS = {
    "throughput": re.compile(r"gen throughput \(token/s\): ([\d.]+|nan|inf)"),
    "accept_len": re.compile(r"(?<!block )accept len: ([\d.]+)"),
    "accept_rate": re.compile(r"accept rate: ([\d.]+)"),
    "running": re.compile(r"#running-req: (\d+)"),
    "queued": re.compile(r"#queue-req: (\d+)"),
    "usage": re.compile(r"(?<!swa )token usage: ([\d.]+)"),
}
_GRAPH = re.compile(r"(?:cuda|cpu|npu|musa) graph: (True|False)")
_IDLE_S = 2.0
_UNUSUAL = 3.0
_FEWEST = 2


@dataclass(frozen=True)
class DecodeLine:
    """One decode line: seconds on the log's own clock, its data-parallel rank, and the numbers that it reports."""

    at_s: float
    rank: str
    throughput: float
    numbers: dict[str, float]

    @property
    def tokens(self) -> float:
        """The tokens of one decode step."""
        return (self.numbers.get("running") or 1) * (self.numbers.get("accept_len") or 1)

    @property
    def step(self) -> float:
        """A figure that grows with the time of one decode step: its tokens over throughput."""
        return self.tokens / self.throughput


def decode_lines(output: Output) -> list[DecodeLine]:
    """Return the decode lines of a log, in order; lines without a throughput are skipped."""
    lines = []
    for line in output.lines:
        head = BATCH.match(line)
        if head is None or head["phase"] != "Decode":
            continue
        matches = {name: pattern.search(line) for name, pattern in _FIELDS.items()}
        numbers = {name: float(match[1]) for name, match in matches.items() if match is not None}
        if "throughput" not in numbers:
            continue
        if (graph := _GRAPH.search(line)) is not None:
            numbers["graph"] = float(graph[1] == "True")
        numbers.setdefault("running", 0)
        at_s = datetime.fromisoformat(head["at"]).timestamp() + float(head["ms"] or 0)
        rank = re.search(r" (DP\d+)", head["ranks"])
        lines.append(DecodeLine(at_s, rank[1] if rank else "", numbers["throughput"], numbers))
    return lines


def busy(lines: list[DecodeLine]) -> list[DecodeLine]:
    """Return the lines of one rank whose throughput covers decoding only.

    A line's throughput is tokens over the time since the line before it, so the first one, and each one
    after a pause, counts idle time: they are left out. A pause shows as a gap between the lines' times, or,
    shorter than the log's clock can tell, as a line whose steps seem to have taken several times the usual.
    """
    later = [line for line in lines[1:] if line.throughput > 0]
    if not later:
        return []
    gaps = {id(b): b.at_s - a.at_s for a, b in pairwise(lines)}
    pause_s = max(_IDLE_S, _UNUSUAL * statistics.median(gaps.values()))
    usual = statistics.median(line.step for line in later)
    return [line for line in later if gaps[id(line)] < pause_s and line.step < _UNUSUAL * usual]


def _mean_throughput(lines: list[DecodeLine]) -> float | None:
    """Return tokens over time: each line stands for as many steps, so for running x accepted tokens.

    None for fewer than two lines, among which a pause can't be told from decoding.
    """
    kept = busy(lines)
    if len(kept) < _FEWEST:
        return None
    return sum(line.tokens for line in kept) / sum(line.step for line in kept)


def _mean(lines: list[DecodeLine], name: str) -> float | None:
    reported = [line.numbers[name] for line in lines if name in line.numbers]
    return statistics.fmean(reported) if reported else None


def read_sglang(output: Output) -> tuple[Reading, ...]:
    """Return the metrics of the log's decode lines.

    `gen_throughput` is the throughput while decoding, `accept_len` the mean accepted length, `running_req` and
    `queue_req` mean requests, `cuda_graph_share` the share of decode lines that ran as graphs. Throughputs and
    requests are sums over data-parallel ranks.
    """
    lines = decode_lines(output)
    if not lines:
        return ()
    by_rank = [[line for line in lines if line.rank == rank] for rank in sorted({x.rank for x in lines})]
    accepted = [line.numbers["accept_len"] for line in lines if "accept_len" in line.numbers]
    together = _together(lines, len(by_rank))
    return readings_of(
        {
            "gen_throughput": (_sum(map(_mean_throughput, by_rank)), "tok/s"),
            "gen_throughput_max": (max(together), "tok/s"),
            "gen_throughput_last": (together[-1], "tok/s"),
            "accept_len": (_mean(lines, "accept_len"), "tokens"),
            "accept_len_last": (accepted[-1] if accepted else None, "tokens"),
            "accept_rate": _mean(lines, "accept_rate"),
            "running_req": _sum(_mean(rank, "running") for rank in by_rank),
            "queue_req": _sum(_mean(rank, "queued") for rank in by_rank),
            "token_usage": _mean(lines, "usage"),
            "cuda_graph_share": _mean(lines, "graph"),
            "decode_lines": (float(len(lines)), "lines"),
        }
    )


def _together(lines: list[DecodeLine], ranks: int) -> list[float]:
    """Return the throughput of all ranks at each line, once each has reported (or at the end)."""
    latest: dict[str, float] = {}
    sums = []
    for line in lines:
        latest[line.rank] = line.throughput
        if len(latest) == ranks:
            sums.append(sum(latest.values()))
    return sums


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
