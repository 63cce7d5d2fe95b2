"""What the wheel and the source distribution contain."""

from __future__ import annotations

import email
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both distributions, built as a package index would get them."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def wheel_of(folder: Path) -> zipfile.ZipFile:
    (wheel,) = folder.glob("*.whl")
    return zipfile.ZipFile(wheel)


def test_the_wheel_has_every_file_that_the_program_reads(built: Path) -> None:
    with wheel_of(built) as wheel:
        names = set(wheel.namelist())
        assert wheel.read("optrack/demo/quickstart.md") == (ROOT / "plans/quickstart.md").read_bytes()
    here = {str(p.relative_to(ROOT)) for p in (ROOT / "optrack").rglob("*") if p.is_file()}
    wanted = {name for name in here if "__pycache__" not in name}
    assert wanted <= names
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"optrack"}


def test_the_wheel_says_what_it_is(built: Path) -> None:
    with wheel_of(built) as wheel:
        (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(wheel.read(name))
        entries = wheel.read(name.replace("METADATA", "entry_points.txt")).decode()
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert set(metadata.get_all("Provides-Extra", [])) == {"sglang", "mcp", "serve", "mlflow", "test"}
    assert "optrack = optrack.cli:main" in entries


def test_the_source_distribution_holds_its_plan_as_a_file_and_no_runs(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = [member.name.split("/", 1)[1] for member in archive.getmembers()]
        (plan,) = [m for m in archive.getmembers() if m.name.endswith("optrack/demo/quickstart.md")]
        content = archive.extractfile(plan)
        assert content is not None
        assert content.read() == (ROOT / "plans/quickstart.md").read_bytes()
    assert {"README.md", "LICENSE", "CHANGELOG.md", "requirements.lock", "pyproject.toml"} <= set(names)
    assert not [name for name in names if ".optrack" in name or "__pycache__" in name]
