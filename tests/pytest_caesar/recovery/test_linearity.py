"""The work grows with the size of the log and not faster, whatever the log holds.

Work is counted as calls of functions, those of the standard library in C included, so
that the outcome does not depend on the machine.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import FrameType

import pytest

from tests.pytest_caesar.recovery.reports import fence, recovered, report

SMALL, LARGE = 4_000, 32_000
DECLARED = '"protocol":"caesar.report/v1"'


def repeat(unit: str) -> Callable[[int], str]:
    return lambda size: unit * (size // len(unit) + 1)


LOGS: dict[str, Callable[[int], str]] = {
    "braces": repeat("{"),
    "braces and keys": repeat('{"a":'),
    "brackets": repeat("["),
    "quotes": repeat('"'),
    "backslashes": lambda size: '{"a":"' + "\\" * size,
    "blanks after back-ticks": lambda size: "```" + " " * size + "json caesar:report\n",
    "names on every line": repeat("caesar:report caesar.report/v1\n"),
    "names on one line": repeat("caesar:report caesar.report/v1 "),
    "opening lines": repeat("```json caesar:report\n"),
    "opening lines and braces": repeat("```json caesar:report\n{\n"),
    "unclosed": repeat("{" + DECLARED + ",\n"),
    "unclosed with other members": repeat('{"a":{},' + DECLARED + ","),
    "nested": repeat("{" + DECLARED + ',"a":'),
    "nested and closed": lambda size: (
        ("{" + DECLARED + ',"a":') * (size // 40) + "1" + "}" * (size // 40)
    ),
    "deep, then wide": lambda size: ("{" + DECLARED + ',"a":') * 50 + '{"b":1},' * (size // 8),
    "members without an object": repeat('{"a":1},' + DECLARED + ","),
    "members far from their brace": lambda size: (
        '{"a":1,' * (size // 14) + ('"b":1,' + DECLARED + ",") * (size // 70)
    ),
    "prefixed lines": repeat("INFO {\nINFO " + DECLARED + ",\n"),
    "prefixed members": repeat('" ' + DECLARED + 'x"y,\n'),
    "odd quotes": repeat('"a", ' + DECLARED + ',"b":"'),
    "closed and invalid": repeat("{" + DECLARED + "}"),
    "closed and invalid lines": repeat("{" + DECLARED + "}\n"),
    "valid lines": repeat(report() + "\n"),
    "valid lines in one block": lambda size: (
        "```json caesar:report\n" + (report() + "\n") * (size // 70)
    ),
    "blocks": repeat(fence(report())),
    "another task's": repeat(report(task_id="t_0001") + "\n"),
    "strings of JSON lines": repeat(json.dumps({"text": fence(report())}) + "\n"),
    "strings on one line": lambda size: (
        json.dumps([{"text": fence(report())}] * (size // 100)) + "\n"
    ),
    "objects of tools": repeat(json.dumps({"role": "tool", "out": json.loads(report())}) + "\n"),
    "colours": repeat("\x1b[1m{" + DECLARED + "\x1b[0m}\n"),
    "terminal links without an end": repeat("\x1b]8;;"),
    "a native stream": repeat('{"type":"item.completed","item":{"type":"reasoning","text":"x"}}\n'),
    "messages of a native stream": repeat(
        json.dumps(
            {"type": "item.completed", "item": {"type": "agent_message", "text": report("x")}}
        )
        + "\n"
    ),
}


def work(log: str) -> int:
    count = 0

    def profile(_frame: FrameType, _event: str, _argument: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        recovered(log, brief="Do it.\n" + fence(report(summary="Example.")))
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_work_grows_no_faster_than_the_log(log: Callable[[int], str]) -> None:
    recovered(log(SMALL))  # imports and compiled patterns are not counted
    small, large = work(log(SMALL)), work(log(LARGE))

    assert large <= small * (LARGE / SMALL) * 1.5


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_a_block_at_the_end_is_found_after_any_of_them(log: Callable[[int], str]) -> None:
    verdict = recovered(log(SMALL) + "\n" + fence(report("failed", "Last.")), dialect="plain")

    assert (verdict.form, verdict.report.summary) == ("fence", "Last.")
