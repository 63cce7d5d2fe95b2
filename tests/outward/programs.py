"""The programs and plans that projects are made of: a benchmark whose every number is given, and a tiny server."""

from __future__ import annotations

BENCH = """\
(exec 3<>/dev/tcp/127.0.0.1/$PORT; echo >&3; cat <&3) >/dev/null 2>&1
number=${RUN_DIR##*-}
pass=$(cat "$RUN_DIR/passes" 2>/dev/null || echo 0)
echo $((pass + 1)) > "$RUN_DIR/passes"
awk -v launch="$number" -v pass="$pass" 'BEGIN {
  split("0.21 -0.13 0.08 -0.27 0.17 -0.05 0.31 -0.19 0.11 -0.23 0.02", spread, " ")
  turn = launch * 3 + pass + (ENVIRON["ITEM_ID"] == "baseline" ? 4 : 0)
  wide = ENVIRON["WIDE"] ? ENVIRON["WIDE"] : 1
  speed = ENVIRON["SPEED"] ? ENVIRON["SPEED"] : 100
  if (ENVIRON["NCCL_PROTO"] == "LL") speed *= 1.4
  if (ENVIRON["OUTLIER"] && turn % 4 == 1) speed /= 2
  printf "score = %.3f\\n", speed * (1 + wide * spread[turn % 11 + 1] / 100)
  printf "latency = %.3f\\n", (ENVIRON["LATE"] ? ENVIRON["LATE"] : 10) * (1 + spread[(turn + 5) % 11 + 1] / 100)
}'
"""

SERVER = """\
import os, socket, sys
if os.environ.get("CRASH"):
    print("loading weights", flush=True)
    sys.exit("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB")
listening = socket.socket()
listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
if os.environ.get("SILENT"):
    import time
    time.sleep(60)
listening.bind(("127.0.0.1", int(os.environ["PORT"])))
listening.listen(50)
print("ready", flush=True)
body = b"0.41" if os.environ.get("WRONG") else b"0.95"
while True:
    client, _ = listening.accept()
    client.recv(4096)
    client.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 4\\r\\n\\r\\n" + body)
    client.close()
"""

ASK = """\
import os, socket
with socket.create_connection(("127.0.0.1", int(os.environ["PORT"]))) as asked:
    asked.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
    print("accuracy over 3 questions:", asked.recv(4096).split(b"\\r\\n\\r\\n")[1].decode())
"""

SETTINGS = 'cpu_share = 1\nnotify = "cat >> notified.jsonl; echo >> notified.jsonl"\n'

FRONT = """\
---
title: Campaign
metric: {name: score, unit: pt, better: higher}
min_effect: 2%
---

"""

RECIPE = """\
bench: bash bench.sh
metrics: {score: {regex: 'score = ([\\d.]+|nan)', unit: pt, better: higher}}
launches: 3
timeout: {grace: 2s}
"""

GUARDED = """\
launch: exec python3 -S -E server.py
ready: {http: /, timeout: 30s}
bench: bash bench.sh
metrics:
  score: {regex: 'score = ([\\d.]+)', unit: pt, better: higher}
  latency_ms: {regex: 'latency = ([\\d.]+)', unit: ms, better: lower}
check:
  accuracy: {command: python3 -S -E ask.py, min: 0.9}
  latency_ms: {metric: latency_ms, worse: 5%}
derived: {cycle_ms: 1000 / score, break_even: baseline.score * latency_ms / 1000, none: 1 / (score - score)}
launches: 3
timeout: {grace: 2s}
"""

FILES = {"bench.sh": BENCH, "server.py": SERVER, "ask.py": ASK, "optrack.toml": SETTINGS}


def plan(*items: str, recipe: str = RECIPE, front: str = FRONT, baseline: str = "## Baseline\n\n") -> str:
    """Return a plan's text: its base recipe, the baseline, then these items."""
    base = f"```yaml recipe\n{recipe}```\n\n" if recipe else ""
    return front + base + baseline + "".join(items)


def item(label: str, title: str, recipe: str = "", about: str = "", level: int = 2) -> str:
    """Return an item of a plan; `about` is the text and bullets before its recipe."""
    block = f"```yaml recipe\n{recipe}\n```\n\n" if recipe else ""
    return f"{'#' * level} {label}: {title}\n\n" + (f"{about}\n\n" if about else "") + block
