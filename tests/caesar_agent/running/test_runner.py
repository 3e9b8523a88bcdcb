from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from pydantic import BaseModel

from caesar_agent import Agent, Report
from caesar_agent.events.narration import Narrator
from caesar_agent.processes.interruption import Interrupted, interrupt
from tests.caesar_agent.sdk import Desk, make_desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(tmp_path)


@pytest.mark.parametrize(
    ("status", "code"), [("success", 0), ("partial", 0), ("blocked", 0), ("failed", 1)]
)
def test_the_exit_code_follows_the_status(desk: Desk, status: str, code: int) -> None:
    def main(agent: Agent) -> Report:
        agent.question("Which?")
        return getattr(agent, status)("so it went")  # type: ignore[no-any-return]

    assert desk.run(main) == code
    assert desk.report["status"] == status
    assert desk.events[-1]["type"] == "finished"
    assert desk.events[-1]["status"] == status
    assert desk.events[-1]["exit_code"] == code


def test_an_exception_becomes_a_failed_report_with_the_traceback_and_an_error_event(
    desk: Desk,
) -> None:
    def main(agent: Agent) -> Report:
        agent.file_changed("a.py", "modified")
        raise RuntimeError("the parser\nis gone")

    assert desk.run(main) == 1
    assert desk.report["status"] == "failed"
    assert desk.report["summary"] == "The agent failed: RuntimeError: the parser is gone"
    assert desk.report["changes"][0]["path"] == "a.py"
    details = desk.report["details"]
    assert details.startswith("Traceback (most recent call last):\n")
    assert "in main\n" in details
    assert "caesar_agent/running/runner.py" not in details
    assert desk.stderr == details
    assert desk.told == ["started", "file_changed", "error", "finished"]
    assert desk.events[2]["message"] == desk.report["summary"]
    assert desk.events[2]["fatal"] is True


def test_an_exception_of_an_async_agent_becomes_a_failed_report_too(desk: Desk) -> None:
    async def main(agent: Agent) -> Report:
        await asyncio.sleep(0)
        raise RuntimeError("gone")

    assert desk.run(main) == 1
    assert desk.report["summary"] == "The agent failed: RuntimeError: gone"
    assert "asyncio" not in desk.report["details"]


def test_a_text_that_no_encoding_knows_does_not_lose_the_report(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        raise RuntimeError(os.fsdecode(b"caf\xe9"), "\x1b[2J")

    assert desk.run(main) == 1
    assert desk.report["status"] == "failed"
    assert "\x1b" not in desk.report["summary"]


def test_a_wrong_report_made_by_hand_is_told_field_by_field(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        return Report(status="done", summary="Fixed.", changes=["a.py"])  # type: ignore[arg-type,call-arg]

    assert desk.run(main) == 1
    assert desk.report["summary"] == (
        "The agent failed: ValidationError: no valid Report: at protocol: a required field is "
        "missing; at status: expected 'success', 'partial', 'failed' or 'blocked', found \"done\"; "
        'at changes[0]: expected an object, found "a.py"'
    )
    assert "in main\n" in desk.report["details"]


def test_a_wrong_value_of_the_agents_own_models_is_told_by_pydantic(desk: Desk) -> None:
    class Plan(BaseModel):
        steps: int

    def main(agent: Agent) -> Report:
        return agent.success(f"{Plan(steps='many')}")

    assert desk.run(main) == 1
    assert "1 validation error for Plan steps" in desk.report["summary"]


def test_the_traceback_begins_in_the_agent_and_not_in_who_calls_it(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        raise RuntimeError("gone")

    def caller(agent: Agent) -> Report:
        __tracebackhide__ = True
        return main(agent)

    assert desk.run(caller) == 1
    assert "in main\n" in desk.report["details"]
    assert "in caller\n" not in desk.report["details"]


def test_a_huge_exception_is_cut(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        raise RuntimeError("x" * 1_000_000 + "the end")

    assert desk.run(main) == 1
    assert len(desk.report["summary"]) < 400
    assert len(desk.report["details"]) < 17_000
    assert desk.report["details"].endswith("the end\n")


@pytest.mark.parametrize(
    ("returned", "what"),
    [
        (None, "nothing"),
        ("done", "a value of type str"),
        ({"status": "success"}, "a value of type dict"),
    ],
)
def test_what_is_no_report_becomes_a_failed_one_that_says_what_to_return(
    desk: Desk, returned: object, what: str
) -> None:
    problem = (
        f"main() returned {what} instead of a report: end it with return agent.success('…'), "
        "or with agent.partial, agent.failed or agent.blocked"
    )

    assert desk.run(lambda agent: returned) == 1  # type: ignore[arg-type,return-value]
    assert desk.report["status"] == "failed"
    assert desk.report["summary"] == f"The agent is wrong: {problem}."
    assert desk.stderr == f"caesar: {problem}\n"


def test_a_function_that_does_not_take_the_agent_is_told_how_to(desk: Desk) -> None:
    def main() -> Report:
        raise AssertionError

    problem = (
        "main() cannot be called with the agent as its only argument: "
        "write it as def main(agent): …"
    )

    assert desk.run(main) == 1  # type: ignore[arg-type]
    assert desk.report["summary"] == f"The agent is wrong: {problem}."
    assert desk.stderr == f"caesar: {problem}\n"


def test_a_mistake_in_a_call_of_the_agent_keeps_its_traceback(desk: Desk) -> None:
    def main(agent: Agent, more: str = "") -> Report:
        return agent.success()  # type: ignore[call-arg]

    assert desk.run(main) == 1
    assert "TypeError" in desk.report["summary"]
    assert "in main" in desk.report["details"]


def test_a_report_made_by_hand_gets_the_id_of_the_task(desk: Desk) -> None:
    report = Report(protocol="caesar.report/v1", status="success", summary="by hand")

    assert desk.run(lambda agent: report) == 0
    assert desk.report["task_id"] == "t_0001"


def test_a_report_that_cannot_be_written_as_json_becomes_a_failed_one(desk: Desk) -> None:
    report = Report.model_validate(
        {"protocol": "caesar.report/v1", "status": "success", "summary": "x", "odd": object()}
    )

    assert desk.run(lambda agent: report) == 1
    assert desk.report["status"] == "failed"


@pytest.mark.parametrize(
    ("asked", "code", "end"),
    [
        (0, 1, "report."),
        (None, 1, "report."),
        (3, 3, "report."),
        (256, 1, "report."),
        ("no key\n\x1b[2J", 1, r"report: no key \x1b[2J"),
        (" ", 1, "report."),
    ],
)
def test_sys_exit_without_a_report_is_a_failure_with_its_exit_code_and_text(
    desk: Desk, asked: object, code: int, end: str
) -> None:
    def main(agent: Agent) -> Report:
        raise SystemExit(asked)

    assert desk.run(main) == code
    assert desk.report["status"] == "failed"
    assert desk.report["summary"].endswith(f" before it returned a {end}")


def test_sys_exit_after_a_submitted_report_is_just_an_exit_code(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        agent.submit(agent.success("handed in"))
        raise SystemExit(0)

    assert desk.run(main) == 0
    assert desk.report["summary"] == "handed in"


def test_an_exception_after_a_submitted_report_does_not_unsay_it(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        agent.submit(agent.success("handed in"))
        raise RuntimeError("while tidying up")

    assert desk.run(main) == 1
    assert desk.report["summary"] == "handed in"
    assert desk.told == ["started", "error", "finished"]
    assert desk.events[-1]["status"] == "success"


def test_a_report_returned_after_a_submitted_one_replaces_it(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        agent.submit(agent.partial("half", next_steps=["the rest"]))
        return agent.success("whole")

    assert desk.run(main) == 0
    assert desk.report["summary"] == "whole"


def test_returning_nothing_after_a_submitted_report_is_fine(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        agent.submit(agent.failed("no way"))
        return None  # type: ignore[return-value]

    assert desk.run(main) == 1
    assert desk.report["summary"] == "no way"
    assert desk.stderr == ""


def test_a_keyboard_interrupt_leaves_a_report_and_reaches_the_caller(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        desk.run(main)
    assert desk.report["status"] == "failed"
    assert desk.report["summary"] == "The agent failed: KeyboardInterrupt"


def test_a_caller_interrupts_an_agent_with_a_reason_of_its_own(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        interrupt("stopped at its deadline of 2000 ms")
        return agent.success("never")

    assert desk.run(main) == 1
    assert (
        desk.report["summary"]
        == "The agent was stopped at its deadline of 2000 ms before it was done."
    )
    assert desk.report["details"].startswith("It was here when it was stopped:\n\nTraceback")


def test_an_agent_may_catch_its_interruption_and_say_it_better(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        try:
            interrupt("stopped at its deadline")
        except Interrupted as stop:
            return agent.partial(f"half done, {stop.reason}", next_steps=["the rest"])
        return agent.success("never")

    assert desk.run(main) == 0
    assert desk.report["summary"] == "half done, stopped at its deadline"


def test_an_agent_that_fails_while_it_is_stopped_was_stopped(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        try:
            interrupt("stopped at its deadline")
        finally:
            raise RuntimeError("tidying up went wrong")

    assert desk.run(main) == 1
    assert desk.report["summary"] == "The agent was stopped at its deadline before it was done."


def test_an_interruption_outside_of_any_agent_does_nothing() -> None:
    interrupt("stopped")


def test_a_report_that_was_submitted_survives_an_interruption(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        agent.submit(agent.success("handed in"))
        interrupt("stopped at its deadline")
        return agent.failed("never")

    assert desk.run(main) == 0
    assert desk.report["summary"] == "handed in"


@pytest.mark.parametrize("name", ["CAESAR_TASK_FILE", "CAESAR_REPORT_PATH"])
@pytest.mark.parametrize(("value", "state"), [(None, "not set"), ("", "empty")])
def test_a_missing_variable_is_named_in_one_sentence(
    desk: Desk, name: str, value: str | None, state: str
) -> None:
    environ = {key: old for key, old in desk.environ.items() if key != name}
    if value is not None:
        environ[name] = value

    assert desk.run(never, environ=environ) == 2
    meaning = {
        "CAESAR_TASK_FILE": "the task.json to read",
        "CAESAR_REPORT_PATH": "where to write the report",
    }[name]
    assert desk.stderr == (
        f"caesar: {name} is {state}: it must name {meaning}; an orchestrator sets it, and "
        "`pytest-caesar run AGENT OBJECTIVE` does so by hand\n"
    )
    assert not desk.has_report


def never(agent: Agent) -> Report:
    raise AssertionError("main must not be called")


def test_a_task_of_another_version_is_refused_by_name(tmp_path: Path) -> None:
    desk = make_desk(tmp_path, protocol="caesar.task/v2")

    assert desk.run(never) == 2
    assert desk.stderr == (
        f"caesar: the task {desk.directory}/task.json has protocol 'caesar.task/v2', and this "
        "agent understands 'caesar.task/v1' only; it needs another version of this SDK, or an "
        "orchestrator that speaks this one\n"
    )
    assert not desk.has_report


@pytest.mark.parametrize(
    ("protocol", "what"),
    [
        ("caesar.report/v1", 'a caesar report, not a task: found "caesar.report/v1"'),
        ("1.0", 'not a caesar document: found "1.0"'),
    ],
)
def test_what_is_another_document_is_not_taken_for_another_version(
    tmp_path: Path, protocol: str, what: str
) -> None:
    desk = make_desk(tmp_path, protocol=protocol)

    assert desk.run(never) == 2
    assert f"is not a task: invalid task at protocol: {what}" in desk.stderr
    assert "another version of this SDK" not in desk.stderr


def test_a_task_that_is_none_is_refused_with_the_field(tmp_path: Path) -> None:
    desk = make_desk(tmp_path, mode="rw\x1b[2J")

    assert desk.run(never) == 2
    assert "is not a task: invalid task at mode:" in desk.stderr
    assert "\x1b" not in desk.stderr
    assert desk.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "what"),
    [(b"{", "is not a task:"), (b"", "is not a task:"), (b"\xff", "not a task")],
)
def test_a_task_that_is_no_json_is_refused(desk: Desk, content: bytes, what: str) -> None:
    (desk.directory / "task.json").write_bytes(content)

    assert desk.run(never) == 2
    assert what in desk.stderr


def test_a_task_that_is_not_there_is_refused(desk: Desk) -> None:
    (desk.directory / "task.json").unlink()

    assert desk.run(never) == 2
    assert desk.stderr == (
        f"caesar: the task {desk.directory}/task.json cannot be read: No such file or directory; "
        "CAESAR_TASK_FILE must name the task.json of the orchestrator\n"
    )


def test_a_pipe_in_place_of_the_task_does_not_hold_the_agent(desk: Desk) -> None:
    (desk.directory / "task.json").unlink()
    os.mkfifo(desk.directory / "task.json")

    assert desk.run(never) == 2
    assert "it is not a regular file" in desk.stderr


def test_a_report_that_cannot_be_written_is_one_sentence_and_exit_code_2(desk: Desk) -> None:
    environ = {**desk.environ, "CAESAR_REPORT_PATH": str(desk.path / "gone" / "report.json")}

    assert desk.run(lambda agent: agent.success("done"), environ=environ) == 2
    assert desk.stderr == (
        f"caesar: the report cannot be written to {desk.path}/gone/report.json: No such file or "
        "directory; CAESAR_REPORT_PATH must name a file in a folder that exists, is writable and "
        "has space\n"
    )


def test_a_folder_in_place_of_the_report_is_one_sentence_and_exit_code_2(desk: Desk) -> None:
    (desk.directory / "report.json").mkdir()

    assert desk.run(lambda agent: agent.success("done")) == 2
    assert desk.stderr.startswith(
        f"caesar: the report cannot be written to {desk.directory}/report"
    )
    assert desk.stderr.count("\n") == 1


def test_a_disk_that_takes_no_more_is_one_sentence_and_exit_code_2(desk: Desk) -> None:
    process = desk.start("""
        import resource
        def main(agent):
            resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
            return agent.success("done")
        caesar_agent.run(main)
    """)

    _, err = process.communicate(timeout=30)

    assert process.returncode == 2
    assert "caesar: the report cannot be written to" in err
    assert "File too large" in err
    assert sorted(path.name for path in desk.directory.iterdir()) == ["events.jsonl", "task.json"]


def test_the_variable_counts_where_the_task_names_another_report(tmp_path: Path) -> None:
    desk = make_desk(tmp_path, report_path=str(tmp_path / "other.json"))

    assert desk.run(lambda agent: agent.success("done")) == 0
    assert desk.has_report
    assert not (tmp_path / "other.json").exists()


def test_two_variables_are_enough(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    environ = {name: desk.environ[name] for name in ("CAESAR_TASK_FILE", "CAESAR_REPORT_PATH")}

    def main(agent: Agent) -> Report:
        agent.progress("nobody listens")
        return agent.success("done")

    assert desk.run(main, environ=environ) == 0
    assert desk.has_report
    assert not (desk.directory / "events.jsonl").exists()
    assert capsys.readouterr() == ("", "")


def test_a_log_that_cannot_be_written_is_told_once_and_the_work_goes_on(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    (desk.directory / "events.jsonl").mkdir()

    def main(agent: Agent) -> Report:
        agent.progress("one")
        agent.progress("two")
        return agent.success("done")

    assert desk.run(main) == 0
    warning = capsys.readouterr().err
    assert warning.startswith(f"caesar: events cannot be written to {desk.directory}/events.jsonl")
    assert warning.count("\n") == 1


def test_an_event_that_is_none_does_not_silence_the_others(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    narrator = Narrator(desk.directory / "events.jsonl", "t_0001")

    narrator.tell("progress", message="one", pct="half\x1b")
    narrator.tell("progress", message="two")

    warning = capsys.readouterr().err
    assert warning.startswith("caesar: an event of type progress was not written: invalid event")
    assert "\x1b" not in warning
    assert [event["message"] for event in desk.events] == ["two"]


def test_a_log_that_is_a_link_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (desk.directory / "events.jsonl").symlink_to(victim)

    assert desk.run(lambda agent: agent.success("done")) == 0
    assert victim.read_text() == "mine"


def test_a_report_that_is_a_link_is_replaced_and_not_followed(desk: Desk, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (desk.directory / "report.json").symlink_to(victim)

    assert desk.run(lambda agent: agent.success("done")) == 0
    assert victim.read_text() == "mine"
    assert desk.report["summary"] == "done"


def test_started_is_not_logged_twice(desk: Desk) -> None:
    line = (
        '{"protocol":"caesar.event/v1","seq":0,"at":"2026-08-09T10:00:00.000Z",'
        '"task_id":"t_0001","type":"started","agent":"tester","command":""}\n'
    )
    (desk.directory / "events.jsonl").write_text("not an event\n" + line)

    assert desk.run(lambda agent: agent.success("done")) == 0
    text = (desk.directory / "events.jsonl").read_text()
    assert text.count('"started"') == 1
    assert text.count('"finished"') == 1


def test_nothing_is_left_beside_the_documents(desk: Desk) -> None:
    assert desk.run(lambda agent: agent.success("done")) == 0
    assert sorted(path.name for path in desk.directory.iterdir()) == [
        "events.jsonl",
        "report.json",
        "task.json",
    ]


def test_a_task_with_a_large_context_is_read(tmp_path: Path) -> None:
    desk = make_desk(tmp_path, context="x" * 300_000)

    assert desk.run(lambda agent: agent.success(str(len(agent.task.context)))) == 0
    assert desk.report["summary"] == "300000"


def test_the_handlers_of_the_caller_are_put_back(desk: Desk) -> None:
    import signal

    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]

    assert desk.run(lambda agent: agent.success("done"), install_signals=True) == 0
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
