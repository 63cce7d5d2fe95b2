"""Which of some variables anything that ran can read: their names, looked for in the files that ran."""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from optrack.host.libraries import WATCHED
from optrack.host.process_tree import Deadline, Member
from optrack.host.regular import is_folder, is_regular

SEARCH_S = 4.0
"""So long a search may take in all; what it didn't come to by then may be read."""

_CODE = frozenset(
    ".py .pyx .sh .bash .c .cc .cpp .cu .cuh .h .hpp .rs .go .js .mjs .ts .rb .pl .lua .java .toml .yaml .yml".split()
)
_APART = frozenset(
    {".git", ".optrack", "node_modules", "__pycache__", ".venv", "venv", "site-packages", ".tox"}
)
_LARGEST_BYTES = 64 * 2**20
"""A larger library is searched for the variables of a treatment only: it reads those of its own family."""

_IMPORT = re.compile(rb"(?m)^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)")


class RanFiles:
    """The files of what ran: programs, mapped libraries, and the scripts and modules that command lines name."""

    def __init__(self) -> None:
        self._programs: dict[Path, None] = {}
        self._scripts: dict[Path, None] = {}
        self._modules: dict[str, None] = {}

    def add(self, members: Iterable[Member]) -> None:
        """Take in what these processes run, as far as their command lines and maps tell."""
        for member in members:
            self._programs |= dict.fromkeys((Path(member.executable), *(member.mapped or ())))
            words = member.started or member.argv
            for before, word in zip(("", *words), words, strict=False):
                if before == "-m":
                    self._modules[word.partition(".")[0]] = None
                elif word and "\0" not in word and len(word) < 4096 and not word.startswith("-"):
                    self._scripts[Path(member.cwd or "/", word)] = None

    def read_by(
        self,
        names: Collection[str],
        *,
        treatments: Collection[str],
        code: Iterable[Path],
        packages: Iterable[Path],
        until: Deadline,
    ) -> dict[str, str | None]:
        """Return for each name the file that has it, None where no file has; a name is left out if the time was up.

        `code` are the folders of the repositories that ran, `packages` those that the interpreters import from. A name
        that is put together counts by its prefix: `"MY_"` reads MY_CHUNK.
        """
        found: dict[str, str | None] = {}
        patterns = {name: _pattern(name) for name in (*names, *treatments)}
        for path, large in self._files(list(code), list(packages)):
            wanted = [name for name in patterns if name not in found and (not large or name in treatments)]
            if until.left_s <= 0:
                return found
            for name in _containing(path, wanted, patterns):
                found[name] = str(path)
            if len(found) == len(patterns):
                break
        if not all(any(_module(name, [*code, *packages])) for name in self._modules):
            return found  # code that ran wasn't there to be searched
        return {name: found.get(name) for name in patterns}

    def _files(self, code: list[Path], packages: list[Path]) -> Iterator[tuple[Path, bool]]:
        """Yield what ran, likely files first, and whether a file is searched for treatments only: modules that other
        modules import, and large libraries."""
        modules = dict(self._modules)
        for path in (*(path for path in self._scripts if is_regular(path)), *_sources(code)):
            modules |= dict.fromkeys(_imported(path))
            yield path, False
        inner: dict[str, None] = {}
        for path in (path for name in modules for path in _module(name, packages)):
            inner |= dict.fromkeys(_imported(path))
            yield path, False
        yield from ((path, True) for name in inner if name not in modules for path in _module(name, packages))
        libraries = sorted(self._programs, key=_size)
        yield from (
            (path, WATCHED.match(path.name) is not None or _size(path) > _LARGEST_BYTES) for path in libraries
        )


def _pattern(name: str) -> re.Pattern[bytes]:
    """Return what has a variable's name: the whole word, or a prefix of it that is put before other text."""
    cuts = [match.end() for match in re.finditer("_", name) if 3 <= match.end() < len(name)]
    starts = b"|".join(re.escape(name[:cut].encode()) for cut in cuts)
    whole = re.escape(name.encode())
    if len(name) < 4:
        return re.compile(rb"[\"'${]" + whole + rb"(?![A-Za-z0-9_])")
    parts = rb"|[\"'](?:" + starts + rb")[\"'{%$]" if starts else b""
    return re.compile(rb"(?<![A-Za-z0-9_])" + whole + rb"(?![A-Za-z0-9_])" + parts)


def _containing(
    path: Path, names: Collection[str], patterns: Mapping[str, re.Pattern[bytes]]
) -> Iterator[str]:
    if not names:
        return
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            binary = content[:4] == b"\x7fELF"
            for name in names:
                if binary and content.find(name.encode()) < 0:
                    continue
                if patterns[name].search(content):
                    yield name
    except (OSError, ValueError):
        return


def _sources(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in dict.fromkeys(folders):
        for top, below, files in os.walk(folder):
            below[:] = sorted(
                name for name in below if name not in _APART and not (Path(top, name) / "pyvenv.cfg").exists()
            )
            yield from (Path(top, name) for name in sorted(files) if Path(name).suffix in _CODE)


def _imported(path: Path) -> set[str]:
    if path.suffix != ".py" or _size(path) > _LARGEST_BYTES:
        return set()
    try:
        return {name.decode() for name in _IMPORT.findall(path.read_bytes())}
    except OSError:
        return set()


def _module(name: str, packages: Iterable[Path]) -> Iterator[Path]:
    """Yield the files of a module or package, from the first folder that has it."""
    for folder in packages:
        if is_regular(folder / f"{name}.py"):
            yield folder / f"{name}.py"
            return
        if is_folder(folder / name):
            yield from (
                Path(top, file)
                for top, _, files in os.walk(folder / name)
                for file in files
                if file.endswith(".py")
            )
            return


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
