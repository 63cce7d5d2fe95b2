"""The signs by which failures are told apart, as inference servers and their libraries word them.

Kinds beside these: `exception` (any other), `killed` (by a signal, silently), `timed_out`, `silent`,
`log_limit`, `warmup`, `disk_full`, `port_drift`, `not_started`, `no_result`, `interrupted` and `unknown`.
"""

from __future__ import annotations

import re

_SIGNS: dict[str, tuple[str, ...]] = {
    "peer_lost": (
        "connection reset by peer",
        "broken pipe",
        "connection closed by peer",
        "remote process exited",
    ),
    "engine_dead": (
        "EngineDeadError",
        r"see (?:the )?(?:root cause|stack trace)",
        r"engine core proc\w* .*died",
    ),
    "nccl": (
        r"\bnccl (?:error|failure)",
        r"\bnccl\w*error\b",
        "DistBackendError",
        r"ProcessGroupNCCL.*(?:timeout|error)",
        "NCCL WARN",
    ),
    "out_of_memory": (
        "out ?of ?memory",
        r"\bMemoryError\b",
        "not enough (?:gpu )?memory",
        "cannot allocate memory",
        "leave no gpu memory",
        "no available memory for the cache blocks",
        "larger than the maximum number of tokens that can be stored",
        "free memory on device .* less than desired",
        "larger than the available kv cache memory",
        "heap limit allocation failed",
        r"\boom[- ]?kill",
    ),
    "port_in_use": (
        "address already in use",
        r"\[errno 98\]",
        "EADDRINUSE",
        r"\bport\b.{0,40}\b(?:in use|used by|occupied)",
    ),
    "import_error": (
        "ModuleNotFoundError",
        "ImportError",
        "no module named",
        "undefined symbol",
        "cannot open shared object file",
    ),
    "disk_full": ("no space left on device", r"\[errno 28\]", "disk quota exceeded"),
    "usage": (
        "unrecognized arguments",
        "invalid choice",
        "the following arguments are required",
        r"(?<![\d)]): error: ",
        "no such option",
        "unexpected argument",
    ),
    "command_not_found": (
        ": command not found",
        r"^\S*sh: .*: not found$",
        "can't open file",
        r"^\S*sh: .*: No such file or directory$",
    ),
    "weights": (
        "cannot find any model weights",
        "repo id must be",
        "not a valid model identifier",
        "does not appear to have a file named",
        "LocalEntryNotFoundError",
        "HFValidationError",
        "RepositoryNotFoundError",
        "GatedRepoError",
        "SafetensorError",
        "incorrect path_or_model_id",
        "can't load (?:tokenizer|the configuration)",
        "size mismatch for",
    ),
    "no_device": (
        "no accelerator",
        "no cuda-capable device",
        "found no nvidia driver",
        "driver version is insufficient",
        "no cuda gpus are available",
        "invalid device ordinal",
    ),
    "cuda_graph": (
        r"capture (?:\w+ )?cuda graph failed",
        r"cuda ?graph.*\b(?:error|fail\w*)\b",
        r"\b(?:error|fail\w*)\b.*cuda ?graph",
        "streamcapture",
    ),
    "cuda": (
        r"\bcuda error",
        "cudaError",
        "illegal memory access",
        "device-side assert",
        "cublas_status",
        "cudnn_status",
        r"\bNVRM: Xid\b",
    ),
    "stuck": (r"watchdog (?:timeout|caught)", r"watchdog.*timed out", r"heartbeat.*timed? ?out"),
    "connection": ("connection refused", "ConnectError", "cannot connect to host", "ConnectionRefusedError"),
    "permission": ("PermissionError", "permission denied"),
    "assertion": ("AssertionError", "assertion .*failed"),
    "killed": (
        r"(?:^|\s)(?:Killed|Segmentation fault|Aborted|Bus error|Illegal instruction)\b",
        "crashed with exit code",
        r"\bSIGSEGV\b",
        "segfault",
    ),
    "time_out": ("TimeoutError", "ReadTimeout", "timed out"),
}
"""What lines of each kind say; the first kind that fits is taken, so causes stand before their effects."""

CONSEQUENCES = frozenset({"peer_lost", "engine_dead", "killed", "warmup"})
"""Kinds that follow from something else, if anything else is known."""

_COMPILED = tuple((kind, re.compile("|".join(signs), re.IGNORECASE)) for kind, signs in _SIGNS.items())

_PHASES = {
    "CUDA graphs were captured": r"capturing (?:batches|num[ _]tokens)|captur\w+ .*cuda graph",
    "weights were loaded": r"load(?:ing)? .*(?:safetensors|weights?|shards|checkpoint)|load weight begin",
    "code was compiled": r"torch\.compile|compiling|inductor|dynamo",
    "requests were served": r"(?:decode|prefill) batch|avg prompt throughput|POST /",
}
_COMPILED_PHASES = tuple((phase, re.compile(sign, re.IGNORECASE)) for phase, sign in _PHASES.items())


def kind_of(line: str) -> str:
    """Return the kind of failure that a line speaks of, `unknown` if it shows no known sign."""
    return next((kind for kind, sign in _COMPILED if sign.search(line)), "unknown")


def phase_of(text: str) -> str | None:
    """Return what was being done when the log ended, as far as its last lines tell."""
    for line in reversed(re.split(r"[\r\n]+", text[-65536:])):
        for phase, sign in _COMPILED_PHASES:
            if sign.search(line):
                return phase
    return None
