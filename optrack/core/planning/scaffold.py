"""A new plan to start from: commented, small, and free of problems."""

from __future__ import annotations

_PLAN = """---
title: {title}
metric: output_throughput    # what verdicts are about; or {{name: …, unit: …, better: lower}}
min_effect: 2%               # smaller differences are no change
---

# {title}

<!-- The first recipe is the base: every item's own recipe is laid over it, key by key. -->

```yaml recipe
engine: command                          # or sglang, vllm
env: {{MODE: plain}}                       # for every step; null unsets an inherited variable
launch: python server.py --port $PORT    # $PORT, $RUN_DIR and $ITEM_ID are set
ready: {{http: /health, timeout: 10m}}
bench: python bench.py --port $PORT      # or {{tool: sglang.bench_serving, num-prompts: 64}}
launches: 3
repetitions: 5
```

## Baseline

What everything is compared with; it runs first.

## Priority 1: Settings

### 1A: First variant

- **Hypothesis**: what you expect, and why
- **Expected gain**: 5-10 %
- **Effort**: 30 minutes

```yaml recipe
env: {{MODE: fast}}
```

### 1B: Second variant

- **Expected gain**: 2-5 %
- **Effort**: 1-2 hours

```yaml recipe
env: {{WORKERS: 2}}
```

### 1C: The best of both

- **Needs**: 1A, 1B

```yaml recipe
combine: [1A, 1B]    # the treatments of those that were an improvement
```

## Priority 2: A patch

- **Effort**: 1 day
- **Skip if**: 1C is an improvement

Once the patch is written, give it a recipe (a block `yaml recipe`): it is applied in a copy of the repository,
`$REPO`, never in your tree.

```yaml
patch: patches/change.diff
launch: cd "$REPO" && exec python3 server.py --port $PORT
```
"""


def new_plan(title: str = "Optimisation plan") -> str:
    """Return the text of a new plan with this title; it passes `plan check`."""
    plain = " ".join(title.split()) or "Optimisation plan"
    safe = plain.replace(": ", " – ").replace(" #", " ").strip("'\"[]{}&*!|>%@`-?:#, ") or "Optimisation plan"
    return _PLAN.format(title=safe)
