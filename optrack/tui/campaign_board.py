"""The board of a real campaign: what is recorded, read anew when it changes, and what others do on request."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock

from optrack import decisions
from optrack.campaign import Campaign
from optrack.cli.compare_command import find_run
from optrack.core.events import Entry
from optrack.core.judgement import Judgement
from optrack.core.metrics import series_of
from optrack.core.plan import Plan
from optrack.core.run import Run, Stage
from optrack.core.standing import blocked_by
from optrack.core.state import ItemState, Transition
from optrack.core.status import Status
from optrack.errors import OptrackError, PlanError
from optrack.evidence import Court
from optrack.settings import Settings
from optrack.tui.board import (
    Calibration,
    Compared,
    FailureGroup,
    Gauge,
    LogKind,
    NextItem,
    ResolvedItem,
    Step,
)
