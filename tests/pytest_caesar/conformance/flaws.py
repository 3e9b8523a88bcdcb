"""A right agent for every scenario, and for each check one that is right but for one thing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pytest_caesar.conformance.profile import CLAIMS, Profile, Special
from pytest_caesar.conformance.repository_files import RepositoryFiles
from pytest_caesar.fake_agent.agent import FakeAgents, Step

Steps: TypeAlias = "tuple[Step, ...]"

fake = FakeAgents

PROFILE = Profile(
    objective="Write out.txt",
    acceptance_criteria=("out.txt holds a line", "$ grep -q line out.txt"),
    constraints=("$ test ! -e forbidden.txt",),
    outputs=("lines",),
    claims=frozenset(CLAIMS),
    repository=RepositoryFiles(files={"README.md": "one\ntwo\n"}),
    timeout=30.0,
    specials={
        "asks": Special(objective="Ask", answer="no", expects="the answer was no"),
        "slow": Special(objective="Take your time", timeout=1.2),
        "blocked": Special(objective="Decide"),
        "partial": Special(objective="Do half"),
        "failed": Special(objective="Square the circle"),
        "delegates": Special(objective="Let another one do it"),
    },
)
"""Claims everything, so that everything is judged."""

TOLD: Steps = (
    fake.event("progress", message="reading", pct=10),
    fake.event("tool_use", tool="sh", id="call_1", input_summary="ls", status="started"),
    fake.event("tool_use", tool="sh", id="call_1", input_summary="ls", status="succeeded"),
    fake.event("progress", message="writing", pct=90),
)
FILE_CHANGED = fake.event("file_changed", path="out.txt", action="created")
WRITE = fake.write("out.txt", "a line\n", append=True)
FINISHED = fake.event("finished", status="success", summary="Done.")
WORK: Steps = (WRITE, fake.commit())
FULL: dict[str, Any] = {
    "questions": [
        {"id": "q1", "question": "Now?", "options": []},
        {"id": "q2", "question": "Or later?", "options": []},
    ],
    "findings": [{"severity": "info", "title": "Short", "file": "README.md", "line": 2}],
    "artifacts": [{"path": "out.txt", "description": "what was written"}],
    "usage": {"duration_ms": 1},
}
REPORT = fake.report("success", "Done.", **FULL)

RIGHT: Steps = (fake.print("working\n"), *TOLD, *WORK, FILE_CHANGED, FINISHED, REPORT)
REFUSE: Steps = (fake.print("I read caesar.task/v1 and nothing else\n", stderr=True), fake.exit(2))
BROKEN: Steps = (fake.print("it does not work here\n"), fake.exit(1))
ASK = fake.ask("Keep the old behaviour?", ["yes", "no"])
FOLLOW = fake.report("success", "Done: the answer was no.")
PLAIN_REPORT = json.dumps({"protocol": "caesar.report/v1", "status": "success", "summary": "Done."})


def nested(depth: int) -> Step:
    """Give a task to somebody else, as far as anybody can see."""
    task = json.dumps({"protocol": "caesar.task/v1", "id": "t_below", "depth": depth})
    return fake.write(".caesar/tasks/t_below/task.json", task)


def shell(script: str) -> Step:
    """Run a script in the workspace."""
    return fake.run("sh", "-c", script)


CALL = """
import json, os, subprocess, sys

with open(os.environ["CAESAR_TASK_FILE"]) as file:
    channel = json.load(file)["channel"]
start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
messages = [
    {"id": 1, "method": "initialize", "params": start},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/call", "params": json.loads(sys.argv[1])},
]
with subprocess.Popen(
    [channel["command"], *channel["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
) as server:
    for message in messages:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
        server.stdin.flush()
        while "id" in message and json.loads(server.stdout.readline()).get("id") != message["id"]:
            pass
    server.stdin.close()
"""
"""Calls one tool of the return channel, without a library."""


def call(tool: str, arguments: Mapping[str, Any]) -> Step:
    """Call a tool of the return channel."""
    return fake.run("python3", "-c", CALL, json.dumps({"name": tool, "arguments": arguments}))


ONCE = shell("! test -e ../../../../../once && touch ../../../../../once")
"""Lets an agent go on the first time only; what it leaves lies beside all projects."""

FULL_UNIT: dict[str, Any] = {
    "artifacts": [{"path": "out.txt", "description": "what was written"}],
    "outputs": {"lines": 1},
}
UNIT: Steps = (*TOLD, WRITE, fake.report("success", "Done.", **FULL_UNIT))

SPECIAL: Mapping[str, Steps] = {
    "read-only": (*TOLD, FINISHED, fake.report("success", "Nothing to see.")),
    "two variables": (WRITE, fake.report_bytes(PLAIN_REPORT)),
    "unknown version": REFUSE,
    "torn task": REFUSE,
    "offered channel": (call("submit_report", {"status": "success"}), *RIGHT),
    "no task": REFUSE,
    "blocked": (fake.report("blocked", "Which?", questions=[{"id": "q1", "question": "A or B?"}]),),
    "partial": (fake.report("partial", "Half of it.", next_steps=["The other half"]),),
    "failed": (fake.report("failed", "It cannot be done."), fake.exit(1)),
    "read-only in place": (*TOLD, FINISHED, fake.report("success", "Nothing to see.")),
    "in place": (WRITE, fake.report()),
    "again": (WRITE, fake.report()),
    "asks": (ASK, FOLLOW),
    "silence": (
        fake.ask("Keep it?", ["yes", "no"], timeout=0.3),
        fake.report("success", "Nobody answered."),
    ),
    "refusal": (ASK, fake.report("success", "It was refused.")),
    "odd answer": (ASK, fake.report("success", "As you like.")),
    "deadline": (
        *TOLD,
        fake.on_signal("SIGTERM", fake.report("failed", "Stopped."), fake.exit(1)),
        fake.hang(),
    ),
    "folder": (WRITE, fake.report()),
    "no commit": (WRITE, fake.report()),
    "foreign git": (WRITE, fake.report()),
    "delegates": (nested(2), fake.report()),
    "unit": UNIT,
    "bare unit": UNIT,
    "hostile unit": UNIT,
    "second attempt": UNIT,
    "blocked unit": (
        fake.report("blocked", "Which?", questions=[{"id": "q1", "question": "A or B?"}]),
    ),
    "failed unit": (
        fake.report("failed", "It cannot be done.", details="Pi is in the way."),
        fake.exit(1),
    ),
    "cancelled unit": (
        *TOLD,
        fake.on_signal("SIGTERM", fake.report("failed", "Stopped."), fake.exit(1)),
        fake.hang(),
    ),
}
"""What a right agent does in a scenario, where it is not ``RIGHT``."""


def right(scenario: str) -> Steps:
    """Return what a right agent does."""
    return SPECIAL.get(scenario, RIGHT)


@dataclass(frozen=True, kw_only=True)
class Flaw:
    """One thing that is wrong.

    Attributes:
        scenario: where it shows.
        steps: what the agent does there; elsewhere it does right.
        dialect: of what it prints.
    """

    scenario: str = "plain"
    steps: Steps
    dialect: str | None = None


def ran(exit_code: int) -> Step:
    """Print, as codex does, that the tests were run."""
    item = {"id": "item_1", "type": "command_execution", "command": "make test"}
    ends = {"aggregated_output": "", "exit_code": exit_code}
    ends["status"] = "failed" if exit_code else "completed"
    start = {"type": "item.started", "item": {**item, "status": "in_progress"}}
    end = {"type": "item.completed", "item": {**item, **ends}}
    return fake.print(f"{json.dumps(start)}\n{json.dumps(end)}\n")


TESTED = fake.report(
    "success", "Done.", **FULL, commands_run=[{"command": "make test", "exit_code": 0}]
)


def broken(scenario: str) -> Flaw:
    """Return that nothing works in a scenario."""
    return Flaw(scenario=scenario, steps=BROKEN)


def told(*steps: Step, report: Step = REPORT) -> Flaw:
    """Return that an agent does its work, and tells these events of it."""
    return Flaw(steps=(*WORK, *steps, report))


def reported(**fields: Any) -> Flaw:
    """Return that an agent does right and reports something else."""
    return Flaw(steps=(*RIGHT[:-1], fake.report("success", "Done.", **{**FULL, **fields})))


def unit_reported(**fields: Any) -> Flaw:
    """Return that an agent does a unit right and reports something else."""
    report = fake.report("success", "Done.", **{**FULL_UNIT, **fields})
    return Flaw(scenario="unit", steps=(*UNIT[:-1], report))


def stopped(*steps: Step) -> Flaw:
    """Return that an agent does something else when it is stopped."""
    return Flaw(scenario="deadline", steps=(*TOLD, *steps, fake.hang()))


OUT = ("out.txt", "created")

FLAWS: Mapping[str, Flaw] = {
    "TASK-001": broken("two variables"),
    "TASK-002": broken("bare task"),
    "TASK-003": broken("unknown fields"),
    "TASK-004": broken("other spelling"),
    "TASK-005": broken("hostile text"),
    "TASK-006": Flaw(scenario="hostile text", steps=(fake.write("../../../../canary"), *RIGHT)),
    "TASK-007": broken("large context"),
    "TASK-008": broken("offered channel"),
    "TASK-009": Flaw(scenario="unknown version", steps=(fake.report("success", "Done."),)),
    "TASK-010": Flaw(scenario="unknown version", steps=(WRITE, *REFUSE)),
    "TASK-011": Flaw(scenario="torn task", steps=(fake.report("success", "Done."),)),
    "TASK-012": Flaw(scenario="no task", steps=(fake.report("success", "Done."),)),
    "REPORT-001": Flaw(steps=RIGHT[:-1]),
    "REPORT-002": Flaw(steps=(*RIGHT[:-1], fake.report("done", "Done."))),
    "REPORT-003": Flaw(steps=(*RIGHT[:-1], fake.report(task_id="t_of_yesterday"))),
    "REPORT-004": Flaw(steps=(*RIGHT[:-1], fake.report(encoding="utf-8-sig", **FULL))),
    "REPORT-005": Flaw(steps=(*RIGHT[:-1], fake.report_as("symlink", "/dev/null"))),
    "REPORT-006": Flaw(scenario="blocked", steps=(fake.report("blocked", "I cannot go on."),)),
    "REPORT-007": Flaw(scenario="partial", steps=(fake.report("partial", "Half of it."),)),
    "REPORT-008": Flaw(scenario="failed", steps=(fake.report("success", "It is square now."),)),
    "REPORT-009": reported(
        questions=[{"id": "q", "question": "A?"}, {"id": "q", "question": "B?"}]
    ),
    "REPORT-010": Flaw(
        steps=(*RIGHT[:-1], shell('printf "{" > "$CAESAR_REPORT_PATH"; sleep 0.2'), REPORT)
    ),
    "REPORT-011": reported(artifacts=[{"path": "nowhere.json"}]),
    "REPORT-012": reported(
        findings=[{"severity": "low", "title": "There", "file": "README.md", "line": 3}]
    ),
    "REPORT-013": reported(usage={"duration_ms": 3_600_000}),
    "REPORT-014": Flaw(
        steps=(*TOLD, fake.write("out.txt", "no\n"), fake.commit(), FILE_CHANGED, FINISHED, REPORT)
    ),
    "REPORT-015": Flaw(
        scenario="offered channel", steps=(WRITE, call("submit_report", {"status": "success"}))
    ),
    "REPORT-016": Flaw(steps=(ran(1), *WORK, TESTED), dialect="codex"),
    "CHANGES-001": reported(changes=[OUT, ("other.txt", "created")]),
    "CHANGES-002": Flaw(
        steps=(*RIGHT[:-1], fake.write("more.txt"), fake.report(changes=[OUT], **FULL)),
    ),
    "CHANGES-003": reported(changes=[("out.txt", "modified")]),
    "CHANGES-004": Flaw(scenario="read-only", steps=(WRITE, fake.report())),
    "CHANGES-005": Flaw(
        scenario="read-only", steps=(fake.git("commit", "-qm", "x", "--allow-empty"), fake.report())
    ),
    "CHANGES-006": Flaw(
        steps=(
            *RIGHT[:-1],
            fake.write("../../../stray.txt"),
            fake.report(changes=[OUT], **FULL),
        )
    ),
    "CHANGES-007": Flaw(steps=(fake.print("working\n"), *TOLD, FINISHED, fake.report())),
    "CHANGES-008": Flaw(steps=(*TOLD, WRITE, FILE_CHANGED, FINISHED, REPORT)),
    "CHANGES-009": Flaw(steps=(*RIGHT, shell('echo "{}" > "$CAESAR_TASK_FILE"'))),
    "CHANGES-010": Flaw(
        scenario="in place", steps=(WRITE, fake.delete("notes-of-the-user.txt"), fake.report())
    ),
    "CHANGES-011": Flaw(scenario="again", steps=(WRITE, fake.report(changes=[OUT]))),
    "CHANGES-012": reported(changes=[("./out.txt", "created")]),
    "CHANGES-013": Flaw(steps=(*RIGHT, fake.git("branch", "mine"))),
    "CHANGES-014": Flaw(steps=(*RIGHT[:-1], fake.write("forbidden.txt"), REPORT)),
    "CHANGES-015": Flaw(
        scenario="read-only in place",
        steps=(shell("echo >> settings-of-the-user.env"), fake.report("success", "Looked.")),
    ),
    "EVENTS-001": Flaw(steps=(*WORK, REPORT)),
    "EVENTS-002": told(*TOLD, fake.event_bytes("starting up …\n"), FINISHED),
    "EVENTS-003": told(*TOLD, fake.event("message", text="hi", task_id="t_of_yesterday"), FINISHED),
    "EVENTS-004": told(*TOLD, fake.event("message", text="hi", seq=0), FINISHED),
    "EVENTS-005": told(shell(': > "$CAESAR_EVENTS_PATH"'), *TOLD, FINISHED),
    "EVENTS-006": told(
        fake.event("tool_use", tool="sh", id="call_1", status="succeeded"), FINISHED
    ),
    "EVENTS-007": told(
        *TOLD,
        fake.event("tool_use", tool="sh", id="call_1", input_summary="pwd", status="started"),
        fake.event("tool_use", tool="sh", id="call_1", input_summary="pwd", status="failed"),
        FINISHED,
    ),
    "EVENTS-008": told(
        *TOLD, fake.event("file_changed", path="other.txt", action="modified"), FINISHED
    ),
    "EVENTS-009": told(*TOLD, fake.event("finished", status="failed", summary="Oh.")),
    "EVENTS-010": Flaw(scenario="deadline", steps=SPECIAL["deadline"][len(TOLD) :]),
    "EVENTS-011": told(*TOLD, FINISHED, fake.event("message", text="by the way")),
    "EVENTS-012": told(
        *TOLD, fake.event("tool_use", tool="sh", id="call_2", status="started"), FINISHED
    ),
    "EVENTS-013": told(
        *TOLD, fake.event("message", text="hi", at="2020-01-01T00:00:00.000Z"), FINISHED
    ),
    "EVENTS-014": told(*TOLD, fake.event("progress", message="again", pct=20), FINISHED),
    "EVENTS-015": Flaw(
        scenario="asks",
        steps=(ASK, fake.event("question", id="q9", question="Keep the old behaviour?"), FOLLOW),
    ),
    "QUESTIONS-001": Flaw(scenario="asks", steps=(FOLLOW,)),
    "QUESTIONS-002": Flaw(
        scenario="asks",
        steps=(ASK, shell('echo "{" > "$CAESAR_TASK_DIR/questions/q2.json"'), FOLLOW),
    ),
    "QUESTIONS-003": Flaw(scenario="asks", steps=(ASK, *BROKEN)),
    "QUESTIONS-004": Flaw(scenario="asks", steps=(ASK, fake.report("success", "I said yes."))),
    "QUESTIONS-005": Flaw(
        scenario="silence", steps=(fake.ask("Keep it?", ["yes", "no"], timeout=0.3), *BROKEN)
    ),
    "QUESTIONS-006": broken("no channel"),
    "QUESTIONS-007": Flaw(
        scenario="asks",
        steps=(
            shell(
                'mkdir -p "$CAESAR_TASK_DIR/answers"; '
                'echo "{\\"id\\": \\"q1\\", \\"answer\\": \\"mine\\"}" '
                '> "$CAESAR_TASK_DIR/answers/q1.json"; '
                # As if it were written after the question.
                'touch -t 203801010000 "$CAESAR_TASK_DIR/answers/q1.json"'
            ),
            ASK,
            FOLLOW,
        ),
    ),
    "QUESTIONS-008": Flaw(scenario="refusal", steps=(ASK, *BROKEN)),
    "QUESTIONS-009": Flaw(scenario="odd answer", steps=(ASK, *BROKEN)),
    "QUESTIONS-010": Flaw(scenario="asks", steps=(fake.ask("Yes?", ["yes", "yes"]), FOLLOW)),
    "QUESTIONS-011": Flaw(
        scenario="no channel",
        steps=(
            shell('mkdir -p "$CAESAR_TASK_DIR/questions"; echo > "$CAESAR_TASK_DIR/questions/q1"'),
            *RIGHT,
        ),
    ),
    "QUESTIONS-012": Flaw(
        scenario="offered channel",
        steps=(call("report_progress", {"message": "half", "pct": 500}), *RIGHT),
    ),
    "PROCESS-001": Flaw(steps=(*RIGHT, fake.hang())),
    "PROCESS-002": Flaw(steps=(*RIGHT, fake.leave(fake.sleep(30), new_session=True, quiet=True))),
    "PROCESS-003": Flaw(steps=(*RIGHT, fake.exit(3))),
    "PROCESS-004": stopped(fake.on_signal("SIGTERM", fake.report("failed", "Stopped."))),
    "PROCESS-005": stopped(fake.on_signal("SIGTERM", fake.exit(1))),
    "PROCESS-006": stopped(fake.on_signal("SIGTERM", fake.report(), fake.exit(0))),
    "PROCESS-007": stopped(
        fake.leave(fake.ignore(), fake.sleep(30), new_session=True, quiet=True),
        fake.on_signal("SIGTERM", fake.report("failed", "Stopped."), fake.exit(1)),
    ),
    "PROCESS-008": broken("closed stdin"),
    "PROCESS-009": broken("no terminal"),
    "PROCESS-010": Flaw(steps=(fake.print("\x1b[31mred\x1b[0m\n"), *RIGHT)),
    "PROCESS-011": broken("few files"),
    "PROCESS-012": Flaw(steps=(ONCE, *RIGHT)),
    "SURROUNDINGS-001": broken("odd path"),
    "SURROUNDINGS-002": broken("long path"),
    "SURROUNDINGS-003": broken("C locale"),
    "SURROUNDINGS-004": broken("read-only home"),
    "SURROUNDINGS-005": broken("foreign git"),
    "SURROUNDINGS-006": broken("together"),
    "SURROUNDINGS-007": Flaw(
        scenario="together", steps=(*RIGHT[:-1], fake.write("../../../stray.txt"), REPORT)
    ),
    "SURROUNDINGS-008": broken("second task"),
    "SURROUNDINGS-009": broken("no network"),
    "SURROUNDINGS-010": broken("folder"),
    "SURROUNDINGS-011": broken("no commit"),
    "UNIT-001": Flaw(scenario="unit", steps=(*TOLD, WRITE)),
    "UNIT-002": broken("bare unit"),
    "UNIT-003": Flaw(scenario="unit", steps=(ONCE, *UNIT)),
    "UNIT-004": unit_reported(outputs={"lines": ""}),
    "UNIT-005": Flaw(scenario="unit", steps=(*UNIT[:-1], fake.write("forbidden.txt"), UNIT[-1])),
    "UNIT-006": Flaw(
        scenario="unit",
        steps=(*TOLD, fake.write("out.txt", "no\n"), fake.report("success", "Done.", **FULL_UNIT)),
    ),
    "UNIT-007": unit_reported(artifacts=[{"path": "nowhere.json"}]),
    "UNIT-008": Flaw(scenario="failed unit", steps=(fake.report("failed", "No."), fake.exit(1))),
    "UNIT-009": Flaw(scenario="unit", steps=UNIT[len(TOLD) :]),
    "UNIT-010": Flaw(scenario="cancelled unit", steps=SPECIAL["cancelled unit"][len(TOLD) :]),
    "UNIT-011": Flaw(scenario="blocked unit", steps=(fake.report("blocked", "I cannot go on."),)),
    "UNIT-012": Flaw(scenario="cancelled unit", steps=(*TOLD, fake.ignore(), fake.hang())),
    "UNIT-013": Flaw(
        scenario="cancelled unit",
        steps=(*TOLD, fake.on_signal("SIGTERM", fake.report(), fake.exit(0)), fake.hang()),
    ),
    "UNIT-014": Flaw(scenario="hostile unit", steps=(fake.write("../../../../canary"), *UNIT)),
    "UNIT-015": broken("second attempt"),
    "DEPTH-001": broken("deep"),
    "DEPTH-002": Flaw(scenario="delegates", steps=(nested(1), fake.report())),
}
"""For each check: what is wrong with the agent that it must catch."""
