"""The files that a run uses: those that its commands and processes name, that its scripts and modules mention or
import, and that its processes have open or mapped; each with its content."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from optrack.host.environment import content_digest, regular_content
from optrack.host.process_tree import Deadline, Member, read_bytes, read_link
from optrack.host.regular import is_folder
from optrack.judge.variables import plain
from optrack.model.snapshot import WatchedFile

SEARCH_S = 10.0
"""So long the files of one look may be searched for and read; most take a tenth of a second."""

_MOST_FILES = 3000
_MOST_SOURCES = 500
_SOURCE_LIMIT_BYTES = 2**20
_FOLDER_DEPTH = 3
_WHOLE_BYTES = 16 * 2**20
"""Up to this size a file is read whole, above it its ends, its size, time and inode stand for it."""

_SYSTEM = re.compile(
    r"^/(?:proc|dev|sys|run/user|memfd:|SYSV)|^/usr/(?:lib|share)/(?:locale|zoneinfo|.*gconv)"
)
_LEFT_OUT = re.compile(r"(?:^|/)(?:__pycache__|\.git|\.optrack)(?:/|$)|\.py[co]$")
_INSTALLED = re.compile(r"/(?:site|dist)-packages/|/lib(?:64)?/python3[^/]*/")
_SHELL = (".sh", ".bash")
_PYTHON = re.compile(r"#!.*python")
_MOST_PROGRAMS = 200
_WORDS = re.compile(r"[\w.@%+,~/-]+")
_QUOTED = re.compile(r"""["']([\w.@%+~/-]{1,200})["']""")
_IMPORTS = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+\(?([\w, \t]*)|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)


def used_files(
    commands: Sequence[str],
    members: Sequence[Member],
    *,
    project: Path,
    cwd: Path,
    env: Mapping[str, str],
    apart: Collection[Path] = (),
    known: Iterable[str] = (),
    proc: Path = Path("/proc"),
) -> dict[str, WatchedFile]:
    """Return every used file, by its path within the project or its whole path; `apart` are folders of optrack's own,
    `known` the names of files that an earlier look saw."""
    search = _Search(project, apart)
    for command in commands:
        search.command(_shell_words(command), cwd, env)
    for member in members:
        folder = Path(member.cwd) if member.cwd else cwd
        search.command(member.argv, folder, member.environ or env, "started")
        for path in _open_files(proc / str(member.pid)):
            search.add(path, "opened")
    for name in known:
        search.add(project / name, "named")
    return search.described()


class _Search:
    """The files found so far, each with its role: `named` by a command, `mentioned` by code that ran, `started`
    by a process, `opened` by one."""

    def __init__(self, project: Path, apart: Collection[Path]) -> None:
        self._project = project.resolve()
        self._apart = [str(path.resolve()) for path in apart]
        self._until = Deadline(SEARCH_S)
        self._roles: dict[Path, str] = {}
        self._read: set[Path] = set()
        self._listings: dict[Path, frozenset[str]] = {}
        self._built: dict[tuple[Path, str], list[str]] = {}

    def command(self, words: Sequence[str], cwd: Path, env: Mapping[str, str], role: str = "named") -> None:
        """Take up the files that a command's words name, and what the scripts among them use."""
        roots = [Path(cwd, part) for part in env.get("PYTHONPATH", "").split(":") if part]
        for word in words:
            for text in dict.fromkeys((word, word.rpartition("=")[2])):
                if not text or len(text) > 4096 or "\0" in text:
                    continue
                path = self._within(cwd, text)
                if is_folder(path) and "/" not in (text, str(path)) and text not in (".", ".."):
                    self._folder(path, role)
                elif self.add(path, role):
                    self._follow(path, cwd, roots, role)
        for word in dict.fromkeys(words[:_MOST_PROGRAMS]):
            program = shutil.which(word, path=env.get("PATH", "")) if word and "/" not in word else None
            if program is not None and self.add(Path(program), role):
                self._follow(Path(program), cwd, roots, role)
        if "-m" in words[:-1]:
            self._import(words[words.index("-m") + 1], [cwd, *roots], cwd, roots, role)

    def add(self, path: Path, role: str) -> bool:
        """Take up a path if it is a file that counts, and return whether it does."""
        text = os.path.normpath(path)
        if _SYSTEM.search(text) or _LEFT_OUT.search(text) or len(self._roles) >= _MOST_FILES:
            return False
        try:
            if not path.is_file() or any(text.startswith(f"{folder}/") for folder in self._apart):
                return False
        except OSError:
            return False
        self._roles.setdefault(Path(text), role)
        return True

    def described(self) -> dict[str, WatchedFile]:
        """Return the files by name, each with its content."""
        return {
            self._name(path): _described(path, role, self._until)
            for path, role in sorted(self._roles.items())
        }

    def _name(self, path: Path) -> str:
        for place in (path, path.parent.resolve() / path.name):
            if place.is_relative_to(self._project):
                return plain(str(place.relative_to(self._project)))
        return plain(str(path))

    def _within(self, cwd: Path, text: str) -> Path:
        try:
            return cwd / Path(text).expanduser()
        except RuntimeError:
            return cwd / text

    def _folder(self, top: Path, role: str) -> None:
        """Take up the files of a folder that is named, unless it is one that holds the whole project."""
        if self._project.is_relative_to(top.resolve()):
            return
        for folder, folders, files in os.walk(top):
            if self._until.left_s <= 0 or len(self._roles) >= _MOST_FILES:
                return
            depth = len(Path(folder).relative_to(top).parts)
            folders[:] = sorted(f for f in folders if not f.startswith(".")) if depth < _FOLDER_DEPTH else []
            for name in sorted(files):
                self.add(Path(folder, name), role)

    def _follow(self, path: Path, cwd: Path, roots: Sequence[Path], role: str) -> None:
        """Take up what a script or module mentions and imports; of a shell script, one level."""
        waiting = [path]
        while waiting and len(self._read) < _MOST_SOURCES and self._until.left_s > 0:
            source = waiting.pop()
            text = _source_text(source) if source not in self._read else None
            if text is None or _INSTALLED.search(str(source)):
                continue
            self._read.add(source)
            if source.suffix == ".py" or _PYTHON.match(text):
                waiting += self._of_python(source, text, path.parent, cwd, roots)
            elif source == path:
                waiting += self._of_shell(text, cwd, roots, role)

    def _of_python(
        self, source: Path, text: str, top: Path, cwd: Path, roots: Sequence[Path]
    ) -> Iterator[Path]:
        """Take up the files that a module's texts name, and yield those that it runs."""
        for word in dict.fromkeys(_QUOTED.findall(text)):
            first, slash, _ = word.partition("/")
            for place in dict.fromkeys((cwd, source.parent)):
                within = self._listing(place)
                if first in within or first in ("", ".", ".."):
                    self.add(place / word, "mentioned")
                if (slash or f"{word}.py" in within) and self.add(place / f"{word}.py", "mentioned"):
                    yield place / f"{word}.py"
        for dots, module in _imported(text):
            places = [_above(source, dots)] if dots else [source.parent, top, cwd, *roots]
            yield from self._modules(module, places)

    def _of_shell(self, text: str, cwd: Path, roots: Sequence[Path], role: str) -> Iterator[Path]:
        """Take up the files that a shell script's words name, and yield them."""
        for word in dict.fromkeys(_WORDS.findall(text)):
            if self.add(self._within(cwd, word), "started" if role == "started" else "mentioned"):
                yield self._within(cwd, word)
        for line in text.splitlines():
            words = _shell_words(line)
            if "-m" in words[:-1]:
                self._import(words[words.index("-m") + 1], [cwd, *roots], cwd, roots, role)

    def _import(
        self, module: str, places: Sequence[Path], cwd: Path, roots: Sequence[Path], role: str
    ) -> None:
        for path in self._modules(module, places):
            self._follow(path, cwd, roots, role)

    def _modules(self, module: str, places: Sequence[Path]) -> list[Path]:
        """Take up the files that importing a dotted name runs, from the first folder that has it."""
        parts = [part for part in module.split(".") if part]
        for place in dict.fromkeys(places):
            files: list[Path] = []
            folder = place
            for name in parts:
                within = self._listing(folder)
                ends = [f"{name}.py", *self._built.get((folder, name), ())]
                files += [
                    folder / end for end in ends if end in within and self.add(folder / end, "mentioned")
                ]
                if name not in within:
                    break
                folder = folder / name
                inner = [
                    folder / end for end in ("__init__.py", "__main__.py") if end in self._listing(folder)
                ]
                files += [path for path in inner if self.add(path, "mentioned")]
            if files:
                return files
        return []

    def _listing(self, folder: Path) -> frozenset[str]:
        """Return the names in a folder, read once; none where it can't be read."""
        if folder not in self._listings:
            try:
                self._listings[folder] = frozenset(entry.name for entry in folder.iterdir())
            except OSError:
                self._listings[folder] = frozenset()
            for name in self._listings[folder]:
                if name.endswith(".so"):
                    self._built.setdefault((folder, name.partition(".")[0]), []).append(name)
        return self._listings[folder]


def _described(path: Path, role: str, until: Deadline) -> WatchedFile:
    if until.left_s <= 0:
        return WatchedFile(sha256=None, use=role, problem="there was no time to read it")
    try:
        about = path.stat()
        content = content_digest(path, _WHOLE_BYTES)
        if content.startswith("ends:"):
            content += f" {about.st_size} bytes, {about.st_mtime_ns}, inode {about.st_ino}"
        return WatchedFile(
            sha256=content, size=about.st_size, use=role, changed_s=max(about.st_mtime, about.st_ctime)
        )
    except OSError as error:
        return WatchedFile(sha256=None, use=role, problem=error.strerror or str(error))


def _shell_words(command: str) -> list[str]:
    """Return the words of a shell command, as well as they can be told without running it."""
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&\n")
        lexer.whitespace_split = True
        return list(lexer)
    except ValueError:
        return command.split()


def _source_text(path: Path) -> str | None:
    """Return the text of a script or Python module, None of anything else."""
    data = regular_content(path, _SOURCE_LIMIT_BYTES)
    if path.suffix not in (".py", *_SHELL) and not data.startswith(b"#!"):
        return None
    return None if b"\0" in data[:4096] else data.decode(errors="replace")


def _imported(text: str) -> list[tuple[int, str]]:
    """Return the modules that a source imports, each with the number of its leading dots."""
    found: dict[tuple[int, str], None] = {}
    for dots, module, names, plain_names in _IMPORTS.findall(text):
        for name in (n.split() for n in (plain_names or "").split(",")):
            if name:
                found[0, name[0]] = None
        if dots or module:
            found[len(dots), module] = None
            for name in (n.split() for n in names.split(",")):
                if name:
                    found[len(dots), f"{module}.{name[0]}" if module else name[0]] = None
    return list(found)


def _above(source: Path, dots: int) -> Path:
    """Return the folder that a relative import begins at."""
    return source.parents[min(dots, len(source.parents)) - 1]


def _open_files(process: Path) -> list[Path]:
    """Return the files that a process has mapped, shared libraries left out, or open for reading."""
    found: dict[str, None] = {}
    for line in (read_bytes(process / "maps") or b"").decode(errors="surrogateescape").splitlines():
        place = line.find("/")
        if place > 0 and ".so" not in line and line[20:22] != "x":
            found[line[place:]] = None
    try:
        descriptors = list((process / "fd").iterdir())
    except OSError:
        descriptors = []
    for descriptor in descriptors:
        flags = re.search(rb"flags:\s*(\d+)", read_bytes(process / "fdinfo" / descriptor.name) or b"")
        if flags and int(flags.group(1), 8) & os.O_ACCMODE == os.O_RDONLY:
            found[read_link(descriptor) or ""] = None
    return [Path(name) for name in found if name.startswith("/") and not name.endswith(" (deleted)")]
