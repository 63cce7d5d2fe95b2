"""The replay script of a run: makes its code again in new worktrees, and runs its commands in its environment."""

from __future__ import annotations

import base64
import os.path
import re
import shlex
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from optrack.model.secrets.masking import is_masked, mask_text
from optrack.model.snapshot import Environment as Variables
from optrack.model.snapshot import Snapshot

_BYTES = "bytes:"
_NAMED = 50
"""So many of the files that a patch lacks are named."""


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
    env = snapshot.env or Variables()
    return _template().render(
        snapshot=snapshot,
        run=run,
        item=item,
        name=name,
        steps={step: mask_text(text, salt) for step, text in commands.items() if text},
        where=_where(snapshot, project),
        repo=snapshot.repositories.get("repo"),
        unset=unset,
        passed=env.passed or {},
        server=env.server or {},
        most_named=_NAMED,
    )


@cache
def _template() -> Template:
    """The script's template: nothing is escaped but what passes through `quote`, `word`, `comment` and `folder`."""
    environment = Environment(
        loader=PackageLoader("optrack.render"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "quote": shlex.quote,
        "word": shell_word,
        "payload": _payload,
        "folder": _folder,
        "function": lambda step: "code" if step == "code" else "run_" + re.sub(r"\W", "_", step),
        "comment": lambda text: str(text).encode("unicode_escape").decode(),
    }
    environment.tests["masked"] = is_masked
    return environment.get_template("replay.sh.j2")


def _where(snapshot: Snapshot, project: str) -> str:
    """Return the shell word for the folder in which commands run: the project's, in the code that was made again."""
    code = snapshot.repositories.get("project")
    if code is None or code.root is None:
        return shlex.quote(project)
    return f'"$folder"/{_folder("project")}/{shlex.quote(os.path.relpath(project, code.root))}'


def _folder(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name)


class Payload(NamedTuple):
    """A patch as the text of a here-document: as it is, or in base64 where it isn't text."""

    text: str
    is_binary: bool


def _payload(patch: str) -> Payload:
    if not patch.startswith(_BYTES):
        return Payload(patch.removesuffix("\n"), is_binary=False)
    data = base64.b64encode(unquote_to_bytes(patch.removeprefix(_BYTES))).decode()
    return Payload("\n".join(data[start : start + 76] for start in range(0, len(data), 76)), is_binary=True)


def shell_word(value: str) -> str:
    """Return a recorded value as one word of bash; bytes that aren't UTF-8 come back as they were."""
    if not value.startswith(_BYTES):
        return shlex.quote(value)
    data = unquote_to_bytes(value.removeprefix(_BYTES))
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b"\\'" else f"\\x{byte:02x}" for byte in data)
    return "$'" + "".join(plain) + "'"
