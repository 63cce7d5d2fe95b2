"""Parsers and engines by name, and those that another package brings."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from optrack.engines.registry import engine_named, engines
from optrack.errors import PlanError
from optrack.metrics.read import parse_output
from optrack.metrics.registry import parser_named, parser_names, parsers

EXAMPLE = Path(__file__).with_name("example_package")


@pytest.fixture
def installed_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example package as if it were installed: its module and its metadata are on the path."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    metadata = tmp_path / "optrack_example-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 1.0\n")
    groups = project["entry-points"].items()
    lines = [
        f"[{group}]\n" + "\n".join(f"{k} = {v}" for k, v in entries.items()) for group, entries in groups
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.syspath_prepend(str(tmp_path))
    parsers.cache_clear()
    engines.cache_clear()
    yield
    monkeypatch.undo()
    parsers.cache_clear()
    engines.cache_clear()


def test_another_package_adds_a_parser_by_entry_point(installed_example: None) -> None:
    assert "pairs" in parser_names()
    assert parse_output("pairs", b"speed=12.5\n").value("speed") == 12.5
    assert parse_output("auto", b"#pairs\nspeed=12.5\n").tool == "pairs"


def test_another_package_adds_an_engine_by_entry_point(installed_example: None) -> None:
    assert engine_named("sleeper").name == "sleeper"


def test_a_parser_is_found_by_alias_and_in_other_spellings() -> None:
    for name in ("llama-bench", "llama_bench", "llama.cpp", "LLAMA-BENCH"):
        assert parser_named(name).name == "llama-bench"
    assert parser_named("sglang.bench_one_batch_server").name == "sglang.bench_one_batch"


def test_an_unknown_parser_or_engine_names_the_nearest() -> None:
    with pytest.raises(PlanError) as parser:
        parse_output("hyperfin", b"")
    assert parser.value.hint == "did you mean 'hyperfine'?"
    with pytest.raises(PlanError) as engine:
        engine_named("sglan")
    assert engine.value.hint == "did you mean 'sglang'?"


def test_names_are_unique_and_every_parser_names_its_source() -> None:
    names = [name for parser in parsers() for name in (parser.name, *parser.aliases)]
    assert len(names) == len(set(names))
    assert all(parser.source for parser in parsers())
