"""Environment variables: which of them can change performance and are recorded by value, and which mean
nothing.

The rest is recorded by name and keyed digest, so that a difference shows and no value is kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote_from_bytes

RELEVANT_PREFIXES: Mapping[str, str] = {
    "NCCL_": "NCCL: algorithm, protocol, channels, buffers, transports",
    "RCCL_": "the same library on AMD",
    "MSCCL": "MSCCL and MSCCL++ collectives",
    "NVSHMEM_": "NVSHMEM: symmetric memory, expert parallelism",
    "UCX_": "UCX transports",
    "UCC_": "UCC collectives",
    "GLOO_": "Gloo: interface and transport of CPU collectives",
    "FI_": "libfabric provider",
    "IB_": "InfiniBand devices",
    "CUDA_": "CUDA: visible devices, connections, module loading, caches",
    "NVIDIA_": "container runtime: devices, TF32 override",
    "CUBLAS_": "cuBLAS: workspace, logging",
    "CUBLASLT_": "cuBLASLt",
    "CUDNN_": "cuDNN",
    "NVTE_": "Transformer Engine",
    "HIP_": "HIP devices",
    "HSA_": "ROCm runtime",
    "ROCR_": "ROCm devices",
    "GPU_": "GPU queues and devices",
    "SGLANG_": "SGLang",
    "SGL_": "SGLang, older names",
    "VLLM_": "vLLM",
    "TRTLLM_": "TensorRT-LLM",
    "TLLM_": "TensorRT-LLM",
    "LMCACHE_": "LMCache",
    "MOONCAKE_": "Mooncake transfer engine",
    "DEEPEP_": "DeepEP expert parallelism",
    "DG_": "DeepGEMM",
    "SPT_": "setproctitle: whether a process keeps its environment visible",
    "EAGLE": "EAGLE drafters",
    "TORCH": "PyTorch, its compiler (TORCHINDUCTOR_, TORCHDYNAMO_) and its distributed layer",
    "PYTORCH_": "PyTorch's allocator and JIT",
    "AOT_": "PyTorch's ahead-of-time graphs",
    "TRITON_": "Triton's compiler and cache",
    "FLASHINFER_": "FlashInfer kernels",
    "FLASH_": "FlashAttention",
    "XFORMERS_": "xFormers",
    "CUTE_": "CuTe DSL",
    "CUTLASS_": "CUTLASS",
    "XLA_": "XLA",
    "TF_": "TensorFlow",
    "OMP_": "OpenMP threads and binding",
    "GOMP_": "GNU OpenMP",
    "KMP_": "Intel and LLVM OpenMP",
    "MKL_": "oneMKL threads and dispatch",
    "DNNL_": "oneDNN",
    "ONEDNN_": "oneDNN",
    "OPENBLAS_": "OpenBLAS threads and kernels",
    "BLIS_": "BLIS threads",
    "NUMEXPR_": "numexpr threads",
    "VECLIB_": "vecLib threads",
    "RAYON_": "threads of Rust libraries (tokenizers)",
    "TOKENIZERS_": "Hugging Face tokenizers' parallelism",
    "HF_": "Hugging Face: caches, offline mode, transfers",
    "TRANSFORMERS_": "transformers: caches, offline mode",
    "SAFETENSORS_": "weight loading",
    "LD_": "the dynamic linker: preloaded libraries, search path",
    "GLIBC_": "glibc tunables: malloc, huge pages, string functions",
    "MALLOC_": "malloc of glibc and jemalloc",
    "JE_MALLOC": "jemalloc",
    "_RJEM_": "jemalloc in Rust programs",
    "TCMALLOC_": "tcmalloc",
    "MIMALLOC_": "mimalloc",
    "PYTHON": "the interpreter: path, hash seed, optimisation, malloc, start-up",
    "RAY_": "Ray",
    "SLURM_CPU": "Slurm's CPU binding",
    "NUMA_": "NUMA placement",
}
"""Prefix of the name -> whose variable it is, and what it can change."""

RELEVANT_PATTERN = re.compile(
    r"(?:^|_)(?:PROFILE|PROFILER|PROFILING|DEBUG|TRACE|TRACING|VERBOSE|SANITIZE|NUM_THREADS|THREADS|NUMA|HUGEPAGES?)"
    r"(?:_|$)|LOG_LEVEL$"
)
"""Names of instruments and of thread counts, whoever reads them: an instrument is a factor too."""

SESSION = re.compile(
    r"^(?:PWD|OLDPWD|SHLVL|_|TERM|TERMINFO|COLORTERM|COLUMNS|LINES|TMUX\w*|STY|WINDOW|WINDOWID|DISPLAY|WAYLAND_DISPLAY|"
    r"SSH_\w+|XDG_\w+|DBUS_\w+|DESKTOP\w*|GNOME_\w*|KDE_\w*|SESSION_MANAGER|XAUTHORITY|LS_COLORS|LSCOLORS|PS[1-4]|"
    r"PROMPT\w*|HIST\w*|LESS\w*|PAGER|EDITOR|VISUAL|MAIL|MOTD\w*|SUDO_\w+|INVOCATION_ID|JOURNAL_STREAM|"
    r"SYSTEMD_\w+|NOTIFY_SOCKET|GPG_\w+|VSCODE_\w+|TERM_\w+|ITERM_\w+|KITTY_\w+|ALACRITTY_\w+|WT_\w+|ZELLIJ\w*|"
    r"BASH_\w+|ZSH\w*|RANDOM|SECONDS|GIT_\w+|DEBUGINFOD_\w+|DEBUGINFOD|PYTEST_\w+|HOSTNAME|LOGNAME)$"
)
"""Variables of the login, the terminal and the shell: they say where somebody sat, not what runs."""

HARMLESS = re.compile(
    r"^(?:PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|STARTUP|_HISTORY|BREAKPOINT|IOENCODING|PYCACHEPREFIX|_COLORS|INSPECT|"
    r"_BASIC_REPL)|\w*_(?:TOKEN|API_KEY|PASSWORD|SECRET)|TOKEN|TF_(?:CLI|VAR|DATA|PLUGIN|WORKSPACE|INPUT|LOG|IN)\w*|"
    r"\w*_?COLORS?|CLICOLOR\w*|NO_COLOR|CI|USER|USERNAME|HOME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TEMP|TMP|PATH|MANPATH|"
    r"INFOPATH|_?(?:VIRTUAL_ENV|CONDA|MAMBA|UV|POETRY|PIP|PIPENV|PIPX|DIRENV|PYENV|RBENV|NVM|FNM|VOLTA|SDKMAN|ASDF|MISE|"
    r"RUSTUP|CARGO|TOX|NIX|LMOD|MODULE\w*|LOADEDMODULES|HOMEBREW|CLAUDE\w*|CURSOR|WINDSURF|ANTHROPIC|CLOUDSDK|AWS|AZURE|"
    r"GOOGLE|GH|GITHUB|GITLAB|BUILDKITE|JENKINS|NPM|npm|NODE_EXTRA|JUPYTER|JPY)(?:_\w*)?|GOPATH|GOROOT|GOBIN|"
    r"SSL_CERT_\w+|\w+_CA_(?:BUNDLE|CERTS?)\w*|\w+_CA_CERTS_FILE|DEBIAN_FRONTEND|BROWSER|FZF_\w+|STARSHIP_\w+|MC_\w+|"
    r"DEBUG_COLORS|GPG_\w+|IS_SANDBOX|container|CONTAINER_\w+|HF_HUB_DISABLE_(?:TELEMETRY|PROGRESS_BARS)|DO_NOT_TRACK|"
    r"SPT_NOENV)$"
)
"""Variables of tools, shells and accounts: what they change is nobody's speed, whoever has their names."""

OWN = re.compile(r"^(?:OPTRACK_\w*|PORT|RUN_DIR|RUN_ID|ITEM_ID|LAUNCH)$")
"""Variables that optrack sets itself; they differ in every run."""

PER_LAUNCH = re.compile(
    r"^(?:MASTER_PORT|NCCL_COMM_ID|TORCHELASTIC_\w+|\w+_PORT|\w*RENDEZVOUS\w*|RDZV_\w+|VLLM_HOST_IP|VLLM_LOOPBACK_IP|"
    r"RAY_(?:JOB_ID|NODE_ID|CLIENT_\w+|RAYLET_PID|ADDRESS)|KMP_REGISTERED_LIB_\w+|__KMP_REGISTERED_LIB_\w+|"
    r"KMP_INIT_AT_FORK|CUDA_MPS_PIPE_DIRECTORY|TORCH_NCCL_\w*_PIPE\w*|SLURM_(?:JOB|STEP|TASK)\w*)$"
)
"""Variables that a launcher chooses anew at every launch: ports, job numbers, pipes."""


def is_relevant(name: str, extra: Collection[str] = ()) -> bool:
    """Whether a variable is recorded by value: by the table, or named in `extra` (a name, or a prefix ending
    in `*` or `_`): recipes and settings name theirs."""
    if OWN.match(name):
        return False
    if any(
        name == known or (known.endswith(("*", "_")) and name.startswith(known.rstrip("*")))
        for known in extra
    ):
        return True
    if PER_LAUNCH.match(name) or SESSION.match(name) or HARMLESS.match(name):
        return False
    return name.startswith(tuple(RELEVANT_PREFIXES)) or RELEVANT_PATTERN.search(name) is not None


def is_certain(name: str) -> bool:
    """Whether a variable counts without anybody being seen to read it: it is of a library's family, not one that only
    its name makes look like an instrument."""
    return is_relevant(name) and name.startswith(tuple(RELEVANT_PREFIXES))


def named_in(texts: Iterable[str]) -> frozenset[str]:
    """Return the variables whose values stand in a recipe's texts, as `$NAME` or `${NAME…}`."""
    found = {name for text in texts for name in _USED.findall(text)}
    return frozenset(name for name in found if not is_noise(name) and name not in ("TMPDIR", "REPO"))


def texts_of(data: Any) -> Iterator[str]:
    """Yield every text of a recipe, as plain data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        yield from (text for value in data.values() for text in texts_of(value))
    elif isinstance(data, (list, tuple)):
        yield from (text for value in data for text in texts_of(value))


_USED = re.compile(r"\$\{?([A-Za-z_]\w*)")


def is_noise(name: str) -> bool:
    """Whether a variable's difference between two runs says nothing: the login's, optrack's own, per
    launch."""
    return any(pattern.match(name) for pattern in (SESSION, OWN, PER_LAUNCH))


def why_relevant(name: str) -> str:
    """Return whose variable this is and what it can change, or an empty text."""
    known = max((prefix for prefix in RELEVANT_PREFIXES if name.startswith(prefix)), key=len, default="")
    return RELEVANT_PREFIXES.get(known, "")


def plain(value: str | bytes) -> str:
    """Return a value as text that can be stored: as it is, or, if it isn't UTF-8, as `bytes:` with every odd
    byte percent-encoded, from which `raw` gives the same bytes again."""
    data = os.fsencode(value) if isinstance(value, str) else value
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "bytes:" + quote_from_bytes(data, safe=" !#$&'()*+,-./:;<=>?@[]^_`{|}~\"\\")
    return text


def parse_environ(data: bytes) -> dict[str, str] | None:
    """Read the contents of `/proc/PID/environ` (proc(5): `NAME=value` entries, each ended by a NUL).

    None means that the process overwrote it (setproctitle does, unless SPT_NOENV is set): nothing can be said
    then, not even that a variable is unset.
    """
    entries = [entry for entry in data.split(b"\0") if entry]
    if data and not any(b"=" in entry for entry in entries):
        return None
    if entries and b"=" not in entries[0]:
        return None
    found: dict[str, str] = {}
    for entry in entries:
        name, equals, value = entry.partition(b"=")
        if equals and name:
            found.setdefault(plain(name), plain(value))
    return found
