"""A new plan: empty, or from two commands that work already."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Sequence
from importlib.resources import files

from pydantic import Field

from optrack.errors import UsageError
from optrack.model.value import Frozen


def new_plan(title: str = "Optimisation plan") -> str:
    """Return the text of a new plan with this title; it passes `plan check`."""
    plain = " ".join(title.split()) or "Optimisation plan"
    safe = plain.replace(": ", " – ").replace(" #", " ").strip("'\"[]{}&*!|>%@`-?:#, ") or "Optimisation plan"
    return _template("new_plan.md").format(title=safe)


_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_SERVERS = (
    ("sglang", re.compile(r"\S*python[\d.]*\s+(?:-\S+\s+)*?-m\s+sglang\.launch_server\b|\bsglang\s+serve\b")),
    ("vllm", re.compile(r"\bvllm\s+serve\b|\S*python[\d.]*\s+-m\s+vllm\.entrypoints\.openai\.api_server\b")),
)
_BENCHES = (
    ("sglang.bench_serving", re.compile(r"-m\s+sglang\.(?:bench_serving|benchmark\.serving)\b")),
    (
        "sglang.bench_one_batch_server",
        re.compile(r"-m\s+sglang\.(?:bench_one_batch_server|benchmark\.one_batch_server)\b"),
    ),
    ("vllm.bench_serve", re.compile(r"\bvllm\s+bench\s+serve\b")),
)
_SET_BY_OPTRACK = frozenset(
    "host port base-url output-file result-filename result-dir save-result append-result".split()
)
_SHORT = {"-tp": "--tensor-parallel-size", "-pp": "--pipeline-parallel-size", "-dp": "--data-parallel-size"}
_USUAL_PORTS = {"sglang": "30000", "vllm": "8000"}
Argument = bool | int | float | str | list[str]


class Words(Frozen):
    """A command taken apart: variables before it, its program with leading words, and its options."""

    env: dict[str, str] = Field(default_factory=dict)
    program: tuple[str, ...] = ()
    options: dict[str, Argument] = Field(default_factory=dict)


def plan_from_commands(server: str, bench: str, *, title: str = "New campaign") -> str:
    """Return the markdown of a plan whose baseline runs these two commands.

    SGLang and vLLM are recognised, and their arguments become `server:` and `bench:` by name, without those
    that optrack sets itself (address, file for the result). Any other command stays shell text, in which the
    server's port becomes `$PORT`. Raises UsageError for a command with unbalanced quotes or without words.
    """
    served, benched = take_apart(server), take_apart(bench)
    engine = next((name for name, pattern in _SERVERS if pattern.search(server)), "command")
    tool = next((name for name, pattern in _BENCHES if pattern.search(bench)), None)
    port = served.options.get("port")
    port = str(port) if isinstance(port, int) else _USUAL_PORTS.get(engine)
    lines = [] if engine == "command" else [f"engine: {engine}"]
    lines += _mapping("env", {**benched.env, **served.env})
    if engine == "command":
        lines += [f"launch: {_yaml(_with_port(_without_env(server), port))}", "ready: {tcp: true}"]
    else:
        lines += _server_lines(engine, served)
    if tool is not None and tool.startswith(engine):
        lines += ["bench:", f"  tool: {tool}", *_entries(_kept(benched.options, _SET_BY_OPTRACK), "  ")]
    else:
        lines += [f"bench: {_yaml(_with_port(_without_env(bench), port))}"]
    lines += ["launches: 3", "repetitions: 5"]
    return _document(title, lines, known=tool is not None)


def split_commands(text: str) -> tuple[str, str]:
    """Return server's and benchmark's command from one text: two lines, or two commands joined by `&&` or `&`.

    Raises UsageError if there aren't two.
    """
    joined = re.sub(r"\\\r?\n", " ", text).strip()
    parts = [part.strip() for part in re.split(r"\n+|\s+&&?\s+|\s*;\s+", joined) if part.strip()]
    if len(parts) != 2:
        raise UsageError(
            f"expected a server's and a benchmark's command, found {len(parts)}",
            hint="give the two on lines of their own, or joined by &&",
        )
    return parts[0], parts[1]


def take_apart(command: str) -> Words:
    """Return the words of a shell command; raises UsageError if it can't be split."""
    try:
        words = shlex.split(re.sub(r"\\\r?\n", " ", command))
    except ValueError as error:
        raise UsageError(f"the command can't be read: {error}", hint="check its quotes") from error
    env: dict[str, str] = {}
    while words and (words[0] in ("env", "exec", "nohup") or _ASSIGNMENT.fullmatch(words[0])):
        match = _ASSIGNMENT.fullmatch(words.pop(0))
        if match:
            env[match[1]] = match[2]
    words = [word for word in words if word not in ("&", ">", "2>&1")]
    if not words:
        raise UsageError("the command is empty")
    words = [_SHORT.get(word, word) for word in words]
    first = next((i for i, word in enumerate(words) if word.startswith("--")), len(words))
    return Words(env=env, program=tuple(words[:first]), options=_options(words[first:]))


def _options(words: Sequence[str]) -> dict[str, Argument]:
    found: dict[str, list[str]] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            found[name] = [value] if equals else []
        elif name:
            found[name].append(word)
    return {n: (_typed(v[0]) if len(v) == 1 else v) if v else True for n, v in found.items()}


def _typed(text: str) -> int | float | str:
    if re.fullmatch(r"-?(?:0|[1-9]\d*)", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d+\.\d+", text) else text


def _server_lines(engine: str, served: Words) -> list[str]:
    arguments = _kept(served.options, {"host", "port"})
    program = list(served.program)
    if engine == "vllm" and "serve" in program:
        rest = program[program.index("serve") + 1 :]
        program = program[: program.index("serve") + 1]
        arguments = ({"model": rest[0]} if rest else {}) | arguments
    own = " ".join(program)
    usual = {"python3 -m sglang.launch_server", "python -m sglang.launch_server", "vllm serve"}
    launch = [] if own in usual or engine == "vllm" else [f"launch: {_yaml('exec ' + own)}"]
    return [*launch, *_mapping("server", arguments)]


def _kept(options: dict[str, Argument], without: Iterable[str]) -> dict[str, Argument]:
    return {name: value for name, value in options.items() if name.replace("_", "-") not in set(without)}


def _without_env(command: str) -> str:
    text = re.sub(r"\\\r?\n\s*", " ", command).strip()
    pattern = r"(?:env\s+)?(?:[A-Za-z_][A-Za-z0-9_]*=(?:'[^']*'|\"[^\"]*\"|\S*)\s+)+"
    return re.sub(r"\s*&$", "", re.sub(f"^{pattern}", "", text))


def _with_port(command: str, port: str | None) -> str:
    return re.sub(rf"(?<!\d){port}(?!\d)", "$PORT", command) if port else command


def _mapping(key: str, values: dict[str, Argument] | dict[str, str]) -> list[str]:
    return [f"{key}:", *_entries(values, "  ")] if values else []


def _entries(values: dict[str, Argument] | dict[str, str], indent: str) -> list[str]:
    return [f"{indent}{name}: {_yaml(value)}" for name, value in values.items()]


def _yaml(value: Argument) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(_yaml(_typed(item)) for item in value)}]"
    plain = re.fullmatch(r"[A-Za-z/.][\w./+-]*", value) and value.casefold() not in _YAML_WORDS
    return value if plain else json.dumps(value, ensure_ascii=False)


_YAML_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def _document(title: str, recipe: list[str], *, known: bool) -> str:
    return _template("plan_from_commands.md").format(
        title=json.dumps(title, ensure_ascii=False),
        heading=title,
        metric="output_throughput" if known else "throughput",
        hint=""
        if known
        else "\nSay under `metrics` where the benchmark's output has the metric named above.\n",
        block="\n".join(recipe),
    )


def _template(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
