"""The environment that tests run in: what the machine needs, without what its user has set up."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

HIDDEN_PREFIXES = ("OPTRACK_", "GIT_", "XDG_", "NCCL_", "CUDA_", "SGLANG_", "VLLM_")
HIDDEN = ("EDITOR", "VISUAL", "NO_COLOR", "FORCE_COLOR", "PYTHONPATH", "PYTHONWARNINGS")


def clean_environment(environ: Mapping[str, str], *, home: Path, locks: Path) -> dict[str, str]:
    """Return an environment without the user's settings, with this home and this folder for the host's locks.

    Git reads no configuration but the repository's own.
    """
    kept = {
        name: value
        for name, value in environ.items()
        if not name.startswith(HIDDEN_PREFIXES) and name not in HIDDEN
    }
    return kept | {
        "HOME": str(home),
        "OPTRACK_LOCKS": str(locks),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
