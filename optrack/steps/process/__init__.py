"""Supervised processes: commands, the trees that grow from them, who they are, and what they leave."""

from __future__ import annotations

from optrack.steps.process.command import MARKER, Command, Exit
from optrack.steps.process.ending import alive
from optrack.steps.process.identity import identity, is_alive, own_identity
from optrack.steps.process.leftovers import await_supervisors, end, end_leftovers, leftovers
from optrack.steps.process.reaper import become_subreaper, go_below_supervisor
from optrack.steps.process.running import CommandTimeoutError, run
from optrack.steps.process.tree import Stopped, Tree, start

__all__ = [
    "MARKER",
    "Command",
    "CommandTimeoutError",
    "Exit",
    "Stopped",
    "Tree",
    "alive",
    "await_supervisors",
    "become_subreaper",
    "end",
    "end_leftovers",
    "go_below_supervisor",
    "identity",
    "is_alive",
    "leftovers",
    "own_identity",
    "run",
    "start",
]
