"""The decode lines of SGLang's server log: what they say of one stretch of time."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise

from optrack.metrics.output import Output, readings_of
from optrack.model.metrics import Reading
from optrack.model.value import Frozen

BATCH = re.compile(
    r"^\[(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?P<ms>\.\d{3})?(?P<ranks>(?: [A-Z_]+\d+)*)\] "
    r"(?P<phase>Decode|Prefill) batch\b"
)
_GEN = re.compile(r"gen throughput \(token/s\): ([\d.]+|nan|inf)")
_INPUT = re.compile(r"input throughput \(token/s\): ([\d.]+)")
_ACCEPT_LEN = re.compile(r"(?<!block )accept len: ([\d.]+)")
_ACCEPT_RATE = re.compile(r"accept rate: ([\d.]+)")
_RUNNING = re.compile(r"#running-req: (\d+)")
_QUEUED = re.compile(r"#queue-req: (\d+)")
_USAGE = re.compile(r"(?<!swa )token usage: ([\d.]+)")
_GRAPH = re.compile(r"(?:cuda|cpu|npu|musa) graph: (True|False)")
_CACHED = re.compile(r"#cached-token: (\d+)")
_IDLE_S = 2.0
_UNUSUAL = 3.0
_FEWEST = 2
_SGLANG_UNITS = {
    "gen_throughput": "tok/s",
    "gen_throughput_max": "tok/s",
    "gen_throughput_last": "tok/s",
    "accept_len": "tokens",
    "accept_len_last": "tokens",
    "decode_lines": "lines",
}


class DecodeLine(Frozen):
    """One decode line: seconds on the log's own clock, its data-parallel rank, and what it reports."""

    at_s: float
    rank: str
    throughput: float
    running: float
    queued: float | None = None
    accept_len: float | None = None
    accept_rate: float | None = None
    usage: float | None = None
    graph: bool | None = None


def decode_lines(output: Output) -> list[DecodeLine]:
    """Return the decode lines of a log, in order; lines without a throughput are skipped."""
    found = []
    for line in output.lines:
        head = BATCH.match(line)
        rate = _first(_GEN, line)
        if head is None or head["phase"] != "Decode" or rate is None:
            continue
        at_s = datetime.fromisoformat(head["at"]).timestamp() + float(head["ms"] or 0)
        graph = _GRAPH.search(line)
        rank = re.search(r" (DP\d+)", head["ranks"])
        found.append(
            DecodeLine(
                at_s=at_s,
                rank=rank[1] if rank else "",
                throughput=rate,
                running=_first(_RUNNING, line) or 0,
                queued=_first(_QUEUED, line),
                accept_len=_first(_ACCEPT_LEN, line),
                accept_rate=_first(_ACCEPT_RATE, line),
                usage=_first(_USAGE, line),
                graph=graph[1] == "True" if graph else None,
            )
        )
    return found


def _first(pattern: re.Pattern[str], line: str) -> float | None:
    match = pattern.search(line)
    return float(match[1]) if match else None


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
    usual = statistics.median(_step(line) for line in later)
    return [line for line in later if gaps[id(line)] < pause_s and _step(line) < _UNUSUAL * usual]


def _step(line: DecodeLine) -> float:
    """Return a figure that grows with the time of one decode step: tokens of a step over throughput."""
    return _tokens(line) / line.throughput


def _tokens(line: DecodeLine) -> float:
    return (line.running or 1) * (line.accept_len or 1)


def _mean_throughput(lines: list[DecodeLine]) -> float | None:
    """Return tokens over time: each line stands for as many steps, so for running x accepted tokens.

    None for fewer than two lines, among which a pause can't be told from decoding.
    """
    kept = busy(lines)
    if len(kept) < _FEWEST:
        return None
    return sum(_tokens(line) for line in kept) / sum(_step(line) for line in kept)


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


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
    rates = [rate for rate in map(_mean_throughput, by_rank) if rate is not None]
    accepted = [line.accept_len for line in lines if line.accept_len is not None]
    together = _together(lines, len(by_rank))
    values: dict[str, float | None] = {
        "gen_throughput": sum(rates) if rates else None,
        "gen_throughput_max": max(together),
        "gen_throughput_last": together[-1],
        "accept_len": _mean([line.accept_len for line in lines]),
        "accept_len_last": accepted[-1] if accepted else None,
        "accept_rate": _mean([line.accept_rate for line in lines]),
        "running_req": _sum(_mean([line.running for line in rank]) for rank in by_rank),
        "queue_req": _sum(_mean([line.queued for line in rank]) for rank in by_rank),
        "token_usage": _mean([line.usage for line in lines]),
        "cuda_graph_share": _mean([float(line.graph) for line in lines if line.graph is not None]),
        "decode_lines": float(len(lines)),
    }
    return readings_of(values, _SGLANG_UNITS)


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
