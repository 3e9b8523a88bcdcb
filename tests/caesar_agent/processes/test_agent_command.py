from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from caesar_agent import Agent, CommandFailedError, CommandResult, Report
from caesar_agent.processes.output import MAX_OUTPUT_BYTES
from caesar_agent.processes.process_tree import ProcessTree
from tests.caesar_agent.sdk import Desk, make_desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(tmp_path)


def run_in(desk: Desk, work: Callable[[Agent], CommandResult]) -> CommandResult:
    results: list[CommandResult] = []

    def main(agent: Agent) -> Report:
        results.append(work(agent))
        return agent.success("done")

    assert desk.run(main) == 0, desk.stderr
    return results[0]


def tool_events(desk: Desk) -> list[dict[str, Any]]:
    names = ("tool", "id", "input_summary", "status")
    return [
        {name: event[name] for name in names}
        for event in desk.events
        if event["type"] == "tool_use"
    ]


def test_a_command_is_told_when_it_starts_and_when_it_ends_under_one_id(desk: Desk) -> None:
    result = run_in(desk, lambda agent: agent.command(["echo", "two words"]))

    assert result.ok
    told = {"tool": "command", "id": "command_1", "input_summary": "echo 'two words'"}
    assert tool_events(desk) == [told | {"status": "started"}, told | {"status": "succeeded"}]
    assert desk.report["commands_run"] == [
        {"command": "echo 'two words'", "exit_code": 0, "note": ""}
    ]


def test_a_command_that_fails_is_an_outcome_and_not_an_error(desk: Desk) -> None:
    result = run_in(desk, lambda agent: agent.command(["sh", "-c", "exit 3"]))

    assert (result.ok, result.exit_code, result.ending) == (False, 3, "exit code 3")
    assert [event["status"] for event in tool_events(desk)] == ["started", "failed"]
    assert desk.report["commands_run"][0]["exit_code"] == 3


def test_two_commands_have_two_ids(desk: Desk) -> None:
    def work(agent: Agent) -> CommandResult:
        agent.command(["true"])
        return agent.command(["true"])

    run_in(desk, work)

    ids = [event["id"] for event in tool_events(desk)]
    assert ids == ["command_1", "command_1", "command_2", "command_2"]


def test_output_is_passed_on_and_kept_stream_by_stream(
    desk: Desk, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    result = run_in(desk, lambda agent: agent.command("printf 'out\\377'; printf err >&2"))

    assert (result.stdout, result.stderr) == ("out�", "err")
    assert capfdbinary.readouterr() == (b"out\xff", b"err")


def test_output_is_passed_on_while_the_program_runs(desk: Desk) -> None:
    # The program waits for what only a reader of its output can have made.
    process = desk.start("""
        def main(agent):
            agent.command("echo first; while [ ! -e go ]; do sleep 0.01; done; echo second")
            return agent.success("done")
        caesar_agent.run(main)
    """)
    assert process.stdout is not None

    assert process.stdout.readline() == "first\n"
    (desk.workspace / "go").touch()
    out, err = process.communicate(timeout=30)

    assert (out, err, process.returncode) == ("second\n", "", 0)


def test_text_streams_without_bytes_get_text(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)

    run_in(desk, lambda agent: agent.command(["printf", "é"]))

    assert stream.getvalue() == "é"


def test_a_string_is_run_by_a_shell(desk: Desk) -> None:
    result = run_in(desk, lambda agent: agent.command("echo a | tr a b"))

    assert result.stdout == "b\n"
    assert desk.report["commands_run"][0]["command"] == "echo a | tr a b"


def test_a_list_is_never_seen_by_a_shell(desk: Desk) -> None:
    result = run_in(desk, lambda agent: agent.command(["echo", "$HOME; `id`", Path("x y")]))

    assert result.stdout == "$HOME; `id` x y\n"


def test_it_runs_in_the_workspace_or_in_a_folder_of_it(desk: Desk) -> None:
    (desk.workspace / "sub").mkdir()

    assert run_in(desk, lambda agent: agent.command(["pwd"])).stdout == f"{desk.workspace}\n"
    sub = run_in(desk, lambda agent: agent.command(["pwd"], cwd="sub"))
    assert sub.stdout == f"{desk.workspace}/sub\n"


def test_variables_are_added_and_taken_away(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOES", "x")
    monkeypatch.setenv("STAYS", "y")

    result = run_in(
        desk,
        lambda agent: agent.command(
            "echo ${GOES-none} $STAYS $NEW", env={"GOES": None, "NEW": "z"}
        ),
    )

    assert result.stdout == "none y z\n"


def test_stdin_is_empty(desk: Desk) -> None:
    assert run_in(desk, lambda agent: agent.command(["cat"], timeout=30)).ok


def test_a_program_that_is_not_there_is_exit_code_127(desk: Desk) -> None:
    result = run_in(desk, lambda agent: agent.command(["no-such-program", "x"]))

    assert (result.exit_code, result.note) == (127, "'no-such-program' was not found on PATH")
    assert desk.report["commands_run"] == [
        {"command": "no-such-program x", "exit_code": 127, "note": result.note}
    ]


def test_a_program_that_cannot_be_executed_is_exit_code_126(desk: Desk) -> None:
    (desk.workspace / "plain").write_text("x")

    result = run_in(desk, lambda agent: agent.command(["./plain"]))

    assert (result.exit_code, result.note) == (
        126,
        "'./plain' could not be started: Permission denied",
    )


def test_an_argument_that_is_too_long_is_told_and_not_raised(desk: Desk) -> None:
    result = run_in(desk, lambda agent: agent.command(["echo", "x" * 4_000_000]))

    assert result.exit_code == 126
    assert len(desk.report["commands_run"][0]["command"]) == 2000


def test_a_program_that_a_signal_killed_has_no_exit_code(desk: Desk) -> None:
    result = run_in(desk, lambda agent: agent.command("kill -9 $$"))

    assert (result.exit_code, result.signal, result.ending) == (
        None,
        "SIGKILL",
        "killed by SIGKILL",
    )
    assert desk.report["commands_run"] == [{"command": "kill -9 $$", "note": "killed by SIGKILL"}]


def test_check_raises_with_the_end_of_the_output(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        agent.command("echo why >&2; exit 4", check=True)
        return agent.success("never")

    assert desk.run(main) == 1
    assert (
        "CommandFailedError: 'echo why >&2; exit 4' ended with exit code 4: why"
        in (desk.report["summary"])
    )


def test_check_says_nothing_when_it_went_well(desk: Desk) -> None:
    assert run_in(desk, lambda agent: agent.command(["true"], check=True)).ok


def test_a_timeout_ends_the_program_with_all_it_started(desk: Desk) -> None:
    result = run_in(desk, lambda agent: agent.command("sleep 60 & echo $! $$; wait", timeout=2))

    assert (result.timed_out, result.exit_code, result.ok) == (True, None, False)
    assert result.note == "timed out after 2 s"
    for pid in result.stdout.split():
        assert not ProcessTree({int(pid): ""}).alive(beside=0)


def test_a_timeout_holds_under_a_frozen_clock(desk: Desk) -> None:
    from freezegun import freeze_time

    with freeze_time("2020-01-01"):
        result = run_in(desk, lambda agent: agent.command(["sleep", "60"], timeout=0.1))

    assert result.timed_out


def test_a_timeout_that_is_not_needed_changes_nothing(desk: Desk) -> None:
    assert run_in(desk, lambda agent: agent.command(["true"], timeout=60)).ok


def test_what_a_program_left_running_is_not_waited_for(desk: Desk) -> None:
    result = run_in(desk, lambda agent: agent.command("sleep 60 & echo $!", timeout=30))

    assert result.ok
    os.kill(int(result.stdout), signal.SIGTERM)


def test_a_child_that_goes_on_writing_does_not_hold_the_agent(desk: Desk) -> None:
    result = run_in(desk, lambda agent: agent.command("yes & echo $! >pid", timeout=30))

    assert result.ok
    pid = int((desk.workspace / "pid").read_text())
    ProcessTree({pid: ""}).send(signal.SIGKILL)


def test_the_end_of_much_output_is_kept_and_all_of_it_is_passed_on(
    desk: Desk, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    size = 5 * MAX_OUTPUT_BYTES

    result = run_in(
        desk, lambda agent: agent.command(f"head -c {size} /dev/zero | tr '\\0' x; echo end")
    )

    assert result.truncated
    assert len(result.stdout) == MAX_OUTPUT_BYTES
    assert result.stdout.endswith("xend\n")
    assert len(capfdbinary.readouterr().out) == size + 4


def test_output_that_fits_is_kept_whole(desk: Desk) -> None:
    result = run_in(
        desk,
        lambda agent: agent.command(f"head -c {MAX_OUTPUT_BYTES} /dev/zero | tr '\\0' x"),
    )

    assert (len(result.stdout), result.truncated) == (MAX_OUTPUT_BYTES, False)


def test_a_reader_that_went_away_does_not_stop_the_program(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w", closefd=True) as stream:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdout", stream)
        result = run_in(desk, lambda agent: agent.command(["seq", "100000"]))
        # What is buffered would be written to nobody when the stream closes.
        monkeypatch.undo()
        os.dup2(os.open(os.devnull, os.O_WRONLY), writing)

    assert result.ok
    assert result.stdout.endswith("100000\n")


def test_without_a_pidfd_the_end_is_noticed_all_the_same(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)

    result = run_in(desk, lambda agent: agent.command("sleep 60 & echo $!", timeout=30))

    assert result.ok
    os.kill(int(result.stdout), signal.SIGTERM)


def test_a_failed_check_survives_pickling() -> None:
    import pickle

    error = CommandFailedError(command="x", ending="exit code 1", output="why")

    assert str(pickle.loads(pickle.dumps(error))) == "'x' ended with exit code 1:\nwhy"
