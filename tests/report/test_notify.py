"""Whoever the settings name is told when a run has ended, and a failure to tell harms nothing."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from optrack.runner.notify import notify
from tests.report.filled import Filled


def told(project: Filled, how: str, folder: Path) -> str | None:
    """Tell of the run of 1A by `how`."""
    run = project.campaign.reader.run("0020")
    judgement = project.campaign.judgement_of(run)
    return notify(how, run, judgement, project=folder, gate=project.campaign.gate)


def test_a_command_gets_the_document_and_the_outcome(project: Filled, tmp_path: Path) -> None:
    assert told(project, "cat > said.json; echo $OPTRACK_ITEM $OPTRACK_OUTCOME > said.txt", tmp_path) is None
    assert (tmp_path / "said.txt").read_text() == "1A failed\n"
    document = json.loads((tmp_path / "said.json").read_text())
    assert document["schema_version"] == 1
    assert document["run"]["failure"]["kind"] == "nccl"
    assert document["judgement"]["verdict"] == "failed"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("echo no such thing >&2; exit 3", "ended with 3: no such thing"),
        ("http://127.0.0.1:9/", "couldn't be reached"),
        ("http://[", "couldn't be reached"),
    ],
)
def test_what_goes_wrong_is_said_and_never_raised(
    project: Filled, tmp_path: Path, how: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert said in (told(project, how, tmp_path) or "")


def test_an_address_gets_the_document_posted(
    project: Filled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    received: list[bytes] = []

    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Listener) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        assert told(project, f"http://127.0.0.1:{server.server_port}/hook", tmp_path) is None
        thread.join()
    assert json.loads(received[0])["event"] == "run_ended"
