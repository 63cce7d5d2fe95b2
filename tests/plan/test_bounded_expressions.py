"""No expression and no YAML in a plan takes long or breaks the reader: each answers with an error at its line."""

from __future__ import annotations

import time

import pytest

from optrack.app.plan_check import check, has_errors
from optrack.plan.read import parse_plan

PLAN = """---
metric: {{name: score, better: higher}}
---

```yaml recipe
bench: echo score = 5
{base}
```

## Baseline

## 1: Other

```yaml recipe
{own}
```
"""
CPU_S = 5.0
NINE = ", ".join(["*{0}"] * 9)
ALIASES = "\n".join(
    [
        "a: &a [x, x, x, x, x, x, x, x, x]",
        *(f"{name}: &{name} [{NINE.format(below)}]" for below, name in ("ab", "bc", "cd", "de")),
        f"env: [{NINE.format('e')}]",
    ]
)
BOMBS = {
    "many signs": f"derived: {{x: '{'-' * 5000}1'}}",
    "signs": f"derived: {{x: '{'-' * 900}1'}}",
    "a long sum": f"derived: {{x: 1{'+1' * 20000}}}",
    "a power": "derived: {x: 3999999**3999999}",
    "a tower": "derived: {x: 9**9**9**9}",
    "a long text": "derived: {x: \"'a'*10**9\"}",
    "a long list": "derived: {x: '[1]*10**9'}",
    "brackets": f"derived: {{x: '{'(' * 400}1{')' * 400}'}}",
    "a shift": "derived: {x: 1<<10**9}",
    "a digit too many": f"derived: {{x: '{'9' * 5000}'}}",
    "a merge into itself": "env: &a {<<: *a}",
    "merges of itself": "env: &a\n  <<: [*a, *a]",
    "an alias in itself": "env: &a [*a]",
    "aliases of aliases": ALIASES,
    "a deep list": f"env: {'[' * 3000}",
    "a deep map": f"env: {'{a: ' * 3000}",
    "a path of brackets": f"metrics: {{y: {{json: '{'(' * 3000}'}}}}",
    "brackets in a path": f"metrics: {{y: {{json: '{'(' * 900}'}}}}",
    "a long index": f"metrics: {{y: {{json: 'a[{'9' * 5000}]'}}}}",
    "an open path": "metrics: {y: {json: 'a['}}",
    "groups": f"metrics: {{y: {{regex: '{'(' * 900}{')' * 900}'}}}}",
    "a huge repetition": "metrics: {y: {regex: 'a{99999999999}'}}",
    "a long value": f"env: {{A: '{'x' * 300_000}'}}",
    "a count": f"launches: {'9' * 5000}",
}


@pytest.mark.parametrize("base", BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_an_error_of_the_plan_at_its_line(base: str) -> None:
    begin = time.process_time()
    plan = parse_plan(PLAN.format(base=base, own="env: {B: 1}").encode(), name="p", path="p.md")
    problems = check(plan)
    assert time.process_time() - begin < CPU_S
    assert has_errors(problems)
    assert min(p.line for p in problems if p.severity == "error") >= 5


@pytest.mark.parametrize(
    ("base", "own"),
    [
        ('server: {mem-fraction-static: {"a": 1}}', "server: {mem-fraction-static: 0.9}"),
        ('server: {mem-fraction-static: {"a": {b: {c: 1}}}}', 'server: {mem-fraction-static: {"a": 2}}'),
        ('server: {mem-fraction-static: {"a": 1}}', 'server: {mem-fraction-static: {"a": 1}}'),
        ("server: {x: [[1]]}", "server: {x: [{a: 1}]}"),
        ("env: {A: {b: 1}}", "env: {A: {b: 2}}"),
    ],
)
def test_a_map_where_a_value_belongs_is_an_error_in_every_layer(base: str, own: str) -> None:
    plan = parse_plan(PLAN.format(base=base, own=own).encode(), name="p", path="p.md")
    assert has_errors(check(plan))


def test_a_condition_of_spaces_is_read_at_once() -> None:
    text = PLAN.format(base="env: {A: 1}", own="env: {B: 1}") + f"\n- **Skip if**: 1{' ' * 380}x\n"
    begin = time.process_time()
    check(parse_plan(text.encode(), name="p", path="p.md"))
    assert time.process_time() - begin < CPU_S
