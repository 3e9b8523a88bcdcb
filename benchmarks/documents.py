"""What reading documents costs beside bare JSON decoding."""

from __future__ import annotations

import json

from benchmarks.measuring import Row, interleave
from caesar_agent.documents import Report
from caesar_agent.events.reading import read_events

EVENTS = 100_000
CHANGES = 10_000


def rows() -> list[Row]:
    """Read an event log and a long report, strictly, over ``json.loads`` of the same bytes."""
    log = b"".join(
        b'{"protocol":"caesar.event/v1","seq":%d,"at":"2026-01-01T00:00:00.000Z","task_id":"t",'
        b'"type":"tool_use","tool":"bash","id":"call_%d","input_summary":"make","status":"started"}\n'
        % (number, number)
        for number in range(EVENTS)
    )
    changes = [{"path": f"src/file{number}.py", "action": "modified"} for number in range(CHANGES)]
    report = json.dumps(
        {"protocol": Report.version, "status": "success", "summary": "s", "changes": changes}
    )

    def bare_log() -> object:
        return [json.loads(line) for line in log.split(b"\n") if line]

    ours, bare = interleave(lambda: read_events(log), bare_log, rounds=3)
    parsed, loaded = interleave(lambda: Report.parse(report), lambda: json.loads(report), rounds=9)
    return [
        _told(f"reading {EVENTS} events, over json.loads of each line", ours, bare),
        _told(f"validating a report of {CHANGES} changes, over json.loads", parsed, loaded),
    ]


def _told(what: str, measured: float, floor: float) -> Row:
    return Row(
        what,
        f"{measured / floor:.2f} x ({measured * 1000:.0f} ms)",
        f"{floor * 1000:.0f} ms",
    )
