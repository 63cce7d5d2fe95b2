"""The lock file: what pyproject.toml asks for, pinned, with hashes, and from wherever the user's pip looks."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")


def pinned() -> dict[str, str]:
    """The version of each package in the lock file."""
    return dict(re.findall(r"^([a-z0-9-]+)==([^ \\]+)", LOCK, flags=re.MULTILINE))


def asked() -> list[Requirement]:
    """What the package and its tests need, extras followed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [Requirement(text) for text in (*project["dependencies"], *extras["test"])]
    own = [requirement for requirement in wanted if requirement.name == project["name"]]
    wanted += [
        Requirement(text) for requirement in own for extra in requirement.extras for text in extras[extra]
    ]
    return [requirement for requirement in wanted if requirement not in own]


def test_everything_asked_for_is_pinned_to_a_version_that_fits() -> None:
    versions = pinned()
    for requirement in asked():
        name = canonicalize_name(requirement.name)
        assert name in versions, f"{name} isn't in requirements.lock: compile it again"
        assert requirement.specifier.contains(versions[name], prereleases=True), name


def test_every_pin_has_hashes() -> None:
    for entry in re.split(r"\n(?=[a-z0-9])", LOCK):
        if "==" in entry.splitlines()[0]:
            assert "--hash=sha256:" in entry, entry.splitlines()[0]


def test_the_lock_names_no_place_to_download_from() -> None:
    assert "://" not in LOCK
    assert "--index" not in LOCK.replace("--no-emit-index-url", "")
