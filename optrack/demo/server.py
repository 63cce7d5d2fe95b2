"""A miniature tensor-parallel inference server: `python -m optrack.demo.server --port 30000`.

Small, but real: rank processes share a model and sum up their parts with all-reduces over loopback sockets,
which the `NCCL_*` variables tune (see `nccl`). This process binds the port, starts the ranks (`engine`) and
answers HTTP (`front`).
"""

import argparse
import signal
import sys
import threading
from types import FrameType

from optrack.demo.engine import Engine, RankFailedError
from optrack.demo.front import FrontEnd
from optrack.demo.log import log
from optrack.demo.text import tokenise

WARM_UP_TOKENS = 32
MAX_TP = 8
MAX_LAYERS = 1024


class _StopRequested(Exception):  # noqa: N818 - not an error
    """SIGINT or SIGTERM has come."""


def main() -> int:
    """Serves until told to stop (0), a rank fails (1) or a setting turns out to be unusable (2)."""
    args = _parse_arguments()
    try:
        front = FrontEnd(args.host, args.port, vars(args))
    except OSError as error:
        log(f"Can't listen on {args.host}:{args.port}: [Errno {error.errno}] {_reason(error)}")
        return 1
    engine = Engine(args.tp, args.layers, args.disable_graph)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _request_stop)
    threading.Thread(target=front.serve_forever, args=[0.05], daemon=True).start()
    try:
        return _serve(engine, front)
    except _StopRequested:
        log("Stopping.")
        return 0
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        engine.stop()
        front.shutdown()
        front.server_close()


def _serve(engine: Engine, front: FrontEnd) -> int:
    log(f"server_args={front.arguments}")
    try:
        engine.start()
        for _ in engine.generate(tokenise("Are you awake?"), WARM_UP_TOKENS):
            pass
        front.engine = engine
        log("The server is fired up and ready to roll!")
        raise RankFailedError(engine.wait())
    except RankFailedError as error:
        log(f"The server can't go on: {error}")
        return error.exit_code


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A miniature tensor-parallel inference server.")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, required=True, help="the port to listen on")
    parser.add_argument("--tp", type=int, default=2, help="ranks to split the model over (%(default)s)")
    parser.add_argument("--layers", type=int, default=3, help="all-reduces in a decode step (%(default)s)")
    parser.add_argument(
        "--disable-graph",
        action="store_true",
        help="schedule each all-reduce as it comes: slower, fewer limits",
    )
    args = parser.parse_args()
    for name, value, high in (("tp", args.tp, MAX_TP), ("layers", args.layers, MAX_LAYERS)):
        if not 1 <= value <= high:
            parser.error(f"argument --{name}: {value} is not from 1 to {high}")
    return args


def _request_stop(number: int, frame: FrameType | None) -> None:
    raise _StopRequested


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


if __name__ == "__main__":
    sys.exit(main())
