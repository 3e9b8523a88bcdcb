"""Recovering a report from logs of 1, 10 and 50 MB, realistic and hostile; peak memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from benchmarks.measuring import Row
from pytest_caesar.recovery.evidence import Evidence
from pytest_caesar.recovery.sources import MAX_LOG_BYTES, recover

MB = 1024 * 1024
SIZES = (1, 10, 50)
REALISTIC_BOUND = 1.0
"""Seconds for 50 MB of a realistic log."""

GROWTH_BOUND = 1.5
"""Time for ten times the log, over ten times the time; more than that is not linear."""

MEMORY_BOUND = 3
"""Peak memory over the size of the log that is read at most."""

REPORT = json.dumps({"protocol": "caesar.report/v1", "status": "success", "summary": "Done."})
BLOCK = f"\n```json caesar:report\n{REPORT}\n```\n".encode()
BRIEF = "Fix the parser.\n" * 200 + '{"protocol": "caesar.report/v1", "status": "x"}'
TOOL = json.dumps({"type": "tool", "out": 'a line with "quotes", {braces} and\n more. ' * 20})
COMMAND = json.dumps(
    {
        "type": "item.completed",
        "item": {
            "id": "item_1",
            "type": "command_execution",
            "command": "make",
            "aggregated_output": "compiled one more file\n" * 30,
            "exit_code": 0,
            "status": "completed",
        },
    }
)
SAYS = json.dumps(
    {"type": "item.completed", "item": {"type": "agent_message", "text": BLOCK.decode()}}
)
DECLARED = '{"protocol":"caesar.report/v1"'


def filled(unit: str) -> Callable[[int], bytes]:
    """Repeat a piece up to a size."""
    return lambda size: (unit * (size // len(unit) + 1)).encode()


REALISTIC: dict[str, Callable[[int], bytes]] = {
    "plain text, report last": lambda size: (
        filled('12:00:01 INFO job 17 went on, {"step": 3}\n')(size) + BLOCK
    ),
    "JSON lines, report last": lambda size: filled(TOOL + "\n")(size) + BLOCK,
    "JSON lines, report first": lambda size: BLOCK + filled(TOOL + "\n")(size),
    "native stream, report last": lambda size: (
        b'{"type":"thread.started","thread_id":"1"}\n'
        + filled(COMMAND + "\n")(size)
        + SAYS.encode()
        + b'\n{"type":"turn.completed"}\n'
    ),
    "JSON lines, no report": filled(TOOL + "\n"),
}
HOSTILE: dict[str, Callable[[int], bytes]] = {
    "braces alone": filled("{"),
    "a marker on every line": filled("see caesar.report/v1 and caesar:report here\n"),
    "openings of blocks": filled("```json caesar:report\n"),
    "openers that never close": filled(DECLARED + ",\n"),
    "deep nesting": filled(DECLARED + ',"a":'),
    "one line of invalid reports": filled(DECLARED + "} "),
    "one line without a break": filled("x"),
    "one object, all escapes": lambda size: (
        b'{"protocol":"caesar.report/v1","summary":"' + b"\\n" * (size // 2) + b'"}'
    ),
}

_MEMORY = """
import sys
import tempfile
from pytest_caesar.recovery.evidence import Evidence
from pytest_caesar.recovery.sources import recover
with open(sys.argv[1], "rb") as file:
    log = file.read()
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
recover(Evidence(task_id="t", raw_log=log, brief=sys.argv[2]))
with open("/proc/self/status") as file:
    print(next(line.split()[1] for line in file if line.startswith("VmHWM")))
"""


def rows() -> list[Row]:
    """Time of every kind of log, its growth, and the memory of the largest ones."""
    return [
        *(_timed(name, make, REALISTIC_BOUND) for name, make in REALISTIC.items()),
        *(_timed(name, make, None) for name, make in HOSTILE.items()),
        *_memory(),
    ]


def _timed(name: str, make: Callable[[int], bytes], bound: float | None) -> Row:
    seconds = []
    for size in SIZES:
        evidence = Evidence(task_id="t", raw_log=make(size * MB), brief=BRIEF)
        rounds = 5 if size == SIZES[0] else 1
        series = []
        for _ in range(rounds):
            start = time.perf_counter()
            recover(evidence)
            series.append(time.perf_counter() - start)
        seconds.append(sorted(series)[rounds // 2])
    beside = ", ".join(
        f"{size} MB {one * 1000:.0f} ms" for size, one in zip(SIZES, seconds, strict=True)
    )
    if bound is not None:
        return Row(
            f"recover, {name}, 50 MB", f"{seconds[-1]:.2f} s", beside, f"{bound:g} s",
            seconds[-1] <= bound,
        )  # fmt: skip
    growth = seconds[-1] / seconds[1] / (SIZES[-1] / SIZES[1])
    return Row(
        f"recover, hostile: {name}, growth from 10 to 50 MB over the size",
        f"{growth:.2f} x",
        beside,
        f"{GROWTH_BOUND:g} x",
        growth <= GROWTH_BOUND,
    )


def _memory() -> list[Row]:
    if not sys.platform.startswith("linux"):
        return [Row("memory of recovery", "not measured: needs Linux")]
    found = []
    for name, make in {**REALISTIC, **HOSTILE}.items():
        with tempfile.NamedTemporaryFile() as file:
            file.write(make(MAX_LOG_BYTES)[-MAX_LOG_BYTES:])
            file.flush()
            done = subprocess.run(
                [sys.executable, "-c", _MEMORY, file.name, BRIEF],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
        found.append((int(done.stdout) * 1024 / MAX_LOG_BYTES, name))
    worst, name = max(found)
    return [
        Row(
            f"peak memory of recovery, 64 MiB, the worst of {len(found)} logs ({name})",
            f"{worst:.1f} x 64 MiB",
            "interpreter and log included",
            f"{MEMORY_BOUND} x",
            worst <= MEMORY_BOUND,
        )
    ]
