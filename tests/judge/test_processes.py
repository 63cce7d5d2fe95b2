"""How processes were started counts as far as it was read."""

from __future__ import annotations

import pytest

from optrack.judge.processes import process_differences
from optrack.model.snapshot import Process, ProcessTree


def tree(*commands: list[str]) -> ProcessTree:
    processes = [Process(name="client", program="/usr/bin/client", command=command) for command in commands]
    return ProcessTree(tree=processes, starts=1, count=len(processes))


@pytest.mark.parametrize(
    ("ours", "differs"),
    [(["client", "-n", "8"], False), (["client", "-n", "9"], True), ([], False)],
)
def test_a_command_line_that_could_not_be_read_is_no_difference(ours: list[str], differs: bool) -> None:
    found = process_differences("bench.processes", tree(["client", "-n", "8"]), tree(ours), {})
    assert bool(found) == differs
