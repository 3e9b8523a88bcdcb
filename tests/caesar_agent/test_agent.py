from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from caesar_agent import Agent, MisuseError, Report
from caesar_agent.processes.interruption import interrupt
from tests.caesar_agent.sdk import Desk, make_desk

SDK_PAGE = Path(__file__).parents[2] / "docs" / "sdk.md"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(tmp_path)


def gathered_by(desk: Desk, work: Callable[[Agent], object]) -> dict[str, object]:
    def main(agent: Agent) -> Report:
        work(agent)
        return agent.success("done")

    assert desk.run(main) == 0, desk.stderr
    report: dict[str, object] = desk.report
    return report


def test_it_knows_its_task_its_workspace_and_its_depth(desk: Desk) -> None:
    seen: list[object] = []

    def work(agent: Agent) -> None:
        seen.extend([agent.task.objective, agent.workspace, agent.depth])

    gathered_by(desk, work)

    assert seen == ["Do it", desk.workspace, 1]


def test_a_report_says_everything_that_was_told(desk: Desk) -> None:
    def work(agent: Agent) -> None:
        agent.file_changed("src/a.py", "modified", summary="guard")
        agent.finding("medium", "Dead branch", file="src/x.py", line=42, detail="never taken")
        agent.artifact("bench.json", "before and after")
        agent.next_step("Document it")
        agent.question("Keep it?", ["yes", "no"])
        agent.usage(input_tokens=10, cost_usd=0.5)
        agent.usage(input_tokens=5, output_tokens=3)
        agent.output("coverage", {"lines": [1, 2], "ok": True})

    report = gathered_by(desk, work)

    assert report == {
        "protocol": "caesar.report/v1",
        "task_id": "t_0001",
        "status": "success",
        "summary": "done",
        "details": "",
        "changes": [{"path": "src/a.py", "action": "modified", "summary": "guard"}],
        "commands_run": [],
        "findings": [
            {
                "severity": "medium",
                "title": "Dead branch",
                "file": "src/x.py",
                "line": 42,
                "detail": "never taken",
            }
        ],
        "questions": [{"id": "q1", "question": "Keep it?", "options": ["yes", "no"]}],
        "next_steps": ["Document it"],
        "artifacts": [{"path": "bench.json", "description": "before and after"}],
        "usage": {"input_tokens": 15, "output_tokens": 3, "cost_usd": 0.5},
        "outputs": {"coverage": {"lines": [1, 2], "ok": True}},
    }


def test_events_tell_what_happens_in_order(desk: Desk) -> None:
    def work(agent: Agent) -> None:
        agent.progress("reading", pct=10)
        agent.progress("still reading")
        agent.thinking("hm")
        agent.message("hello")
        agent.error("a small one")
        agent.file_changed("a.py", "created")

    gathered_by(desk, work)

    events = [
        {key: event[key] for key in event if key not in ("protocol", "seq", "at", "task_id")}
        for event in desk.events[1:-1]
    ]
    assert events == [
        {"type": "progress", "message": "reading", "pct": 10},
        {"type": "progress", "message": "still reading"},
        {"type": "thinking", "text": "hm"},
        {"type": "message", "text": "hello"},
        {"type": "error", "message": "a small one", "fatal": False},
        {"type": "file_changed", "path": "a.py", "action": "created"},
    ]
    assert desk.told[0] == "started"
    assert desk.told[-1] == "finished"
    assert {event["task_id"] for event in desk.events} == {"t_0001"}
    assert [event["seq"] for event in desk.events] == list(range(8))


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([("a", "created"), ("a", "modified")], [("a", "created")]),
        ([("a", "created"), ("a", "deleted")], []),
        ([("a", "modified"), ("a", "deleted")], [("a", "deleted")]),
        ([("a", "deleted"), ("a", "created")], [("a", "modified")]),
        ([("a", "renamed"), ("a", "modified")], [("a", "renamed")]),
        ([("a", "modified"), ("b", "created")], [("a", "modified"), ("b", "created")]),
    ],
)
def test_two_declarations_for_one_path_come_to_one(
    desk: Desk, calls: list[tuple[str, str]], expected: list[tuple[str, str]]
) -> None:
    def work(agent: Agent) -> None:
        for path, action in calls:
            agent.file_changed(path, action)  # type: ignore[arg-type]

    changes = gathered_by(desk, work)["changes"]

    assert isinstance(changes, list)
    assert [(change["path"], change["action"]) for change in changes] == expected


def test_paths_in_the_workspace_are_reported_relative_to_it(desk: Desk, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(desk.workspace)
    desk = make_desk(tmp_path / "linked", workspace=str(link))

    def work(agent: Agent) -> None:
        agent.file_changed(link / "src" / "a.py", "modified")
        agent.file_changed(link.resolve() / "b.py", "modified")
        agent.file_changed("./c.py", "modified")
        agent.file_changed("/etc/hosts", "modified")
        agent.file_changed(link / "..data", "modified")

    changes = gathered_by(desk, work)["changes"]

    assert isinstance(changes, list)
    paths = [change["path"] for change in changes]
    assert paths == ["src/a.py", "b.py", "./c.py", "/etc/hosts", "..data"]


def test_a_file_name_that_is_not_utf8_reads_back_as_it_is(desk: Desk) -> None:
    name = os.fsdecode(b"caf\xe9.txt")

    report = gathered_by(desk, lambda agent: agent.file_changed(name, "created"))

    assert report["changes"] == [{"path": name, "action": "created", "summary": ""}]
    assert b"caf\\udce9.txt" in (desk.directory / "report.json").read_bytes()


MISTAKES: list[tuple[Callable[[Agent], object], str]] = [
    (
        lambda a: a.file_changed("a", "changed"),  # type: ignore[arg-type]
        "agent.file_changed(): unknown action 'changed'; known are created, modified, deleted, renamed",
    ),
    (
        lambda a: a.finding("warning", "t"),  # type: ignore[arg-type]
        "agent.finding(): unknown severity 'warning'; known are info, low, medium, high, critical",
    ),
    (lambda a: a.progress("x", pct=101), "agent.progress(): pct is 101, expected 0 to 100"),
    (lambda a: a.progress(" "), "agent.progress(): the message is empty"),
    (
        lambda a: a.next_step(3),  # type: ignore[arg-type]
        "agent.next_step(): the step must be a string, not int",
    ),
    (
        lambda a: a.question("Which?", "yes"),
        "agent.question(): options must be a list of strings, not 'yes'",
    ),
    (
        lambda a: a.partial("p", next_steps="one"),
        "agent.partial(): next_steps must be a list of strings, not 'one'",
    ),
    (lambda a: a.success(""), "agent.success(): the summary is empty"),
    (
        lambda a: a.blocked("stuck"),
        "agent.blocked(): a blocked report must ask something: give question='…', or call agent.question('…') before",
    ),
    (lambda a: a.ask("?", timeout=-1), "agent.ask(): timeout is -1 s, expected >= 0"),
    (lambda a: a.command([]), "agent.command(): the command is empty"),
    (
        lambda a: a.command(["echo", 3]),  # type: ignore[list-item]
        "agent.command(): expected strings and paths, found ['echo', 3]",
    ),
    (
        lambda a: a.command(["echo", "\0"]),
        "agent.command(): a NUL character cannot be in an argument",
    ),
    (lambda a: a.command(["x"], timeout=0), "agent.command(): timeout is 0 s, expected > 0"),
    (
        lambda a: a.command(["x"], timeout="1"),  # type: ignore[arg-type]
        "agent.command(): timeout is '1' s, expected > 0",
    ),
    (lambda a: a.ask("?", timeout=float("nan")), "agent.ask(): timeout is nan s, expected >= 0"),
    (
        lambda a: a.ask("?", timeout="3"),  # type: ignore[arg-type]
        "agent.ask(): timeout is '3' s, expected >= 0",
    ),
    (
        lambda a: a.question("Which?", None),  # type: ignore[arg-type]
        "agent.question(): options must be a list of strings, not None",
    ),
    (
        lambda a: a.command(["x"], env={"PORT": 80}),  # type: ignore[dict-item]
        "agent.command(): the variable PORT must be a string, not int",
    ),
    (
        lambda a: a.command(["x"], env={"PORT": "8\0"}),
        "agent.command(): the variable PORT holds a NUL character",
    ),
    (
        lambda a: a.command(["x"], env={"A=B": "c"}),
        "agent.command(): 'A=B' cannot name a variable",
    ),
    (
        lambda a: a.file_changed(None, "modified"),  # type: ignore[arg-type]
        "agent.file_changed(): a path must be a string or a Path, not None",
    ),
    (
        lambda a: a.finding("low", "t", file=3),  # type: ignore[arg-type]
        "agent.finding(): a path must be a string or a Path, not 3",
    ),
    (
        lambda a: a.usage(input_tokens="3"),  # type: ignore[arg-type]
        'agent.usage(): input_tokens: expected an integer, found "3"',
    ),
    (
        lambda a: a.submit({"status": "success"}),  # type: ignore[arg-type]
        "agent.submit(): expected a report, found dict",
    ),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES, ids=[m[1][6:90] for m in MISTAKES])
def test_a_wrong_call_is_refused_at_once(
    desk: Desk, mistake: Callable[[Agent], object], message: str
) -> None:
    def work(agent: Agent) -> None:
        with pytest.raises(MisuseError) as caught:
            mistake(agent)
        assert str(caught.value) == message

    report = gathered_by(desk, work)

    for name in ("changes", "commands_run", "findings", "questions", "next_steps"):
        assert report[name] == []


@pytest.mark.parametrize(
    ("mistake", "where"),
    [
        (lambda a: a.finding("low", "t", line=0), r"agent\.finding\(\): line: .*0"),
        (lambda a: a.usage(input_tokens=-1), r"agent\.usage\(\): input_tokens: .*-1"),
        (lambda a: a.usage(input_tokens=1.5), r"agent\.usage\(\): input_tokens: .*1\.5"),
        (lambda a: a.output("k", float("nan")), r"agent\.output\(\): the value of 'k' cannot be"),
        (lambda a: a.output("o", object()), r"agent\.output\(\): the value of 'o' cannot be"),
        (lambda a: a.command(["x"], cwd="nowhere"), r"agent\.command\(\): cwd '.*' is not a"),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_field_and_the_value(
    desk: Desk, mistake: Callable[[Agent], object], where: str
) -> None:
    def work(agent: Agent) -> None:
        with pytest.raises(MisuseError, match=where):
            mistake(agent)

    gathered_by(desk, work)


def test_a_value_nested_too_deeply_to_be_read_back_is_refused(desk: Desk) -> None:
    value: object = 1
    for _ in range(500):
        value = [value]

    def work(agent: Agent) -> None:
        with pytest.raises(MisuseError, match="cannot be written as JSON"):
            agent.output("deep", value)

    gathered_by(desk, work)


def test_a_blocked_report_carries_its_question(desk: Desk) -> None:
    code = desk.run(lambda agent: agent.blocked("stuck", question="Which?", options=["a", "b"]))

    assert code == 0
    assert desk.report["status"] == "blocked"
    assert desk.report["questions"] == [{"id": "q1", "question": "Which?", "options": ["a", "b"]}]


def test_the_time_left_counts_down_from_the_deadline(tmp_path: Path) -> None:
    desk = make_desk(tmp_path, deadline_ms=5_000)
    seen: list[float] = []

    def work(agent: Agent) -> None:
        seen.extend([agent.remaining, agent.remaining])

    gathered_by(desk, work)

    assert 5.0 >= seen[0] >= seen[1] >= 0.0


def test_the_time_left_is_never_below_zero(tmp_path: Path) -> None:
    desk = make_desk(tmp_path, deadline_ms=1)
    assert time_left_after_10_ms(desk) == 0.0


def time_left_after_10_ms(desk: Desk) -> float:
    seen: list[float] = []

    def work(agent: Agent) -> None:
        agent.command(["sleep", "0.01"])
        seen.append(agent.remaining)

    gathered_by(desk, work)
    return seen[0]


def test_a_frozen_clock_does_not_stop_the_deadline(tmp_path: Path) -> None:
    from freezegun import freeze_time

    desk = make_desk(tmp_path, deadline_ms=1)
    with freeze_time("2020-01-01"):
        assert time_left_after_10_ms(desk) == 0.0


def test_an_async_agent_is_waited_for(desk: Desk) -> None:
    async def main(agent: Agent) -> Report:
        await asyncio.sleep(0)
        return agent.success("later")

    assert desk.run(main) == 0
    assert desk.report["summary"] == "later"


def test_an_async_agent_works_where_a_loop_runs_already(desk: Desk) -> None:
    async def main(agent: Agent) -> Report:
        result = await asyncio.to_thread(agent.command, ["echo", "hi"])
        return agent.success(result.stdout.strip())

    async def caller() -> int:
        return desk.run(main)

    assert asyncio.run(caller()) == 0
    assert desk.report["summary"] == "hi"


def test_what_goes_wrong_where_a_loop_runs_already_is_reported(desk: Desk) -> None:
    async def main(agent: Agent) -> Report:
        await asyncio.sleep(0)
        raise RuntimeError("gone")

    async def caller() -> int:
        return desk.run(main)

    assert asyncio.run(caller()) == 1
    assert desk.report["summary"] == "The agent failed: RuntimeError: gone"


def test_an_async_agent_is_interrupted_where_a_loop_runs_already(desk: Desk) -> None:
    tidied: list[bool] = []

    async def main(agent: Agent) -> Report:
        try:
            os.kill(os.getpid(), signal.SIGALRM)
            await asyncio.sleep(60)
        finally:
            tidied.append(True)
        return agent.success("never")

    async def caller() -> int:
        return desk.run(main)

    handler = signal.signal(signal.SIGALRM, lambda *_: interrupt("stopped at its deadline"))
    try:
        assert asyncio.run(caller()) == 1
    finally:
        signal.signal(signal.SIGALRM, handler)
    assert desk.report["summary"] == "The agent was stopped at its deadline before it was done."
    assert tidied == [True]


def test_without_a_channel_a_question_is_not_waited_for_and_stays_open(desk: Desk) -> None:
    answers: list[object] = []

    report = gathered_by(
        desk, lambda agent: answers.append(agent.ask("Keep it?", options=["yes", "no"]))
    )

    assert answers == [None]
    assert report["questions"] == [{"id": "q1", "question": "Keep it?", "options": ["yes", "no"]}]
    assert not (desk.directory / "questions").exists()


def test_every_method_is_documented_and_every_documented_method_exists() -> None:
    page = SDK_PAGE.read_text(encoding="utf-8")
    documented = set(re.findall(r"`agent\.(\w+)", page))
    public = {name for name in vars(Agent) if not name.startswith("_")} | {"task"}
    assert documented == public


def test_the_example_of_the_documentation_works(desk: Desk) -> None:
    example = re.findall(r"```python\n(.*?)```", SDK_PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    namespace: dict[str, Any] = {"__name__": "example"}
    exec(compile(example, str(SDK_PAGE), "exec"), namespace)
    subprocess.run(["git", "init", "-q", desk.workspace], check=True)

    assert desk.run(namespace["main"]) == 0
    assert desk.report["summary"] == "Counted 0 files."
    assert (desk.workspace / "COUNT").read_text() == "0\n"
