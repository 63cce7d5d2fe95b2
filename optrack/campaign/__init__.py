"""What people and agents ask of a project's plan: choose, start, follow, stop, mark, decide, import, replay."""

from optrack.campaign.campaign import Campaign, now
from optrack.campaign.finding import find_run, nearest

__all__ = ["Campaign", "find_run", "nearest", "now"]
