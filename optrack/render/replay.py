"""The replay script of a run: makes its code again in new worktrees, and runs its commands in its
environment."""

from __future__ import annotations

import base64
import os.path
import re
import shlex
from collections.abc import Iterator, Mapping
from urllib.parse import unquote_to_bytes

from optrack.model.secrets.masking import is_masked, mask_text
from optrack.model.snapshot import Environment, GitState, Snapshot

_BYTES = "bytes:"
_NAMED = 50
_HEAD = """\
#!/usr/bin/env bash
# Replays run {run} (item {item}): its code in new worktrees, its environment, its commands. <!-- optrack:written -->
#
#   bash {name} code [FOLDER]     makes the code again under FOLDER (default ./replay-{run})
#   bash {name} STEP [FOLDER]     runs one of its commands there: {steps}
#
# The repositories that the code is taken from are left as they are, apart from the worktrees added to them.
set -euo pipefail
step="${{1:-code}}"
folder="$(realpath -m "${{2:-replay-{run}}}")"
"""
_TAIL = """\
case "$step" in
{cases}
  *) echo "usage: $0 code|{choices} [FOLDER]" >&2; exit 2 ;;
esac
"""


def replay_script(
    snapshot: Snapshot,
    *,
    run: str,
    item: str,
    project: str,
    commands: Mapping[str, str],
    name: str = "replay.sh",
    unset: tuple[str, ...] = (),
    salt: bytes = b"",
) -> str:
    """Return a bash script that makes the code state of a run again and runs its commands as they ran.

    `project` is the project's folder, `commands` the shell text of each step (`setup`, `server`, `bench`, …),
    `unset` the variables that the recipe took away. What can't be made again (secrets that were masked, files
    left out of the patch) is said in the script, and asked for where a command needs it.
    """
    steps = {step: mask_text(text, salt) for step, text in commands.items() if text}
    words = " ".join(steps) or "none"
    return "\n".join(
        (
            _HEAD.format(run=run, item=item, name=name, steps=words),
            "code() {",
            *_indented(_code(snapshot)),
            "}",
            "",
            "environment() {",
            *_indented(_environment(snapshot, item, unset)),
            "}",
            "",
            *(line for step, text in steps.items() for line in _step(step, text, snapshot, project)),
            _TAIL.format(
                cases="\n".join(f"  {step}) {_function(step)} ;;" for step in ("code", *steps)),
                choices="|".join(steps),
            ),
        )
    )


def _function(step: str) -> str:
    return "code" if step == "code" else "run_" + re.sub(r"\W", "_", step)


def _indented(lines: Iterator[str]) -> Iterator[str]:
    """Indent shell lines, but nothing inside a here-document."""
    document = ""
    for line in lines:
        if document:
            document = "" if line == document else document
            yield line
            continue
        yield f"  {line}" if line else ""
        found = re.search(r"<<'(\w+)'", line)
        document = found.group(1) if found else ""


def _code(snapshot: Snapshot) -> Iterator[str]:
    yield 'if [ "$(cat "$folder/.replayed" 2>/dev/null)" = whole ]; then'
    yield '  echo "the code is in $folder already" >&2; return'
    yield "fi"
    yield 'mkdir -p "$folder"'
    for name, about in snapshot.repositories.items():
        if about.state is not None:
            yield ""
            yield from _repository(name, about)
    yield ""
    yield 'echo whole > "$folder/.replayed"'


def _repository(name: str, about: GitState) -> Iterator[str]:
    place = f'"$folder"/{shlex.quote(_folder(name))}'
    yield f"# {name}: {_described(about)}"
    if about.state in ("none", "bare") or about.root is None:
        yield f"# {about.problem or 'not a repository with files: nothing to make again'}"
        return
    source, commit = about.copied_from or about.root, about.commit
    root = shlex.quote(source)
    if commit is None:
        yield f"git init -q {place}"
    else:
        missing = f"commit {commit} is not in {source}" + (
            f"; fetch it from {about.remote}" if about.remote else ""
        )
        yield f"git -C {root} cat-file -e {commit} || {{ echo {shlex.quote(missing)} >&2; exit 1; }}"
        yield f'[ ! -e "$folder/.replayed" ] || git -C {root} worktree remove --force {place} 2>/dev/null || true'
        yield f'echo begun > "$folder/.replayed"; git -C {root} worktree add -q -f --detach {place} {commit}'
    yield from _patched(place, about)
    for path, inner in about.submodules.items():
        yield from _submodule(place, path, inner)


def _submodule(place: str, path: str, about: GitState) -> Iterator[str]:
    inside = f"{place}/{shlex.quote(path)}"
    if about.commit is None:
        return
    yield f"git -C {place} submodule update -q --init -- {shlex.quote(path)}"
    if about.commit != about.recorded:
        yield f"git -C {inside} checkout -q --detach {about.commit}"
    yield from _patched(inside, about)


def _patched(place: str, about: GitState) -> Iterator[str]:
    yield from _left_out(about)
    if about.lfs is not None:
        yield f"git -C {place} lfs pull || echo 'LFS files were not fetched' >&2"
    patch = about.patch
    if not patch:
        return
    if about.masked:
        yield f"echo '{about.masked} secrets in the changes were masked; they read <masked:…>' >&2"
    apply = f"git -C {place} apply --whitespace=nowarn --binary -"
    mark = f"PATCH_{about.patch_digest or ''}"
    if patch.startswith(_BYTES):
        yield f"base64 -d <<'{mark}' | {apply}"
        data = base64.b64encode(unquote_to_bytes(patch.removeprefix(_BYTES))).decode()
        yield from (data[start : start + 76] for start in range(0, len(data), 76))
    else:
        yield f"{apply} <<'{mark}'"
        yield from patch.removesuffix("\n").split("\n")
    yield mark


def _left_out(about: GitState) -> Iterator[str]:
    """Name what can't be made again: files whose content the record doesn't have."""
    left = about.left_out
    for path, why in list(left.items())[:_NAMED]:
        yield f"# left out of the patch: {_line(path)} ({why})"
    more = len(left) - _NAMED
    if more > 0:
        yield f"# left out of the patch: {more} more files"
    if about.unread is not None and about.unread.files:
        yield f"# not read, and not made again: {about.unread.files} untracked files"


def _line(text: object) -> str:
    return str(text).encode("unicode_escape").decode()


def _described(about: GitState) -> str:
    where = about.branch or about.state
    changes = "with changes" if about.patch else "clean"
    return f"{where} at {about.commit or 'no commit'}, {changes}"


def _folder(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name)


def _environment(snapshot: Snapshot, item: str, unset: tuple[str, ...]) -> Iterator[str]:
    yield 'export PORT="${PORT:-30000}" RUN_DIR="${RUN_DIR:-$folder/run}" ITEM_ID=' + shlex.quote(item)
    yield 'mkdir -p "$RUN_DIR"'
    code = snapshot.repositories.get("repo")
    if code is not None and code.root is not None:
        yield f'export REPO="$folder"/repo/{shlex.quote(code.inside or "")}'
    env = snapshot.env or Environment()
    passed = env.passed or {}
    for name in unset:
        yield f"unset {name}"
    for name, value in passed.items():
        if is_masked(value):
            yield f': "${{{name}:?is a secret that was masked in the record: set it}}"'
        else:
            yield f"export {name}={shell_word(value)}"
    for name, had in (env.server or {}).items():
        if passed.get(name) != had:
            seen = "unset" if had is None else str(had).replace("\n", "\\n")
            yield f"# the server's processes had {name}: {seen} (set after their start, not passed to them)"


def _step(step: str, text: str, snapshot: Snapshot, project: str) -> Iterator[str]:
    code = snapshot.repositories.get("project")
    root = code.root if code is not None else None
    inside = os.path.relpath(project, root) if root else ""
    where = (
        f'"$folder"/{shlex.quote(_folder("project"))}/{shlex.quote(inside)}' if root else shlex.quote(project)
    )
    yield f"{_function(step)}() {{"
    yield "  environment"
    yield f"  cd {where}"
    yield f"  exec bash -c {shlex.quote(text)}"
    yield "}"
    yield ""


def shell_word(value: str) -> str:
    """Return a recorded value as one word of bash; bytes that aren't UTF-8 come back as they were."""
    if not value.startswith(_BYTES):
        return shlex.quote(value)
    data = unquote_to_bytes(value.removeprefix(_BYTES))
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b"\\'" else f"\\x{byte:02x}" for byte in data)
    return "$'" + "".join(plain) + "'"
