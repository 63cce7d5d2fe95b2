"""What people and agents ask of a project's plan: choose, start, follow, stop, mark, decide, import, replay."""

from optrack.campaign.campaign import Campaign, find_run, nearest, now

__all__ = ["Campaign", "find_run", "nearest", "now"]
