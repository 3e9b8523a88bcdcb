"""Declared commands beside those of a stream: every honest one stands, every lie that shows falls."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.recovery.streams.dialects import translate
from pytest_caesar.runs.command_findings import command_findings, with_changed_after
from pytest_caesar.runs.command_reconciliation import (
    Command,
    ObservedCommand,
    Witnessed,
    from_calls,
    joined,
    reconcile_commands,
)
from pytest_caesar.workspace.change_times import ChangeTime

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=timezone.utc)


@dataclass
class Claim:
    command: str
    exit_code: int | None = 0


# What happened, in a dialect's own lines: (command, exit code), None for a command without an
# end, or the name of something else.
Step = tuple[str, int | None] | str


def codex(steps: list[Step]) -> bytes:
    lines: list[dict[str, Any]] = [{"type": "thread.started", "thread_id": "1"}]
    item: dict[str, Any]
    for number, step in enumerate(steps):
        ident = f"item_{number}"
        if step == "sub-agent":
            item = {"id": ident, "type": "collab_tool_call", "tool": "wait", "status": "completed"}
            lines.append({"type": "item.completed", "item": item})
            continue
        if isinstance(step, str):
            change = {"path": "/w/a.py", "kind": "update"}
            item = {"id": ident, "type": "file_change", "changes": [change], "status": "completed"}
            lines.append({"type": "item.completed", "item": item})
            continue
        command, code = step
        item = {
            "id": ident,
            "type": "command_execution",
            "command": f'/bin/bash -lc "{command}"',
            "aggregated_output": "",
        }
        lines.append({"type": "item.started", "item": {**item, "status": "in_progress"}})
        if code is not None:
            status = "failed" if code else "completed"
            ended = {**item, "exit_code": code, "status": status}
            lines.append({"type": "item.completed", "item": ended})
    return printed([*lines, {"type": "turn.completed", "usage": {}}])


def opencode(steps: list[Step]) -> bytes:
    lines = []
    for number, step in enumerate(steps):
        state: dict[str, Any]
        tool, state = "bash", {"status": "completed", "input": {}, "metadata": {}}
        if step == "sub-agent":
            tool = "task"
        elif isinstance(step, str):
            tool = "edit"
        else:
            command, code = step
            state = {**state, "input": {"command": command}, "metadata": {"exit": code}}
            state["status"] = "running" if code is None else "completed"
        part = {"type": "tool", "tool": tool, "callID": f"c{number}", "state": state}
        lines.append({"type": "tool_use", "sessionID": "s", "part": part})
    return printed(lines)


def copilot(steps: list[Step]) -> bytes:
    lines: list[dict[str, Any]] = []
    for number, step in enumerate(steps):
        call: dict[str, Any] = {"toolCallId": f"c{number}"}
        start = {**call, "toolName": "task" if step == "sub-agent" else "edit", "arguments": {}}
        end: dict[str, Any] | None = {**call, "success": True}
        if not isinstance(step, str):
            command, code = step
            start = {**call, "toolName": "bash", "arguments": {"command": command}}
            shell = {"shellExecution": {"exitCode": code}}
            end = None if code is None else {**call, "success": True, **shell}
        lines.append({"type": "tool.execution_start", "data": start})
        if end is not None:
            lines.append({"type": "tool.execution_complete", "data": end})
    return printed(lines)


def printed(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


DIALECTS: dict[str, Callable[[list[Step]], bytes]] = {
    "codex": codex,
    "opencode": opencode,
    "copilot": copilot,
}


def seen(dialect: str, steps: list[Step]) -> Witnessed:
    reading = translate(dialect, DIALECTS[dialect](steps))
    assert not reading.diagnostics
    return Witnessed(from_calls(reading.calls, "stream"), reading.calls, reading.whole)


def told(commands: tuple[Command, ...]) -> list[tuple[str, int | None, int | None, str]]:
    return [
        (one.command, one.declared_exit_code, one.observed_exit_code, one.verdict)
        for one in commands
    ]


each_dialect = pytest.mark.parametrize("dialect", DIALECTS)

LIES: dict[str, list[Step]] = {
    "it failed": [("pytest -q", 1)],
    "it failed twice": [("pytest -q", 1), "edit", ("pytest -q", 2)],
    "it failed and something harmless came after": [("pytest -q", 1), ("git status", 0), "edit"],
    "it failed after a sub-agent": ["sub-agent", ("pytest -q", 1)],
    "it failed after another way to run it": [("uv run pytest -q", 0), ("pytest -q", 1)],
    "it failed beside other words": [("pytest -q tests", 0), ("pytest -q", 1)],
}

HONEST: dict[str, list[Step]] = {
    "failed, then fixed": [("pytest -q", 1), "edit", ("pytest -q", 0)],
    "left out of the stream": [("ls", 0)],
    "run again in a sub-agent": [("pytest -q", 1), "sub-agent"],
    "run again in other words": [("pytest -q", 1), "edit", ("python -m pytest -q", 0)],
    "run again through a script": [("pytest -q", 1), "edit", ("./check.sh", 0)],
    "run again through make": [("pytest -q", 1), "edit", ("make test", 0)],
    "run again behind a change of folder": [("pytest -q", 1), ("cd . && pytest -q", 0)],
    "started and never completed": [("pytest -q", None)],
    "started again and never completed": [("pytest -q", 1), ("pytest -q", None)],
    "something else never completed": [("pytest -q", 1), ("sh -c x", None)],
}


@each_dialect
@pytest.mark.parametrize("lie", LIES)
def test_a_success_that_was_seen_to_fail_is_contradicted(dialect: str, lie: str) -> None:
    commands = reconcile_commands([Claim("pytest -q")], seen(dialect, LIES[lie]))

    (refuted,) = [one for one in commands if one.declared_exit_code == 0]
    assert refuted.verdict == "contradicted"
    assert refuted.observed_exit_code in {1, 2}
    assert [item.code for item in command_findings(commands)] == ["command-contradicted"]


@each_dialect
@pytest.mark.parametrize("history", HONEST)
def test_no_honest_history_is_accused(dialect: str, history: str) -> None:
    commands = reconcile_commands([Claim("pytest -q")], seen(dialect, HONEST[history]))

    (entry,) = [one for one in commands if one.declared_exit_code == 0]
    assert entry.verdict == ("confirmed" if history == "failed, then fixed" else "unseen")
    assert command_findings(commands) == ()


@each_dialect
def test_a_failure_that_is_declared_is_never_contradicted(dialect: str) -> None:
    happened = seen(dialect, [("pytest -q", 0), ("ruff check .", 2)])
    claims = [Claim("pytest -q", 1), Claim("ruff check .", None), Claim("mypy", None)]

    commands = reconcile_commands(claims, happened)
    assert told(commands) == [
        ("pytest -q", 1, None, "unseen"),
        ("pytest -q", None, 0, "undeclared"),
        ("ruff check .", None, 2, "confirmed"),
        ("mypy", None, None, "unseen"),
    ]
    assert command_findings(commands) == ()


@each_dialect
def test_the_same_words_are_aligned_in_their_order(dialect: str) -> None:
    happened = seen(dialect, [("pytest -q", 1), ("ls", 0), ("pytest -q", 0)])
    claims = [Claim("pytest -q", 1), Claim("ls"), Claim("pytest -q", 0), Claim("pytest -q", 0)]

    commands = reconcile_commands(claims, happened)
    assert told(commands) == [
        ("pytest -q", 1, 1, "confirmed"),
        ("ls", 0, 0, "confirmed"),
        ("pytest -q", 0, 0, "confirmed"),
        ("pytest -q", 0, None, "unseen"),
    ]


def test_a_shell_around_a_declared_command_is_taken_off_where_it_was_not_seen() -> None:
    happened = seen("codex", [("pytest -q", 1)])

    (command,) = reconcile_commands([Claim("bash -lc 'pytest -q'")], happened)
    assert (command.command, command.verdict) == ("pytest -q", "contradicted")


def test_a_stream_that_was_not_read_whole_proves_nothing() -> None:
    happened = seen("codex", [("pytest -q", 1)])

    commands = reconcile_commands(
        [Claim("pytest -q")], Witnessed(happened.observed, happened.calls, whole=False)
    )
    assert [one.verdict for one in commands] == ["unseen", "undeclared"]


def test_one_that_failed_again_after_its_success_is_a_remark() -> None:
    happened = seen("opencode", [("pytest -q", 0), "edit", ("pytest -q", 1)])

    commands = reconcile_commands([Claim("pytest -q")], happened)
    assert [item.code for item in command_findings(commands)] == ["later-failure"]
    honest = reconcile_commands([Claim("pytest -q"), Claim("pytest -q", 1)], happened)
    assert command_findings(honest) == ()


def program(command: str, code: int, *, minute: int = 0) -> ObservedCommand:
    return ObservedCommand(
        command=command,
        exit_code=code,
        witnesses=("program",),
        started_at=NOON + timedelta(minutes=minute),
        duration=1.5,
    )


def test_two_witnesses_of_one_command_make_one_entry() -> None:
    stream = seen("codex", [("pytest -q", 1), ("pytest -q", 0)])
    both = joined(stream.observed, [program("pytest -q", 1), program("pytest -q", 0, minute=1)])

    commands = reconcile_commands([], Witnessed(both, stream.calls, stream.whole))
    assert [one.witnesses for one in commands] == [("stream", "program")] * 2
    assert [one.started_at for one in commands] == [NOON, NOON + timedelta(minutes=1)]


def test_a_watched_program_confirms_what_ran_inside_a_script() -> None:
    stream = seen("codex", [("pytest -q", 1), ("./check.sh", 0)])
    both = joined(stream.observed, [program("pytest -q", 1), program("pytest -q", 0, minute=1)])

    commands = reconcile_commands([Claim("pytest -q")], Witnessed(both, stream.calls, stream.whole))
    (entry,) = [one for one in commands if one.declared_exit_code == 0]
    assert (entry.verdict, entry.witnesses) == ("confirmed", ("program",))


def test_a_watched_program_alone_accuses_nobody() -> None:
    commands = reconcile_commands(
        [Claim("pytest -q")], Witnessed((program("pytest -q", 1),), (), whole=True)
    )

    assert told(commands) == [
        ("pytest -q", 0, None, "unseen"),
        ("pytest -q", None, 1, "undeclared"),
    ]


def test_a_model_knows_the_exit_code_that_a_stream_does_not_tell() -> None:
    from_stream = ObservedCommand(command="pytest -q", begun=1, done=2)
    from_model = ObservedCommand(command="pytest -q", exit_code=1, witnesses=("model",))

    both = joined((from_stream,), (from_model,))
    assert [(one.exit_code, one.witnesses) for one in both] == [(1, ("stream", "model"))]
    commands = reconcile_commands([Claim("pytest -q")], Witnessed(both, (), whole=True))
    assert [one.verdict for one in commands] == ["contradicted"]


def test_what_was_written_after_a_command_is_told_by_the_time_of_the_inode() -> None:
    ended = NOON + timedelta(seconds=1.5)
    moment = int(ended.timestamp()) * 10**9 + 500_000_000
    (command,) = reconcile_commands(
        [Claim("pytest -q")], Witnessed((program("pytest -q", 0),), (), whole=True)
    )

    def after(*times: int | None) -> tuple[str, ...] | None:
        written = [ChangeTime(f"{number}.py", time) for number, time in enumerate(times)]
        return with_changed_after([command], written)[0].changed_after

    assert after() == ()
    assert after(moment - 1, moment) == ()
    assert after(moment, moment + 2_000_000) == ("1.py",)
    assert after(moment + 2_000_000, None) is None
    # A stream tells whole milliseconds: within that one nobody can tell.
    assert after(moment + 999_999) == ()
    assert with_changed_after([command], None)[0].changed_after is None
    # A deleted path went then, or before.
    for time, expected in ((moment, ()), (moment + 2_000_000, None)):
        deleted = [ChangeTime("gone.py", time, exact=False)]
        assert with_changed_after([command], deleted)[0].changed_after == expected


def test_tests_that_are_older_than_the_last_change_are_a_remark() -> None:
    late = [ChangeTime("a.py", 2**62)]
    happened = Witnessed((program("pytest -q", 0),), (), whole=True)

    def codes(claims: list[Claim]) -> list[str]:
        commands = with_changed_after(reconcile_commands(claims, happened), late)
        return [item.code for item in command_findings(commands)]

    assert codes([Claim("pytest -q")]) == ["tested-before-last-change"]
    assert codes([]) == []


claims = st.lists(
    st.builds(Claim, st.sampled_from(["pytest", "ls", "make"]), st.sampled_from([None, 0, 1])),
    max_size=6,
)
happenings = st.lists(
    st.tuples(st.sampled_from(["pytest", "ls", "make"]), st.sampled_from([None, 0, 1])), max_size=6
)


@given(claims, happenings)
def test_every_command_of_either_side_has_its_entry(
    declared: list[Claim], steps: list[Step]
) -> None:
    happened = seen("codex", steps)
    commands = reconcile_commands(declared, happened)

    observed = [one for one in commands if one.witnesses]
    assert len(commands) - len(observed) <= len(declared)
    assert sum(one.verdict != "undeclared" for one in commands) == len(declared)
    assert len(observed) >= len(steps)


@given(happenings)
def test_who_declares_what_was_seen_is_confirmed_throughout(steps: list[tuple[str, int]]) -> None:
    ended = [(text, code) for text, code in steps if code is not None]
    commands = reconcile_commands(
        [Claim(text, code) for text, code in ended], seen("codex", list(ended))
    )

    assert all(one.verdict == "confirmed" for one in commands)
    assert [item.code for item in command_findings(commands)] == []
