"""A campaign (`next --all`) is one thing: one of a plan at a time, told of while it runs and waits and at its end."""

from __future__ import annotations

import json
import socket
from typing import Any

from tests.end_to_end.campaigns import QUICK, Campaign, Make, item, wait_for

ONCE = QUICK.replace("launches: 3", "launches: 1")


def campaign(project: Campaign) -> dict[str, Any]:
    """Return what `status` says of the campaign, nothing where there was none."""
    found: dict[str, Any] = json.loads(project.call("status", "--json").out).get("campaign", {})
    return found


def test_a_campaign_that_runs_is_told_of_refuses_a_second_and_ends_after_its_item_on_request(
    make: Make,
) -> None:
    gate = "while [ ! -e go ]; do sleep 0.05; done; bash bench.sh"
    project = make(item("1", "First", "env: {A: 1}") + item("2", "Second", "env: {A: 2}"), base=ONCE)
    plan = next((project.folder / "plans").glob("*.md"))
    plan.write_text(plan.read_text().replace("bash bench.sh", gate))
    assert campaign(project) == {}
    assert project.call("next", "--all", "--detach").code == 0
    assert campaign(project)["state"] == "running"
    for again in (("next", "--all"), ("next", "--all", "--detach")):
        refused = project.call(*again)
        assert refused.code == 2 and "a campaign of this plan goes on" in refused.err
    assert project.call("stop", "--after-item").code == 0
    (project.folder / "go").touch()
    wait_for(lambda: campaign(project)["state"] == "ended", "the end")
    assert "after the item" in campaign(project)["why"]
    assert [run["item"] for run in project.runs()] == ["baseline"]
    assert project.call("stop", "--after-item").code == 2
    assert project.call("next", "--all").code == 0
    assert "campaign: ended" in project.call("status").out


def test_a_campaign_that_waits_for_the_host_says_for_what_and_is_ended_by_stop(make: Make) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        project = make(item("1", "Waits", f"port: {holder.getsockname()[1]}"), base=ONCE)
        project.call("mark", "baseline", "completed", "--why", "measured before")
        assert project.call("next", "--all", "--detach", "--wait").code == 0
        wait_for(lambda: campaign(project)["state"] == "waiting", "the campaign to wait")
        assert str(holder.getsockname()[1]) in campaign(project)["waits_for"]
        stopped = json.loads(project.call("stop", "--json").out)["campaign"]
        assert stopped["state"] == "ended" and "stopped" in stopped["why"]
        wait_for(lambda: project.processes() == [], "the runner's end")
    assert not any(run["item"] == "1" for run in project.runs())
