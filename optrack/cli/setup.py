"""The commands that set up and show the screens: demo, doctor, tui, serve."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import click

from optrack.cli import output
from optrack.cli.call import Call, emit, plan_option, standard, without_plan
from optrack.cli.streams import is_terminal
from optrack.errors import NothingToRunError, OptrackError, UsageError


@click.command("demo")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@without_plan
def demo(call: Call, folder: Path | None) -> int:
    """Make a scratch project with a plan, run the whole plan, and print its progress log.

    The server it tunes is small but real, and everything runs as it does for any plan. It takes two to three
    minutes. FOLDER is the scratch project's; without it, a new temporary folder.
    """
    from optrack.app.files import write_text
    from optrack.app.report_data import log_data
    from optrack.app.running import start_next
    from optrack.cli.follow import Results
    from optrack.demo import make_project
    from optrack.render.document import markdown_log
    from optrack.render.section import WRITTEN

    folder = make_project(folder or Path(tempfile.mkdtemp(prefix="optrack-demo-")))
    output.say(f"the demo's project: {folder}")
    os.chdir(folder)
    project = call.project
    results = Results(call, single=False)
    tried: set[str] = set()
    while True:
        try:
            run = start_next(project, without=tried, sequential=True, wait=True)
        except NothingToRunError:
            break
        tried.add(project.reader.run(run).item)
        if results.follow(run) == 130:
            return results.finish()
    log = folder / "progress.md"
    found = log_data(project.campaign())
    write_text(log, markdown_log(found), output.gate())
    if not call.as_json:
        output.text(["", markdown_log(found, short=True).removesuffix(f"{WRITTEN}\n")])
    output.say(f"progress log: {log}")
    output.say(f"look around: cd {folder} && optrack")
    results.finish()
    return 0


@click.command("doctor")
@standard
def doctor(call: Call) -> int:
    """Check the plan, the database, bash and git, and the host; exit 4 if the host isn't fit."""
    from optrack.app.answers.plans import DoctorAnswer
    from optrack.app.doctor import examine

    answer = DoctorAnswer(checks=examine(call.project))
    emit(call, answer, lambda: [f"{'ok  ' if c.ok else 'BAD '} {c.name}: {c.text}" for c in answer.checks])
    bad = [check for check in answer.checks if not check.ok]
    return 0 if not bad else 4 if all(check.name == "host" for check in bad) else OptrackError.exit_code


@click.command("tui")
@plan_option
@click.option("--read-only", is_flag=True, help="only look: nothing can be started, stopped or marked")
@click.option("--theme", type=click.Choice(["dark", "light"]), default="dark", help="colours; default: dark")
@click.option(
    "--ascii",
    "ascii_only",
    is_flag=True,
    help="draw with ASCII characters alone, as where the locale has no UTF-8",
)
def tui(
    plan_file: Path | None = None, read_only: bool = False, theme: str = "dark", ascii_only: bool = False
) -> None:
    """Show the plan, its runs and the live run on the terminal."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if "TEXTUAL_DRIVER" not in os.environ and not all(is_terminal(stream) for stream in streams):
        raise UsageError(
            "the screens need a terminal for input, output and errors",
            hint="`optrack status` and `optrack show` print; `optrack serve` shows the screens in a browser",
        )
    from optrack.app.watching import Watcher
    from optrack.settings import load_settings
    from optrack.tui.app import OptrackApp

    watcher = Watcher(load_settings(Path.cwd()), plan_file)
    watcher.require_readable()
    encoding = (sys.stdout.encoding or "").lower()
    plain = ascii_only or not encoding.startswith("utf")
    app = OptrackApp(watcher, theme=theme, read_only=read_only, ascii_only=plain)
    app.run()
    if app.defect is not None:
        raise OptrackError(
            f"the screens ended by a defect of their own: {app.defect}",
            hint="runs go on; start the screens again",
        )


@click.command("serve")
@click.option("--host", default="127.0.0.1", help="the address to listen on; default: loopback")
@click.option("--port", type=click.IntRange(1, 65535), default=8765, help="default: 8765")
@click.option("--anywhere", is_flag=True, help="allow an address that other machines can reach")
@click.option("--writable", is_flag=True, help="let visitors start, stop and mark; without it they only look")
@click.option(
    "--max-visitors", type=click.IntRange(1, 100), default=4, help="how many may look at once; default: 4"
)
@standard
def serve(call: Call, host: str, port: int, anywhere: bool, writable: bool, max_visitors: int) -> None:
    """Serve the screens to a browser, on loopback and read-only unless told otherwise, until interrupted.

    Each visitor gets a process on this machine. Pages of other sites are refused, and nothing is loaded from elsewhere.
    """
    from optrack.tui.serve import command_line
    from optrack.tui.serve import serve as serve_screens

    plan = call.campaign.plan.path
    serve_screens(
        command_line(["--plan", plan], writable=writable),
        host=host,
        port=port,
        anywhere=anywhere,
        most=max_visitors,
        say=output.say,
    )
