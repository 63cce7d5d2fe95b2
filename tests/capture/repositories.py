"""Git repositories made for a test, with nothing of the user's own settings."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

SETTINGS = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}


def git(folder: Path, *words: str) -> str:
    """Run git in a folder and return what it printed; it must succeed."""
    command = ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *words]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **SETTINGS}, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def new_repository(folder: Path, files: dict[str, str] | None = None) -> Path:
    """Make a repository with one commit of these files (none: no commit)."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    if files:
        commit(folder, files, "first")
    return folder


def commit(folder: Path, files: dict[str, str], message: str) -> str:
    """Write and commit files, and return the commit."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def fingerprint(folder: Path) -> dict[str, tuple[str, int]]:
    """Return content and modification time of every file under a folder, git's own included."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mtime_ns,
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
