"""Supervised processes: commands, the trees that grow from them, who they are, and what they leave."""

from __future__ import annotations

from optrack.steps.process.command import MARKER, Command, Exit
from optrack.steps.process.ending import alive
from optrack.steps.process.identity import identity, is_alive, own_identity
from optrack.steps.process.leftovers import end, end_leftovers, leftovers
from optrack.steps.process.reaper import become_subreaper
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
    "become_subreaper",
    "end",
    "end_leftovers",
    "identity",
    "is_alive",
    "leftovers",
    "own_identity",
    "run",
    "start",
]
