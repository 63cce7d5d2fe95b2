"""Plans whose server is Python's own file server and whose benchmark prints a figure at once."""

from __future__ import annotations

from tests.end_to_end.campaigns import ASK

SMALL = r"""---
title: A small plan
metric: {name: speed, unit: x/s, better: higher}
---

```yaml recipe
launch: exec python3 -m http.server $PORT --bind 127.0.0.1
ready: {http: /, timeout: 60s}
bench: {command: ASK echo speed = 5, parser: rules}
metrics: {speed: {regex: 'speed = ([\d.]+)', better: higher}}
timeout: {bench: 60s, grace: 2s}
```

## Baseline

## 1: Another figure

```yaml recipe
bench: {command: ASK echo speed = 6}
```
""".replace("ASK echo speed = 5", f"'{ASK}echo speed = 5'").replace(
    "ASK echo speed = 6", f"'{ASK}echo speed = 6'"
)


def with_recipe(recipe: str) -> str:
    """Return the small plan with this recipe in the place of its experiment's."""
    return SMALL.replace(f"bench: {{command: '{ASK}echo speed = 6'}}", recipe.strip())
