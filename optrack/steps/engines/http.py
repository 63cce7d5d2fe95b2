"""Requests to the server of a launch, on this host: proxies are ignored, answers are bounded."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from typing import Any

from optrack.steps.engines.protocol import Place

_MOST_BYTES = 16 * 2**20


def call(place: Place, path: str, *, method: str = "GET", timeout_s: float = 10.0) -> tuple[int, bytes]:
    """Return status and body of a request to the server; status 0 if it doesn't answer.

    The proxies that the environment names are for other hosts, so they are not used.
    """
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    host = f"[{place.host}]" if ":" in place.host else place.host
    request = urllib.request.Request(f"http://{host}:{place.port}{path}", method=method)
    try:
        with opener.open(request, timeout=timeout_s) as answer:
            return answer.status, answer.read(_MOST_BYTES)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(_MOST_BYTES)
    except (OSError, http.client.HTTPException) as error:
        return 0, str(error).encode(errors="replace")


def call_json(place: Place, *paths: str) -> Any:
    """Return the JSON document of the first of `paths` that the server answers with one, or None."""
    for path in paths:
        status, body = call(place, path)
        if status == 200:
            try:
                return json.loads(body)
            except (ValueError, RecursionError):
                continue
    return None
