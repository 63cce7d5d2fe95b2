"""What is made of the logs in a folder, as if each were of a server killed before it was ready.

By hand: `python -m tests.process.classified FOLDER…` prints kind, fingerprint, seconds and message of each `*.log`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from optrack.judge.failures import classify


def main(folders: list[str]) -> None:
    """Print a line for each log."""
    for log in sorted(path for folder in folders for path in Path(folder).rglob("*.log")):
        text = log.read_bytes().decode(errors="replace")
        begin = time.monotonic()
        failure = classify(text, stage="ready", exit_code=None, signal="SIGKILL")
        took = time.monotonic() - begin
        sys.stdout.write(
            f"{log.name:40} {failure.kind:14} {failure.fingerprint} {took:.2f} s  {failure.message[:120]}\n"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
