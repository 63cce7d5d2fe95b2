"""Small plans for the tests, and how they are read."""

from __future__ import annotations

from textwrap import dedent

from optrack.model.item import ItemState
from optrack.model.judgement import Effect, Judgement, Verdict
from optrack.model.plan import Plan, Status
from optrack.plan.read import parse_plan

CAMPAIGN = """\
---
title: Verify faster
metric: output_throughput
min_effect: 2%
target: 100 tok/s
---
# Verify faster

```yaml recipe
env: {NCCL_ALGO: Ring, NCCL_MAX_NCHANNELS: 16}
launch: python server.py --port $PORT
bench: python bench.py
```

## Priority 1: NCCL tuning

### 1A: Tree algorithm
- **Expected gain**: 5-10 ms
- Effort: 30 minutes

```yaml recipe
env: {NCCL_ALGO: Tree}
```

### 1B: Fewer channels
```yaml recipe
env: {NCCL_MAX_NCHANNELS: 2}
```

### 1C: The best of both
- **Needs**: 1A, 1B

```yaml recipe
combine: [1A, 1B]
```

## Priority 2: Fusion
- Skip if: 1B is an improvement

```yaml recipe
patch: patches/fusion.diff
```
"""


def read(text: str) -> Plan:
    """Read a plan from indented text."""
    return parse_plan(dedent(text).encode(), name="plan", path="plan.md")


def outline(plan: Plan) -> list[tuple[str, str, str | None]]:
    """Return id, title and parent of each item."""
    return [(item.id, item.title, item.parent) for item in plan.items]


def states(
    plan: Plan, verdicts: dict[str, Verdict] | None = None, statuses: dict[str, Status] | None = None
) -> list[ItemState]:
    """Return a state for each item: completed with a verdict, or with the status given, else pending."""
    found = []
    for item in plan.items:
        verdict = (verdicts or {}).get(item.id)
        status: Status = "completed" if verdict else (statuses or {}).get(item.id, "pending")
        found.append(
            ItemState(
                item=item,
                status=status,
                runs=int(bool(verdict)),
                judgement=judged(verdict) if verdict else None,
            )
        )
    return found


def judged(verdict: Verdict, relative: float = 0.1) -> Judgement:
    """Return a judgement with this verdict and effect."""
    effect = Effect(relative=relative, low=relative - 0.01, high=relative + 0.01, confidence=0.95)
    return Judgement(
        verdict=verdict, baseline="b", candidate="c", metric="m", comparison="fair", effect=effect
    )
