"""A document in which there is something for every part of the page."""

from __future__ import annotations

from typing import Any

from tests.pytest_caesar.reporting.documents import document, run_entry, told_test

LIAR = "tests/test_parser.py::test_lies"
TRIED = "tests/test_parser.py::test_rate"


def everything() -> dict[str, Any]:
    """Return it."""
    child = run_entry(LIAR, "partial", task_id="t_0001_1", agent="reviewer", number=1)
    liar = run_entry(
        LIAR,
        source="extracted",
        declared=[{"path": "src/b.py", "action": "modified", "summary": "not so"}],
        changes=[{"path": "src/a.py", "action": "modified", "outside": False}],
        undeclared=["src/a.py"],
        phantom=["src/b.py"],
        brief="You are a sub-agent.\n\n## Objective\n\nFix it\n\n## Reporting\n\nWrite t_0001 JSON",
        diagnostics=[
            {"code": "report-file-invalid", "message": "report.json is no report", "path": None},
            {"code": "undeclared-change", "message": "src/a.py changed", "path": "src/a.py"},
        ],
        commands=[
            {"command": "pytest -q", "declared_exit_code": 0, "observed_exit_code": 1,
             "verdict": "contradicted", "witnesses": ["stream"], "duration": 2.5,
             "changed_after": ["src/a.py"]},
        ],
        usage={"input_tokens": 41000, "cached_input_tokens": 9000, "output_tokens": 200,
               "cost_usd": 0.18, "turns": 4, "at_least": True, "source": "stream"},
        questions=[
            {"question": "Keep it?", "options": ["yes", "no"], "state": "answered", "answer": "no"}
        ],
        gates=[{"gate": "tests", "passed": False, "command": "pytest", "exit_code": 1,
                "output": "1 failed", "severity": "error"}],
        events={"started": 1, "tool_use": 2, "question": 1, "error": 1, "finished": 400},
        timeline=[
            {"at": "2026-12-01T03:10:57.117Z", "type": "started", "text": "started codex exec"},
            {"at": "2026-12-01T03:10:57.217Z", "type": "tool_use", "text": "tool use shell ls"},
            {"at": "2026-12-01T03:10:57.617Z", "type": "question", "text": "question Keep it?"},
            {"at": "2026-12-01T03:10:58.017Z", "type": "error", "text": "error disk is full"},
        ],
        outcome={"status": "timed_out", "signal": "SIGKILL", "timed_out": True,
                 "duration_ms": 9000, "leaked": [{"pid": 77, "name": "sleep 1000"}]},
        log_end="last words\n" * 3,
        log_bytes=900_000,
        stderr_end="a warning\n",
        stderr_bytes=10,
        patch="diff --git a/big b/big\n--- a/big\n+++ b/big\n@@ -0,0 +1,450 @@\n"
        + "".join(f"+line {n}\n" for n in range(450)),
        patch_bytes=99_999_999,
        children=[child],
    )  # fmt: skip
    tests = [
        told_test(
            LIAR, "failed", cause="1 undeclared change: src/a.py", details="E   1 undeclared change"
        ),
        told_test("tests/test_parser.py::test_plain"),
        *(
            told_test(f"{TRIED}[trial{n:02}]", "failed" if n == 2 else "passed", trial=n)
            for n in range(1, 7)
        ),
        told_test("tests/test_parser.py::test_unit", agent=None),
        told_test("caesar-conformance::REPORT-003", "failed", cause="no report"),
    ]
    runs = [
        liar,
        run_entry("tests/test_parser.py::test_plain"),
        *(run_entry(f"{TRIED}[trial{n:02}]", execution=1) for n in range(1, 7)),
        {**run_entry("caesar-conformance::REPORT-003"), "scenario": "plain"},
    ]
    return document(
        tests,
        runs,
        exit_status=1,
        trials=[
            {"id": TRIED, "test": TRIED, "agent": "codex", "verdict": "met", "fails": False,
             "passed": 5, "counted": 6, "interval": [0.44, 0.97], "could_be_chance": True,
             "gate": {"trials": 6, "min_rate": "4/5"},
             "causes": [{"trials": [2], "message": "assert 1 == 2"}]},
        ],
        conformance={
            "agents": [
                {
                    "agent": {"id": "codex"},
                    "verdict": "OACP v1: 1 of 2",
                    "requirements": [
                        {"id": "REPORT-001", "level": "minimal", "text": "A report is there.",
                         "outcome": "passed", "message": ""},
                        {"id": "REPORT-003", "level": "minimal", "text": "It is valid.",
                         "outcome": "failed", "message": "no report"},
                    ],
                }
            ]
        },
    )  # fmt: skip


def hostile(text: str) -> dict[str, Any]:
    """Return a document in which every text that an agent writes is this one."""

    def spoilt(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: spoilt(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [spoilt(item, key) for item in value]
        return f"{value} {text}" if isinstance(value, str) and key not in KEPT else value

    return {**everything(), "runs": [spoilt(run) for run in everything()["runs"]]}


KEPT = frozenset({"test", "at", "code", "status", "action", "verdict"})
"""What decides where a text is shown, and so stays as it is."""


def many(count: int = 1000) -> dict[str, Any]:
    """Return a session of many runs: one changed file, 20 events and 2 KB of log in each."""
    tests, runs = [], []
    for number in range(count):
        test = f"tests/test_parser.py::test_number[{number}]"
        tests.append(told_test(test, "failed" if number % 50 == 0 else "passed", cause="assert 1"))
        events = [
            {
                "at": f"2026-12-01T03:10:{second:02}.117Z",
                "type": "tool_use",
                "text": f"tool use command step {second} of number {number} in the folder",
            }
            for second in range(20)
        ]
        brief = (
            f"You are a sub-agent.\n\n## Objective\n\nFix {number}\n\n## Reporting\n\n{'r' * 1500}"
        )
        log = "".join(f"{number} line {line}: some words of an agent\n" for line in range(70))
        runs.append(
            run_entry(
                test, timeline=events, events={"tool_use": 20}, log_end=log[:2048],
                log_bytes=2048, brief=brief, patch_bytes=None,
            )
        )  # fmt: skip
    return document(tests, runs, exit_status=1)
