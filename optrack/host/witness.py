#!/usr/bin/env python3
"""A program, `witness.py COMMAND…`: writes down what it was started with, then becomes the command.

It stands before a server's command where optrack can't look into the server's process: in a container, on another
node, under another user. It needs Python 3.6 and nothing else, writes `witness-PID.json` into $RUN_DIR (or beside
itself), and whatever goes wrong with that never keeps the server from starting. Secrets are left out by name and look.
"""
# mypy: ignore-errors

import json
import os
import re
import resource
import shutil
import subprocess
import sys

MASK = "<masked:0000000000000000>"
TELLING = re.compile(
    r"(?i)(?:^|[_\-.])(?:api[_\-]?key|access[_\-]?key|private[_\-]?key|key|token|secret|password|passwd|credentials?"
    r"|auth|authorization|cookie|session|dsn|webhook|bearer|pat)(?:$|[_\-.\d])"
)
FORMATS = re.compile(
    r"hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_\-]{12,}|gh[opsur]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w\-]{12,}"
    r"|AKIA[0-9A-Z]{12,}|AIza[\w\-]{20,}|xox[abprs]-[\w\-]{8,}|eyJ[\w\-]{8,}\.[\w\-]{8,}\.[\w\-]*|nvapi-[\w\-]{12,}"
    r"|-----BEGIN[^-]*-----[\s\S]*?(?:-----END[^-]*-----|$)|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
)
LOOK = """
import json, os, sys
names = {}
for folder in sys.path:
    try:
        entries = os.listdir(folder or ".")
    except OSError:
        continue
    for entry in entries:
        for end in (".dist-info", ".egg-info"):
            if entry.endswith(end):
                name, _, version = entry[:-len(end)].partition("-")
                names.setdefault(name.lower().replace("_", "-"), version.split("-py")[0])
print(json.dumps({"executable": sys.executable, "version": sys.version.split()[0], "prefix": sys.prefix,
                  "path": [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p], "packages": names}))
"""


def main(command):
    if not command:
        sys.exit("usage: witness.py COMMAND…")
    try:
        write(seen(command))
    except Exception as error:
        sys.stderr.write("witness: %s: %s\n" % (type(error).__name__, error))
    os.execvp(command[0], command)


def seen(command):
    program = shutil.which(command[0]) or command[0]
    return {
        "version": 1,
        "argv": words(command),
        "program": os.path.realpath(program),
        "cwd": os.getcwd(),
        "environ": {name: masked(name, value) for name, value in os.environ.items()},
        "pid": os.getpid(),
        "parent": os.getppid(),
        "start_ticks": start_ticks(),
        "namespaces": {name: namespace(name) for name in ("pid", "net", "mnt", "ipc", "user")},
        "limits": limits(),
        "affinity": sorted(os.sched_getaffinity(0)),
        "nice": os.nice(0),
        "host": os.uname().nodename,
        "kernel": os.uname().release,
        "python": interpreter(program),
    }


def masked(name, value):
    return MASK if value and TELLING.search(name) else FORMATS.sub(MASK, value)


def words(command):
    done, flag = [], ""
    for word in command:
        name, equals, _ = word.partition("=")
        if equals and TELLING.search(name.lstrip("-")):
            done.append(name + "=" + MASK)
        else:
            done.append(MASK if flag and not word.startswith("-") else FORMATS.sub(MASK, word))
        flag = word if word.startswith("-") and not equals and TELLING.search(word.lstrip("-")) else ""
    return done


def start_ticks():
    with open("/proc/self/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[19])


def namespace(name):
    try:
        return os.readlink("/proc/self/ns/" + name)
    except OSError:
        return None


def limits():
    names = (name for name in dir(resource) if name.startswith("RLIMIT_"))
    return {name[7:].lower(): list(resource.getrlimit(getattr(resource, name))) for name in names}


def interpreter(program):
    path = program
    for _ in range(2):
        if os.path.basename(path).startswith(("python", "pypy")):
            out = subprocess.check_output([path, "-c", LOOK], stderr=subprocess.DEVNULL, timeout=20)
            return json.loads(out.decode("utf-8", "replace"))
        with open(path, "rb") as file:
            first = file.readline(512)
        if not first.startswith(b"#!"):
            return None
        line = first[2:].decode("utf-8", "replace").split()
        path = shutil.which(line[1]) if os.path.basename(line[0]) == "env" and len(line) > 1 else line[0]
        if not path:
            return None
    return None


def write(about):
    folder = os.environ.get("RUN_DIR", "")
    folder = folder if os.path.isdir(folder) else os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(folder, "witness-%d.json" % about["pid"])
    descriptor = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(about, file, sort_keys=True)
    os.rename(path + ".new", path)


if __name__ == "__main__":
    main(sys.argv[1:])
