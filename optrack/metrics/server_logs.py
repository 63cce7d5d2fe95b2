"""Server logs of SGLang and vLLM: what their periodic lines say of a stretch of time, and what a whole log tells."""

from __future__ import annotations

import re
import statistics

from optrack.metrics.output import Output, Parsed, readings_of
from optrack.metrics.sglang_log import BATCH, decode_lines, read_sglang
from optrack.metrics.tool import tool
from optrack.model.metrics import Reading

_LOG_LINE = re.compile(
    r"^(?:\([\w.]{1,40}[^)]{0,40}pid=\d+\)|\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d|INFO\b|WARNING\b|ERROR\b|INFO:)"
)
_MOSTLY = 0.2
_DEAD = re.compile(
    r"\b(?:torch\.(?:cuda\.)?OutOfMemoryError|(?:CUDA|HIP) out of memory|Scheduler hit an exception"
    r"|(?:EngineDeadError|AsyncEngineDeadError|EngineCore (?:failed to start|encountered))"
    r"|Received sigquit from a child process|Initialization failed|address already in use|Fatal Python error"
    r"|NCCL (?:error|WARN.{0,40}unhandled)|CUDA error:)[^\n]{0,120}"
)
_FATAL = ("EngineDeadError", "EngineCore", "Scheduler hit")


def _is_log(output: Output) -> bool:
    """Whether a fair share of the lines is a server's own, so that it is no console that quotes some."""
    lines = [line for line in output.lines if line.strip()]
    return sum(_LOG_LINE.match(line) is not None for line in lines) >= _MOSTLY * len(lines)


def _death(output: Output, still_alive: re.Pattern[str]) -> str | None:
    """Return the line that tells of the server's death: a sign of one after which it did nothing any more."""
    last_at = max((match.start() for match in still_alive.finditer(output.text)), default=-1)
    for match in _DEAD.finditer(output.text):
        if match.start() > last_at or any(word in match[0] for word in _FATAL):
            return match[0].strip()
    return None


_ENGINE = re.compile(
    r"Avg prompt throughput: (?P<prompt>[\d.]+) tokens/s, "
    r"Avg generation throughput: (?P<gen>[\d.]+) tokens/s,"
    r" Running: (?P<running>\d+) reqs, (?:Swapped: \d+ reqs, )?(?:Pending|Waiting): (?P<waiting>\d+) reqs,"
    r".*?KV cache usage: (?P<cache>[\d.]+)%"
)
_HIT = re.compile(r"[Pp]refix cache hit rate: (?:GPU: )?([\d.]+)%")
_ACCEPT = re.compile(r"Mean acceptance length: ([\d.]+)")
_ACCEPTED = re.compile(r"Accepted: (\d+) tokens, Drafted: (\d+) tokens")


def read_vllm(output: Output) -> tuple[Reading, ...]:
    """Return the metrics of the log's periodic lines.

    Rates are means over lines in which something was generated: vLLM averages each over its interval of
    10 s, so idle stretches inside an interval still lower them. `acceptance_rate` is accepted over drafted
    tokens, `mean_acceptance_length` the mean of the lines.
    """
    lines = [match for match in map(_ENGINE.search, output.lines) if match]
    generating = [float(line["gen"]) for line in lines if float(line["gen"]) > 0]
    prompts = [float(line["prompt"]) for line in lines if float(line["prompt"]) > 0]
    accepted = [float(value) for value in _ACCEPT.findall(output.text)]
    counts = [(int(a), int(d)) for a, d in _ACCEPTED.findall(output.text)]
    drafted = sum(d for _, d in counts)
    hits = [float(value) for value in _HIT.findall(output.text)]
    return readings_of(
        {
            "generation_throughput": (_mean(generating), "tok/s"),
            "generation_throughput_max": max((float(line["gen"]) for line in lines), default=None),
            "generation_throughput_last": float(lines[-1]["gen"]) if lines else None,
            "prompt_throughput": (_mean(prompts), "tok/s"),
            "running_reqs": _mean([float(x["running"]) for x in lines]),
            "waiting_reqs": _mean([float(x["waiting"]) for x in lines]),
            "kv_cache_usage_pct": max((float(x["cache"]) for x in lines), default=None),
            "prefix_cache_hit_rate_pct": hits[-1] if hits else None,
            "mean_acceptance_length": (_mean(accepted), "tokens"),
            "mean_acceptance_length_last": accepted[-1] if accepted else None,
            "acceptance_lines": float(len(accepted)) if accepted else None,
            "acceptance_rate": sum(a for a, _ in counts) / drafted if drafted else None,
        }
    )


def _mean(values: list[float]) -> float | None:
    return statistics.fmean(values) if values else None


_SGLANG_READY = "The server is fired up and ready to roll!"
_VLLM_READY = "Application startup complete"
_START = re.compile(
    r"server_args=(?:Server|Port)Args\(|^\[[-\d: .]+(?: [A-Z]+\d+)*\] (?:Load weight|Init torch)", re.M
)
_DECODED = re.compile(r"\] (?:Decode|Prefill) batch\b")
_VLLM_START = re.compile(r"\((?:APIServer|EngineCore)[^)\n]{0,40}pid=\d+\)|\bvLLM API server version\b")


def _sglang(output: Output) -> Parsed | None:
    is_its = _is_log(output) and (
        _START.search(output.text)
        or _SGLANG_READY in output.text
        or any(BATCH.match(line) for line in output.lines)
        or "Scheduler hit an exception" in output.text
    )
    return _whole_sglang_log(output) if is_its else None


def _whole_sglang_log(output: Output) -> Parsed:
    """Return the metrics of a whole log, with what it says of the server's life as notes."""
    readings = read_sglang(output)
    notes = [_readiness(output, _SGLANG_READY)]
    if "Uvicorn running on" in output.text:
        notes.append("its HTTP port was open")
    ranks = {line.rank for line in decode_lines(output)}
    if len(ranks) > 1:
        notes.append(f"throughputs and requests are sums over {len(ranks)} data-parallel ranks")
    if "Scheduler hit an exception" in output.text:
        notes.append("a scheduler died of an exception")
    death = _death(output, _DECODED)
    parsed = Parsed(readings=readings, notes=tuple(notes))
    parsed = parsed.because(f"the server died: {death}" if death else None)
    none = "no decode line: nothing was generated, or too little to be logged"
    return parsed.because(None if readings else none)


def _vllm(output: Output) -> Parsed | None:
    is_its = _is_log(output) and (
        any(_ENGINE.search(line) for line in output.lines) or _VLLM_START.search(output.text)
    )
    return _whole_vllm_log(output) if is_its else None


def _whole_vllm_log(output: Output) -> Parsed:
    readings = read_vllm(output)
    death = _death(output, _ENGINE)
    parsed = Parsed(readings=readings, notes=(_readiness(output, _VLLM_READY),))
    parsed = parsed.because(f"the engine died: {death}" if death else None)
    none = "no engine line: the server died or was never asked anything"
    return parsed.because(None if readings else none)


def _readiness(output: Output, sign: str) -> str:
    return "the server became ready" if sign in output.text else "the server never said that it is ready"


def parse_server_log(engine: str, data: bytes) -> tuple[Reading, ...]:
    """Return the metrics of a server's log over one stretch of time, given the bytes written in it.

    SGLang and vLLM print such lines; of any other engine's log nothing is known, so nothing is returned.
    """
    readers = {"sglang": read_sglang, "vllm": read_vllm}
    return readers[engine](Output(data)) if engine in readers else ()


def names_of_log(engine: str) -> frozenset[str]:
    """Return the metrics that are read from the server's log of `engine`."""
    return frozenset(_NAMES.get(engine, "").split())


_NAMES = {
    "sglang": "gen_throughput gen_throughput_max gen_throughput_last accept_len accept_len_last accept_rate "
    "running_req queue_req token_usage cuda_graph_share decode_lines",
    "vllm": "generation_throughput generation_throughput_max generation_throughput_last prompt_throughput "
    "running_reqs waiting_reqs kv_cache_usage_pct prefix_cache_hit_rate_pct mean_acceptance_length "
    "mean_acceptance_length_last acceptance_lines acceptance_rate",
}

PARSERS = (
    tool(
        "sglang.log",
        "sgl-project/sglang: srt/managers/scheduler_components/metrics_reporter.py (log_decode_stats)",
        text=_sglang,
        otherwise=_whole_sglang_log,
        aliases=("sglang_log",),
    ),
    tool(
        "vllm.log",
        "vllm-project/vllm: vllm/v1/metrics/loggers.py, vllm/v1/spec_decode/metrics.py",
        text=_vllm,
        otherwise=_whole_vllm_log,
        aliases=("vllm_log",),
    ),
)
