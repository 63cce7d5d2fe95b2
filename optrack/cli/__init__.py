"""The command line: each command is loaded from its file when it is called."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib import import_module

import click

from optrack import __version__
from optrack.cli import output
from optrack.cli.streams import ReaderGoneError, is_terminal
from optrack.errors import InterruptedRunError, OptrackError, UsageError

_SECTIONS: dict[str, dict[str, dict[str, str]]] = {
    "Run": {
        "run": {
            "next": "run the next pending item of the plan",
            "run": "run these items, whatever their rank",
            "attach": "follow a run that is going on",
            "stop": "stop a run and tear its server down",
        },
        "inspect": {"watch": "print transitions and the ends of runs as they happen"},
    },
    "Inspect": {
        "inspect": {
            "status": "show where every item stands, and why",
            "show": "show an item or a run in full",
            "runs": "list the runs so far",
            "log": "print the log of a run",
            "compare": "compare two items or runs: differences, statistics, verdict",
            "diff": "list what differs between the snapshots of two runs",
            "failures": "list the failures so far, by fingerprint",
        }
    },
    "Decide": {
        "decide": {
            "mark": "set an item's status by hand",
            "note": "attach a remark to an item",
            "accept": "record that a difference doesn't matter",
            "adopt": "make an item's configuration the new baseline",
            "ablate": "take a confounded treatment apart",
            "audit": "judge everything again from the stored evidence",
        }
    },
    "Plan": {
        "plan": {
            "plan": "check a plan, show what was understood, write a new one",
            "use": "choose the plan to work on",
            "todo": "export or import the plan as a todo list",
            "add": "add an item: in the database only, or (--write) appended to the plan file",
        }
    },
    "Report": {
        "report": {
            "export": "write the progress log",
            "report": "write one item or run as a document",
            "replay": "print a script that re-creates a run",
        },
        "outputs": {
            "parse": "show what would be recorded of a benchmark's output",
            "import": "record a result that was measured elsewhere",
        },
    },
    "Agents": {
        "agents": {
            "context": "one page for an agent: the plan, what stands where, what it may do",
            "schema": "the JSON Schema of a command's JSON output",
            "mcp": "a Model Context Protocol server for agents, on standard input and output",
        }
    },
    "Set up": {
        "setup": {
            "demo": "run a whole campaign on this machine, without a GPU",
            "doctor": "check whether this host and project are fit to measure",
            "tui": "open the terminal UI (default on a TTY)",
            "serve": "open the terminal UI in a browser",
        }
    },
}
"""The commands under their headings: by the file of `optrack.cli` that holds them, each with its one-line help."""

COMMANDS: dict[str, tuple[str, ...]] = {
    heading: tuple(name for names in files.values() for name in names) for heading, files in _SECTIONS.items()
}
"""The commands by what they are for, in the order in which help lists them."""


def _each() -> Iterator[tuple[str, str, str]]:
    """Yield each command's name, file and one-line help."""
    for files in _SECTIONS.values():
        for file, names in files.items():
            for name, summary in names.items():
                yield name, file, summary


class Commands(click.Group):
    """A group that imports a command's file only when that command is called or described."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order of the help."""
        return [name for name, _, _ in _each()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, imported now; None if there is no such command."""
        return next((_command(file, name) for name, file, _ in _each() if name == cmd_name), None)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their one-line help, under headings, without importing them."""
        for heading, files in _SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([pair for names in files.values() for pair in names.items()])


def _command(file: str, name: str) -> click.Command:
    module = import_module(f"optrack.cli.{file}")
    command: click.Command = getattr(module, name, None) or getattr(module, f"{name}_")
    return command


@click.command(
    cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="optrack")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Run a ranked optimisation plan and say what the evidence shows.

    Without a command: the screens on a terminal, else `optrack status`.
    """
    if ctx.invoked_subcommand is None:
        on_terminal = all(is_terminal(stream) for stream in (sys.stdin, sys.stdout, sys.stderr))
        ctx.invoke(_command("setup", "tui") if on_terminal else _command("inspect", "status"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; every expected error is printed here, once."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in arguments
    output.prepare()
    output.guard(None)
    try:
        result = cli.main(args=arguments, prog_name="optrack", standalone_mode=False)
    except OptrackError as error:
        return output.report(error, as_json=as_json)
    except click.exceptions.Abort:
        return output.report(InterruptedRunError("stopped on request"), as_json=as_json)
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else None
        hint = f"see `{where} --help`" if where else None
        return output.report(UsageError(error.format_message(), hint=hint), as_json=as_json)
    except ReaderGoneError:
        output.streams.give_up()
        return 0
    except OSError as error:
        return output.report(_system_error(error), as_json=as_json)
    return result if isinstance(result, int) else 0


def _system_error(error: OSError) -> OptrackError:
    """Return what the system refused: no room, no permission, no such program."""
    reason = (error.strerror or str(error)).lower()
    if isinstance(error, PermissionError) and error.filename and (owner := _owner(str(error.filename))):
        hint = f"ask {owner} to let you read it"
        return OptrackError(f"{reason}: it belongs to {owner}", where=str(error.filename), hint=hint)
    return OptrackError(reason, where=str(error.filename) if error.filename else None)


def _owner(path: str) -> str | None:
    """Return whose the path is, or the nearest folder above it that can be looked at; None for one's own."""
    import os
    import pwd
    from pathlib import Path

    for place in (Path(path), *Path(path).parents):
        try:
            user = place.stat().st_uid
            return None if user == os.geteuid() else pwd.getpwuid(user).pw_name
        except OSError:
            continue
        except KeyError:
            return f"user {user}"
    return None
