"""The packages of the server's own interpreter, found from its process and never by starting it."""

from __future__ import annotations

import base64
import hashlib
import os
import sys
import time
from pathlib import Path

from optrack.host.installed_files import edited_files
from optrack.host.packages import interpreter_of, packages_part
from optrack.host.process_tree import Member, read_tree
from tests.capture.world import BINARY, VERSION, World


def member(
    argv: list[str], env: dict[str, str] | None = None, binary: Path = BINARY, cwd: str = "/"
) -> Member:
    return Member(1, 0, "python", tuple(argv), str(binary), {} if env is None else env, False, cwd)


def test_the_virtual_environment_is_found_from_how_the_interpreter_was_called(world: World) -> None:
    found = interpreter_of(member([str(world.root / "venv/bin/python"), "x.py"]))
    assert found is not None
    assert (found.prefix, found.version) == (world.root / "venv", VERSION.removeprefix("python"))
    assert world.site in found.folders


def test_it_is_found_through_the_process_s_path_too(world: World) -> None:
    found = interpreter_of(member(["python", "x.py"], {"PATH": f"/nowhere:{world.root}/venv/bin"}))
    assert found is not None and found.prefix == world.root / "venv"


def test_it_is_found_by_a_relative_call_too(world: World) -> None:
    found = interpreter_of(member(["bin/python", "x.py"], cwd=str(world.root / "venv")))
    assert found is not None and found.prefix == world.root / "venv"


def test_a_title_in_place_of_the_arguments_leaves_the_environment_to_tell(world: World) -> None:
    found = interpreter_of(member(["sglang::scheduler"], {"VIRTUAL_ENV": str(world.root / "venv")}))
    assert found is not None and found.prefix == world.root / "venv"


def test_a_program_that_is_no_python_has_no_packages() -> None:
    assert interpreter_of(member(["/bin/bash"], binary=Path("/bin/bash"))) is None


def test_the_running_process_itself_has_the_packages_it_sees() -> None:
    import importlib.metadata

    (me,) = read_tree([os.getpid()], os.getpid())
    found = interpreter_of(me)
    assert found is not None
    part = packages_part(found, salt=b"").model_dump()
    assert part["distributions"]["pydantic"] == importlib.metadata.version("pydantic")
    assert part["python"]["version"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}")


def test_names_versions_origins_and_start_up_files_are_read(world: World) -> None:
    (world.site / "sitecustomize.py").write_text("x = 1\n")
    (world.site / "usercustomize").mkdir()
    (world.site / "usercustomize" / "__init__.py").write_text("x = 1\n")
    (world.site / "hook.pth").write_text("import os\n")
    (world.site / "broken-1.0.dist-info").mkdir()
    (world.site / "broken-1.0.dist-info" / "direct_url.json").write_text("{not json")
    (world.site / "Odd_Name.x-2.0.dist-info").mkdir()
    found = interpreter_of(member([str(world.root / "venv/bin/python")]))
    assert found is not None
    part = packages_part(found, salt=b"").model_dump()
    assert part["distributions"] == {
        **{"alpha": "1.0", "beta": "2.0", "broken": "1.0", "gamma": "3.0", "inplace": "0.1"},
        "odd-name-x": "2.0",
    }
    assert part["editable"] == {"inplace": str(world.editable)}
    assert part["direct"] == {"gamma": "https://example.org/g.git@" + "a" * 40}
    assert {Path(name).name for name in part["startup"]} == {"sitecustomize.py", "__init__.py", "hook.pth"}


def test_the_first_folder_that_has_a_package_counts(world: World) -> None:
    (world.root / "over" / "alpha-9.0.dist-info").mkdir(parents=True)
    env = {"PYTHONPATH": str(world.root / "over")}
    found = interpreter_of(member([str(world.root / "venv/bin/python")], env))
    assert found is not None
    assert packages_part(found, salt=b"").model_dump()["distributions"]["alpha"] == "9.0"


def test_a_wiped_environment_is_no_obstacle(world: World) -> None:
    wiped = Member(1, 0, "x", (str(world.root / "venv/bin/python"),), str(BINARY), None, False, "/")
    found = interpreter_of(wiped)
    assert found is not None and found.prefix == world.root / "venv"


def test_installed_code_that_was_edited_in_place_or_put_beside_it_is_listed(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    (site / "engine").mkdir(parents=True)
    (site / "engine-1.0.dist-info").mkdir()
    recorded = []
    for name in ("engine/core.py", "engine/kernel.py"):
        (site / name).write_text("x = 1\n")
        digest = base64.urlsafe_b64encode(hashlib.sha256(b"x = 1\n").digest()).decode().rstrip("=")
        recorded.append(f"{name},sha256={digest},6")
    (site / "engine-1.0.dist-info" / "RECORD").write_text("\n".join(recorded))
    later = time.time() + 3600
    os.utime(site / "engine" / "kernel.py", (later, later))
    assert edited_files([site]) == {}
    (site / "engine" / "core.py").write_text("x = 2\n")
    os.utime(site / "engine" / "core.py", (later, later))
    (site / "engine" / "fast.py").write_text("y = 1\n")
    (site / "tuning.py").write_text("z = 1\n")
    (site / "engine" / "__pycache__").mkdir()
    (site / "engine" / "__pycache__" / "core.cpython-312.pyc").write_bytes(b"0")
    names = [Path(path).relative_to(site).as_posix() for path in edited_files([site])]
    assert names == ["engine/core.py", "engine/fast.py", "tuning.py"]
