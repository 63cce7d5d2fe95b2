"""What SGLang's `/server_info` says, reduced to what a record needs and without secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_SECRET = re.compile(r"api_key|token$|password|secret|credential", re.IGNORECASE)
_NOT_ARGUMENTS = frozenset(
    {"internal_states", "version", "launch_command", "startup_time", "frontend", "status", "kv_events"}
)
_OF_THE_LAUNCH = frozenset(
    {"port", "host", "nccl_port", "dist_init_addr", "served_model_name", "random_seed"}
)
_STATE = (
    "max_total_num_tokens",
    "max_req_input_len",
    "effective_max_running_requests_per_dp",
    "memory_usage",
    "avg_spec_accept_length",
    "last_gen_throughput",
)


def report_of(info: Mapping[str, Any], *, asked: Mapping[str, Any], served: str) -> dict[str, Any]:
    """Return version, applied arguments, those applied otherwise than asked, and the server's state.

    `changed` maps an argument to what was asked and what was applied; arguments that belong to one launch
    (address, served name) are left out of `applied`. `ours` says whether the served name is `served`, or
    None where the recipe chose its own.
    """
    states = info.get("internal_states")
    state = states[0] if isinstance(states, list) and states and isinstance(states[0], dict) else {}
    applied = {k: v for k, v in {**state, **info}.items() if k not in _NOT_ARGUMENTS and k not in _STATE}
    changed = {
        name: {"asked": value, "applied": applied[name]}
        for name, value in asked.items()
        if name in applied and not _same(value, applied[name]) and name not in _OF_THE_LAUNCH
    }
    name = info.get("served_model_name", state.get("served_model_name"))
    return {
        "version": info.get("version"),
        "applied": {k: _shown(k, v) for k, v in sorted(applied.items()) if k not in _OF_THE_LAUNCH},
        "changed": {k: v for k, v in changed.items() if not _SECRET.search(k)},
        "state": {k: info.get(k, state.get(k)) for k in _STATE if k in info or k in state},
        "ours": None if name is None or "served_model_name" in asked else name == served,
    }


def _shown(name: str, value: Any) -> Any:
    return "(set)" if _SECRET.search(name) and value else value


def _same(asked: Any, applied: Any) -> bool:
    if asked is None or asked == applied:
        return True
    if isinstance(asked, list) and isinstance(applied, list):
        return [str(item) for item in asked] == [str(item) for item in applied]
    if isinstance(asked, bool) or isinstance(applied, bool):
        return str(asked).casefold() == str(applied).casefold()
    try:
        return float(asked) == float(applied)
    except (TypeError, ValueError):
        return str(asked) == str(applied)
