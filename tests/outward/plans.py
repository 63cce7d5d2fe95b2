"""The plans that projects are made from."""

from __future__ import annotations

from tests.outward.process import ROOT
from tests.outward.programs import FILES, FRONT, GUARDED, RECIPE, item, plan

PLAN = "plans/plan.md"
BLOCKS = RECIPE + "order: block\n"

FASTER = item("1", "Faster", "env: {SPEED: 140}", "- **Expected gain**: 50-60 %\n- **Effort**: 30 minutes")

KINDS = plan(
    item("Priority 1", "NCCL settings", about="- **Expected gain**: 10-20 %\n- **Risk**: low"),
    item("1A", "Faster", "env: {SPEED: 140}", "- **Hypothesis**: more is *more*", 3),
    item("1B", "Slower", "env: {SPEED: 80}", "- **Expected gain**: 5 %", 3),
    item("1C", "The best", "combine: [1A, 1B]", "- **Needs**: 1A, 1B", 3),
    item("2", "Nothing much", "env: {SPEED: 100.1}", "- **Expected gain**: 1-2 pt\n- **Effort**: 1-2 hours"),
    item("3", "Can't tell", "env: {SPEED: 103, WIDE: 40}"),
    item("4", "Two at once", "env: {SPEED: 130, OTHER: x}", "- **Expected gain**: ~2x"),
    item("5", "A failure", "bench: \"echo 'RuntimeError: out of luck' >&2; exit 3\""),
    item("6", "The same failure", "bench: \"echo 'RuntimeError: out of luck' >&2; exit 3\"\nenv: {A: b}"),
    item("7", "Waits", "env: {SPEED: 150}", "- **Needs**: 5"),
    item("8", "Not needed", "env: {SPEED: 150}", "- **Skip if**: 1A is an improvement"),
    item("Priority 9", "By hand", about="Read the profile."),
)

FAILING = plan(
    item("1", "No set-up", "setup: 'echo building; echo error: no such file >&2; exit 2'"),
    item("2", "Crashes at launch", "env: {CRASH: 1}"),
    item("3", "Never ready", "env: {SILENT: 1}\nready: {http: /, timeout: 1s}"),
    item("4", "A benchmark that fails", 'bench: "(echo score = 5; exit 3) | tee /dev/null"'),
    item("5", "A benchmark that hangs", "bench: sleep 60\ntimeout: {bench: 1s, grace: 1s}"),
    item("6", "Not a number", "bench: echo score = nan"),
    item("7", "No number", "bench: echo nothing"),
    item("8", "Not applied", "env: {A: b}\nlaunch: unset A; exec python3 -S -E server.py"),
    item("9", "Unfit", "port: 1"),
    recipe="launch: exec python3 -S -E server.py\nready: {http: /, timeout: 30s}\n"
    + RECIPE.replace("launches: 3", "launches: 1"),
)

GUARDS = plan(
    item("1", "Faster", "env: {SPEED: 140}"),
    item("2", "Faster and wrong", "env: {SPEED: 140, WRONG: 1}\nfactor: cut corners"),
    item("3", "Faster and late", "env: {SPEED: 140, LATE: 12}\nfactor: batching"),
    recipe=GUARDED,
)

TRACKER = """\
# Things to try

- [x] **Read the paper** — 1 hour
- [ ] 1B: Test fewer channels — estimated 5-10ms savings, 30 minutes effort
- [ ] ~~Rewrite it all~~
- [ ] Profile the server
  - [ ] With graphs
  - [ ] Without graphs
"""

ERRORS = plan(
    item("1", "Unknown key", "lauches: 3"),
    item("2", "Bad value", "launches: many", "- **Needs**: 3, 44"),
    item("3", "Circle", "env: {A: 1}", "- **Needs**: 2"),
    item("3", "Twice", "bench: [1, 2]"),
    item("4", "No YAML", "env: {A: 1"),
    item("5", "Not known", "combine: [9]"),
    item("6", "Twice itself", "env: {A: 1}\nenv: {A: 2}"),
    item("7", "A bad guard", "check: {a: {min: 1}}\nderived: {b: 'score +'}"),
    front=FRONT.replace("min_effect: 2%", "min_effect: much\nadpot: auto"),
)

SWEEP = {
    f"results/{name}.txt": f"some tool\nscore = {value}\n"
    for name, value in (("a", 118.5), ("b", 119.25), ("c", 117.75), ("nothing", "none"))
}
SGLANG = (
    '{"backend": "sglang", "max_concurrency": 1, "request_rate": Infinity, "duration": 4.5, "completed": 10, '
    '"total_input_tokens": 1280, "total_output_tokens": 640, "request_throughput": 2.2, '
    '"output_throughput": 142.2, "mean_ttft_ms": 20.5, "median_ttft_ms": 20.1, "accept_length": null}\n'
)

ENGINES = plan(
    item("1", "Tree", "env: {NCCL_ALGO: Tree}"),
    item("2", "More memory", "server: {mem-fraction-static: 0.9, disable-radix-cache: true}"),
    item(
        "3", "Another engine", "engine: vllm\nserver: null\nbench: {tool: vllm.bench_serve, num-prompts: 8}"
    ),
    recipe="engine: sglang\nenv: {NCCL_PROTO: LL, HF_TOKEN: hf_abcdefghijklmnopqrstuvwxyz012345}\n"
    "server: {model-path: org/model, tp: 8, mem-fraction-static: 0.88}\n"
    "bench: {tool: sglang.bench_serving, dataset-name: random, num-prompts: 64, max-concurrency: 1}\n"
    "launches: 3\nrepetitions: 5\n",
    front=FRONT.replace("{name: score, unit: pt,", "{name: output_throughput, unit: tok/s,"),
)


def shipped() -> dict[str, str]:
    """The plans that come with the project, as files."""
    files = sorted((ROOT / "plans").rglob("*"))
    kinds = (".md", ".diff", ".patch", ".py")
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in files
        if path.is_file() and path.suffix in kinds and "results" not in path.parts
    }


def project(text: str, **more: str) -> dict[str, str]:
    """The files of a project with this plan."""
    return {**FILES, PLAN: text, **more}
