"""The server's log: one line an event, in the shape that inference servers print.

Every process of the server writes to the standard error it shares with the others, so a line, or a whole
traceback, leaves in a single write.
"""

import sys
import time


def log(message: str, rank: int | None = None) -> None:
    """Writes `[2026-11-29 16:41:48 TP0] message`; without a rank it is the front end that speaks."""
    speaker = "" if rank is None else f" TP{rank}"
    sys.stderr.write(f"[{time.strftime('%Y-%m-%d %H:%M:%S')}{speaker}] {message}\n")
    sys.stderr.flush()
