"""The whole of a snapshot: captured before the launch, while the server runs, and once more at the end."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from optrack.host.code_capture import CODE_S, capture_code, captured
from optrack.host.environment import (
    describe_file,
    own_places,
    passed_environment,
    server_environment,
)
from optrack.host.hardware import Places, hardware_part
from optrack.host.libraries import libraries_part
from optrack.host.limits import processes_part
from optrack.host.packages import interpreter_of, packages_part
from optrack.host.process_tree import Deadline, Member, read_tree, serving_first
from optrack.host.witnessed import with_witnesses, witnessed_packages
from optrack.model.hardware import Hardware
from optrack.model.part import Part
from optrack.model.snapshot import (
    PARTS,
    Environment,
    GitState,
    Libraries,
    Packages,
    ProcessTree,
    Snapshot,
    WatchedFile,
)


def capture_before(
    *,
    project: Path,
    repo: Path | None,
    copied_from: Path | None = None,
    env: Mapping[str, str | None],
    recipe_env: Mapping[str, str | None],
    watch: Sequence[Path] = (),
    salt: bytes,
    names: Collection[str] = (),
    nvml: Any = None,
    places: Places | None = None,
) -> Snapshot:
    """Capture what is known before the launch: code, passed environment, hardware and its state, watched
    files.

    `env` is what the runner passes to the commands (None unsets), `repo` the repository that the server's
    code comes from (`copied_from`: what it is a copy of), `names` are variables relevant beside the table.
    `nvml` stands in for pynvml, `places` for /proc and /sys.
    """
    code = capture_code(project, repo, copied_from, watch, salt)
    host = capture_host(env=env, recipe_env=recipe_env, salt=salt, names=names, nvml=nvml, places=places)
    return merge(code, host)


def capture_host(
    *,
    env: Mapping[str, str | None],
    recipe_env: Mapping[str, str | None],
    salt: bytes,
    names: Collection[str] = (),
    nvml: Any = None,
    places: Places | None = None,
) -> Snapshot:
    """Capture the passed environment, and the hardware with its state; see `capture_before`."""
    relevant = {*recipe_env, *names}
    passed = {name: value for name, value in env.items() if value is not None}
    own = own_places(passed)
    return Snapshot(
        env=captured(
            lambda: passed_environment(env, names=relevant, salt=salt, places=own), Environment, salt
        ),
        hardware=captured(
            lambda: hardware_part(
                salt=salt, visible=passed.get("CUDA_VISIBLE_DEVICES"), library=nvml, places=places
            ),
            Hardware,
            salt,
        ),
    )


def capture_running(
    pids: Sequence[int],
    *,
    leader: int,
    recipe_env: Mapping[str, str | None],
    salt: bytes,
    names: Collection[str] = (),
    holders: Collection[int] = (),
    earlier: Mapping[int, Member] | None = None,
    witnesses: Sequence[Mapping[str, Any]] = (),
    project: Path | None = None,
    port: int | None = None,
    proc: Path = Path("/proc"),
) -> Snapshot:
    """Capture what the processes of a running server show: effective environment, packages and start-up files
    of its interpreter, code of its editable packages, loaded libraries, affinity and limits. `pids` is the
    whole tree, `holders` those of it that hold the server's `port`; `earlier` is how they were seen before, `witnesses`
    what they wrote down themselves."""
    members = serving_first(with_witnesses(read_tree(pids, leader, proc, earlier), witnesses), holders)
    places = command_places(members, project)
    seen = capture_seen(members, recipe_env=recipe_env, salt=salt, names=names)
    return seen.model_copy(
        update={
            "packages": witnessed_packages(witnesses) or seen.packages,
            "libraries": captured(lambda: libraries_part(members, proc), Libraries, salt),
            "processes": captured(
                lambda: processes_part(members, salt=salt, places=places, port=port, proc=proc),
                ProcessTree,
                salt,
            ),
        }
    )


def capture_seen(
    members: Sequence[Member],
    *,
    recipe_env: Mapping[str, str | None],
    salt: bytes,
    names: Collection[str] = (),
) -> Snapshot:
    """Capture what can be told of processes that may have ended since they were seen: effective environment,
    packages and start-up files of their interpreter, code of its editable packages."""
    relevant, places = {*recipe_env, *names}, run_places(members)
    packages = captured(lambda: server_packages(members, salt), Packages, salt)
    return Snapshot(
        git=captured(lambda: _editable(packages, salt), dict, salt),
        env=captured(
            lambda: server_environment(members, names=relevant, salt=salt, places=places), Environment, salt
        ),
        packages=packages,
    )


def run_places(members: Sequence[Member]) -> dict[str, str]:
    """Return the folders of a run that its processes know by variables."""
    return own_places(next((member.environ for member in members if member.environ), {}))


def command_places(members: Sequence[Member], project: Path | None) -> dict[str, str]:
    """Return the folders that differ between two runs of a command: the run's, the code's, the project's."""
    environ = next((member.environ for member in members if member.environ), {})
    repo = {environ["REPO"].rstrip("/"): "$REPO"} if environ.get("REPO", "").startswith("/") else {}
    folder = {str(project): "$PROJECT", str(project.resolve()): "$PROJECT"} if project is not None else {}
    own = run_places(members)
    run = {str(Path(place).parent): "$RUN" for place in own}
    return folder | repo | run | own


def merge(before: Snapshot, running: Snapshot) -> Snapshot:
    """Return both captures as one snapshot; a part that both have is merged key by key, what ran counting more."""
    parts: dict[str, Any] = {}
    for name in PARTS:
        old, new = getattr(before, name), getattr(running, name)
        parts[name] = new if old is None else old if new is None else _merged(old, new)
    return Snapshot(**parts)


def _merged(old: Any, new: Any) -> Any:
    if isinstance(old, Part):
        return old.model_copy(update={name: getattr(new, name) for name in new.model_fields_set})
    return {**old, **new}


def capture_after(snapshot: Snapshot, *, salt: bytes) -> Snapshot:
    """Look again, at the end of a run, at its code and watched files: what was edited meanwhile is listed under
    `edited_in_run` of its repository and flagged in `files`."""
    git = {name: _looked_again(about, salt) for name, about in (snapshot.git or {}).items()}
    files = {path: _read_again(path, about) for path, about in (snapshot.files or {}).items()}
    return snapshot.model_copy(update={"git": git or snapshot.git, "files": files or snapshot.files})


def _read_again(path: str, about: WatchedFile | str) -> WatchedFile | str:
    if isinstance(about, str) or not about.has("sha256") or about.use is not None:
        return about
    now = describe_file(Path(path)).sha256
    return (
        about
        if now == about.sha256
        else about.model_copy(update={"changed_in_run": True, "sha256_after": now})
    )


def _looked_again(about: GitState | str, salt: bytes) -> GitState | str:
    from optrack.host.git import describe_repository

    if isinstance(about, str) or not about.has("code") or about.root is None:
        return about
    now = describe_repository(Path(about.root), salt=salt, patch=False, until=Deadline(CODE_S))
    if not now.has("code") or _code_state(now) == _code_state(about):
        return about
    before, after = about.tracked or {}, now.tracked or {}
    edited = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    edited = (
        edited or sorted({*about.changed} ^ {*now.changed}) or sorted(now.changed) or ["committed changes"]
    )
    return about.model_copy(
        update={"edited_in_run": edited, "commit_after": now.commit, "code_after": now.code}
    )


def _code_state(about: GitState) -> list[Any]:
    """Return what of a repository's description is its code, submodules included."""
    return [
        about.code,
        {path: [module.commit, _code_state(module)] for path, module in about.submodules.items()},
    ]


def server_packages(members: Sequence[Member], salt: bytes) -> Packages | None:
    for member in members:
        if interpreter := interpreter_of(member):
            return packages_part(interpreter, salt=salt)
    return None


def _editable(packages: Packages | None, salt: bytes) -> dict[str, GitState]:
    """Return the code state of each editable package's repository."""
    from optrack.host.git import describe_repository

    folders = packages.editable if packages is not None else {}
    return {
        f"package {name}": describe_repository(Path(folder), salt=salt) for name, folder in folders.items()
    }
