"""What people and agents ask of a project's plan: choose, start, follow, stop, mark, decide, import, replay."""

from optrack.campaign.campaign import Campaign
from optrack.campaign.finding import find_run, nearest
from optrack.campaign.standing import now

__all__ = ["Campaign", "find_run", "nearest", "now"]
