"""Starts the screens on the re-enacted campaign, to drive them by hand: `python -m tests.tui.by_hand`.

`--server-writes MB` lets a thread write that many megabytes a second to the server's log; `--items N` makes
a plan of N items; `--light`, `--ascii` and `--read-only` are the application's options.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
from pathlib import Path

from optrack.tui.app import OptrackApp
from tests.tui.driving import write_logs
from tests.tui.fake_board import FakeBoard


def keep_writing(log: Path, megabytes: float, stop: threading.Event) -> None:
    """Append log lines at this rate until `stop`."""
    line = b"[2026-03-02 15:12:01 TP0] \x1b[32mINFO\x1b[0m Decode batch. #token: 1234, accept len: 2.05\n"
    block = line * int(megabytes * 1_000_000 / 20 / len(line))
    with log.open("ab", buffering=0) as file:
        while not stop.wait(0.05):
            file.write(block)


def with_many_items(board: FakeBoard, count: int) -> None:
    """Give the board a plan of this many items."""
    first = board._states["5"]
    for number in range(count - len(board._states)):
        item = first.item.model_copy(
            update={"id": f"9.{number}", "rank": 100 + number, "title": f"Try {number}"}
        )
        board._states[item.id] = first.model_copy(update={"item": item})


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--server-writes", type=float, default=0)
    options.add_argument("--items", type=int, default=0)
    for flag in ("--light", "--ascii", "--read-only"):
        options.add_argument(flag, action="store_true")
    chosen = options.parse_args()
    stop = threading.Event()
    with tempfile.TemporaryDirectory() as folder:
        logs = write_logs(Path(folder))
        board = FakeBoard(logs)
        with_many_items(board, chosen.items)
        if chosen.server_writes:
            work = (logs / "server.log", chosen.server_writes, stop)
            threading.Thread(target=keep_writing, args=work, daemon=True).start()
        theme = "light" if chosen.light else "dark"
        app = OptrackApp(board, theme=theme, read_only=chosen.read_only, ascii_only=chosen.ascii)
        app.run()
        stop.set()


if __name__ == "__main__":
    main()
