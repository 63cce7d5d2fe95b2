"""vLLM's server log: what its periodic engine and speculation lines say of one stretch of time."""

from __future__ import annotations

import re
import statistics

from optrack.metrics.output import Output, Parsed, Parser, readings_of
from optrack.model.metrics import Reading

NAME = "vllm.log"
_ENGINE = re.compile(
    r"Avg prompt throughput: (?P<prompt>[\d.]+) tokens/s, "
    r"Avg generation throughput: (?P<gen>[\d.]+) tokens/s,"
    r" Running: (?P<running>\d+) reqs, (?:Swapped: \d+ reqs, )?(?:Pending|Waiting): (?P<waiting>\d+) reqs,"
    r".*?KV cache usage: (?P<cache>[\d.]+)%"
)
_HIT = re.compile(r"[Pp]refix cache hit rate: (?:GPU: )?([\d.]+)%")
_ACCEPT = re.compile(r"Mean acceptance length: ([\d.]+)")
_ACCEPTED = re.compile(r"Accepted: (\d+) tokens, Drafted: (\d+) tokens")
_READY = "Application startup complete"
_DEAD = re.compile(r"\b(EngineDeadError|AsyncEngineDeadError|EngineCore (?:failed to start|encountered))")
_UNITS = {"generation_throughput": "tok/s", "prompt_throughput": "tok/s", "mean_acceptance_length": "tokens"}


def read(output: Output) -> tuple[Reading, ...]:
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
    values = {
        "generation_throughput": statistics.fmean(generating) if generating else None,
        "generation_throughput_max": max((float(line["gen"]) for line in lines), default=None),
        "generation_throughput_last": float(lines[-1]["gen"]) if lines else None,
        "prompt_throughput": statistics.fmean(prompts) if prompts else None,
        "running_reqs": statistics.fmean(float(x["running"]) for x in lines) if lines else None,
        "waiting_reqs": statistics.fmean(float(x["waiting"]) for x in lines) if lines else None,
        "kv_cache_usage_pct": max((float(x["cache"]) for x in lines), default=None),
        "prefix_cache_hit_rate_pct": hits[-1] if hits else None,
        "mean_acceptance_length": statistics.fmean(accepted) if accepted else None,
        "mean_acceptance_length_last": accepted[-1] if accepted else None,
        "acceptance_lines": float(len(accepted)) if accepted else None,
        "acceptance_rate": sum(a for a, _ in counts) / drafted if drafted else None,
    }
    return readings_of(values, _UNITS)


def recognises(output: Output) -> bool:
    """Whether the text is a server log of vLLM."""
    return bool(
        any(_ENGINE.search(line) for line in output.lines)
        or re.search(r"\((?:APIServer|EngineCore)[^)]*pid=\d+\)", output.text)
        or re.search(r"\bvLLM API server version\b", output.text)
    )


def parse(output: Output) -> Parsed:
    """Return the metrics of a whole log, with what it says of the server's life as notes."""
    readings = read(output)
    notes = ["the server became ready" if _READY in output.text else "the server never said that it is ready"]
    dead = _DEAD.search(output.text)
    why = f"the engine died: {dead[1]}" if dead else None
    if not readings:
        why = why or "no engine line: the server died or was never asked anything"
    return Parsed(tool=NAME, readings=readings, invalid=why, notes=tuple(notes))


PARSER = Parser(
    name=NAME,
    source="vllm-project/vllm: vllm/v1/metrics/loggers.py, vllm/v1/spec_decode/metrics.py",
    recognises=recognises,
    parse=parse,
    aliases=("vllm_log",),
)
