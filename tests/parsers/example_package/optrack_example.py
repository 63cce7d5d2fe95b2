"""A parser for lines of `name=value`, and an engine whose server only waits: how optrack is extended."""

from __future__ import annotations

from optrack.engines.command import CommandEngine
from optrack.engines.protocol import Place, ServerCommand
from optrack.metrics.output import Output, Parsed, Parser, number, readings_of
from optrack.model.recipe import Recipe
from optrack.model.recipe_parts import Ready


def recognises(output: Output) -> bool:
    """Whether the output says of itself that it is made of pairs."""
    return output.text.startswith("#pairs\n")


def parse(output: Output) -> Parsed:
    """Return each pair whose value is a number as a metric of that name."""
    pairs = (line.partition("=") for line in output.lines if "=" in line)
    readings = readings_of({name.strip(): number(value) for name, _, value in pairs})
    return Parsed(tool="pairs", readings=readings, invalid=None if readings else "no pair with a number")


PAIRS = Parser(name="pairs", source="this package", recognises=recognises, parse=parse)


class SleeperEngine(CommandEngine):
    """Starts a server that only waits, for as long as `server: {seconds: …}` says."""

    name = "sleeper"

    def server(self, recipe: Recipe, place: Place) -> ServerCommand | None:
        """Return the command that waits."""
        return ServerCommand(shell=f"exec sleep {recipe.server.get('seconds', 60)}")

    def ready(self, recipe: Recipe) -> Ready:
        """Return that it is ready at once."""
        return Ready(command="true")
