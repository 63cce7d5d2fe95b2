"""A project whose runs take a second: no server, and a benchmark that prints a number."""

from __future__ import annotations

from pathlib import Path

PLAN = """---
title: Quick
metric: {name: score, unit: pt, better: higher}
min_effect: 5%
---

```yaml recipe
env: {SPEED: 100}
bench:
  command: "awk -v r=$RANDOM 'BEGIN {printf \\"score = %.3f\\\\n\\", ENVIRON[\\"SPEED\\"] + r / 32768}'"
metrics:
  score: {regex: 'score = ([\\d.]+)', unit: pt, better: higher}
launches: 3
repetitions: 2
```

## Baseline

## 1: Twice the speed

- **Expected gain**: 50 %

```yaml recipe
env: {SPEED: 200}
```

## 2: A failure

```yaml recipe
bench: "echo 'RuntimeError: out of luck' >&2; exit 3"
```
"""


def quick(folder: Path) -> Path:
    """Make the project in `folder` and return it."""
    (folder / "plans").mkdir(parents=True)
    (folder / "optrack.toml").write_text("cpu_share = 1\n", encoding="utf-8")
    (folder / "plans" / "quick.md").write_text(PLAN, encoding="utf-8")
    return folder
