"""Which differing variables something that ran can have read, and which the server's own program set."""

from __future__ import annotations

from optrack.model.judgement import Difference
from optrack.model.snapshot import Environment


def by_the_program(
    found: list[Difference], candidate: Environment, baseline: Environment
) -> list[Difference]:
    """Turn into notes the variables that the server's own program set for its workers while it ran.

    Neither runner, shell nor wrapper gave them: no side was passed them, and the main process began without
    them. With the same code, packages and start-up files on both sides, such a difference follows from the
    treatment or is the program's own (an id that it draws anew at each start).
    """
    if any(d.severity == "blocking" and d.field.startswith(("git.", "packages", "files")) for d in found):
        return found
    return [
        d.model_copy(
            update={
                "severity": "note",
                "meaning": f"{d.meaning} The server's own program set it at run time.",
            }
        )
        if d.cls == "unexplained"
        and d.field.startswith("env.server.")
        and all(_set_at_run_time(d.field.removeprefix("env.server."), side) for side in (candidate, baseline))
        else d
        for d in found
    ]


def _set_at_run_time(name: str, env: Environment) -> bool:
    if name in (env.passed or {}):
        return False
    if (env.server or {}).get(name) is None:
        return True
    differing = (env.differing or {}).get(name)
    return differing is not None and differing.has("leader") and differing.leader is None
