"""Telling whoever the settings name that a run has ended: a command, or an address."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from optrack.app.answers import document
from optrack.app.answers.runs import RunEndedAnswer, RunView
from optrack.engines.server import http_client
from optrack.model.judgement import Judgement
from optrack.model.run import Run
from optrack.model.secrets.gate import Gate

_PATIENCE_S = 30.0
_LONG = {"run": {"snapshot", "recipe", "artifacts"}, "judgement": {"differences"}}
"""What a notification leaves out."""


def notify(how: str, run: Run, judgement: Judgement | None, *, project: Path, gate: Gate) -> str | None:
    """Tell that a run has ended, by `how`: shell text, or an address that begins with http:// or https://.

    A command gets the document on standard input, and OPTRACK_RUN, OPTRACK_ITEM, OPTRACK_OUTCOME and
    OPTRACK_VERDICT in its environment. Returns why it couldn't be told, or None; it never raises.
    """
    answer = RunEndedAnswer(run=RunView.of(run), judgement=judgement)
    body = json.dumps(gate.data(document(answer, exclude=_LONG)), ensure_ascii=False, default=str)
    if how.startswith(("http://", "https://")):
        return _post(how, body.encode())
    verdict = judgement.verdict if judgement is not None and judgement.verdict else "none"
    about = {
        "OPTRACK_RUN": run.id,
        "OPTRACK_ITEM": run.item,
        "OPTRACK_OUTCOME": run.outcome or "running",
        "OPTRACK_VERDICT": verdict,
    }
    return _command(how, body.encode(), about, project)


def _command(shell: str, body: bytes, about: dict[str, str], project: Path) -> str | None:
    try:
        done = subprocess.run(
            ["bash", "-c", shell],
            input=body,
            env=os.environ | about,
            cwd=project,
            timeout=_PATIENCE_S,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"the notify command took longer than {_PATIENCE_S:.0f} s and was ended"
    except OSError as error:
        return f"the notify command couldn't be started: {error}"
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return f"the notify command ended with {done.returncode}{': ' + last[0] if last else ''}"
    return None


def _post(address: str, body: bytes) -> str | None:
    import httpx

    try:
        with http_client(_PATIENCE_S, verify=True, uses_proxies=True) as client:
            answer = client.post(address, content=body, headers={"Content-Type": "application/json"})
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return f"the address to notify couldn't be reached: {type(error).__name__}"
    return f"the address to notify answered {answer.status_code}" if answer.is_error else None
