from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from caesar_agent import Agent, Report
from caesar_agent.mailbox.mailbox import Mailbox
from tests.caesar_agent.sdk import Desk, make_desk

CHANNEL = {"transport": "mcp-stdio", "command": "unused", "args": [], "server_name": "caesar"}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(tmp_path, channel=CHANNEL)


@contextmanager
def answering(desk: Desk, answer: str) -> Iterator[None]:
    """Answer every question that comes, from another thread."""
    over = threading.Event()

    def work() -> None:
        done: set[str] = set()
        while not over.is_set():
            for file in (desk.directory / "questions").glob("[!.]*.json"):
                if file.stem not in done:
                    Mailbox(desk.directory).answer(file.stem, answer)
                    done.add(file.stem)
            time.sleep(0.005)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_an_answer_comes_back_as_its_text(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        answer = agent.ask("Keep it?", options=["yes", "no"], timeout=30)
        return agent.success(f"they said {answer}")

    with answering(desk, "no"):
        assert desk.run(main) == 0

    assert desk.report["summary"] == "they said no"
    assert desk.report["questions"] == []
    (question,) = [event for event in desk.events if event["type"] == "question"]
    assert (question["question"], question["options"]) == ("Keep it?", ["yes", "no"])
    assert (desk.directory / "questions" / f"{question['id']}.json").exists()


def test_silence_is_none_and_leaves_the_question_open(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        return agent.success(str(agent.ask("Keep it?", timeout=0.05)))

    assert desk.run(main) == 0
    assert desk.report["summary"] == "None"
    assert desk.report["questions"] == [{"id": "q1", "question": "Keep it?", "options": []}]


def test_nobody_is_waited_for_beyond_the_deadline(tmp_path: Path) -> None:
    desk = make_desk(tmp_path, channel=CHANNEL, deadline_ms=50)

    assert desk.run(lambda agent: agent.success(str(agent.ask("Keep it?")))) == 0
    assert desk.report["summary"] == "None"


def test_a_mailbox_that_leads_elsewhere_is_not_used(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (desk.directory / "questions").symlink_to(tmp_path / "elsewhere")

    assert desk.run(lambda agent: agent.success(str(agent.ask("Keep it?")))) == 0
    assert desk.report["summary"] == "None"
    assert desk.told == ["started", "question", "error", "finished"]
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_submitted_report_goes_through_the_mailbox(desk: Desk) -> None:
    assert desk.run(lambda agent: agent.submit(agent.success("handed in"))) == 0
    assert (desk.directory / "submission.json").read_bytes() == (
        desk.directory / "report.json"
    ).read_bytes()
    assert desk.report["summary"] == "handed in"
    assert desk.report["task_id"] == "t_0001"


def test_a_report_that_is_merely_returned_does_not_go_through_the_mailbox(desk: Desk) -> None:
    assert desk.run(lambda agent: agent.success("done")) == 0
    assert not (desk.directory / "submission.json").exists()


def test_a_later_report_replaces_the_submission_too(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        agent.submit(agent.partial("half", next_steps=["the rest"]))
        return agent.success("whole")

    assert desk.run(main) == 0
    assert b"whole" in (desk.directory / "submission.json").read_bytes()
    assert desk.report["summary"] == "whole"


def test_a_submission_reaches_the_report_path_of_the_environment_too(
    desk: Desk, tmp_path: Path
) -> None:
    environ = {**desk.environ, "CAESAR_REPORT_PATH": str(tmp_path / "there.json")}

    assert desk.run(lambda agent: agent.submit(agent.success("x")), environ=environ) == 0
    assert (tmp_path / "there.json").exists()
    assert (desk.directory / "submission.json").exists()


def test_a_report_of_another_task_cannot_be_submitted(desk: Desk) -> None:
    foreign = Report(
        protocol="caesar.report/v1", task_id="t_9", status="success", summary="not mine"
    )

    assert desk.run(lambda agent: agent.submit(foreign)) == 1
    assert "ForeignReportError" in desk.report["summary"]
    assert desk.report["task_id"] == "t_0001"


def test_without_a_channel_a_submission_is_the_report_file(tmp_path: Path) -> None:
    desk = make_desk(tmp_path)

    assert desk.run(lambda agent: agent.submit(agent.success("handed in"))) == 0
    assert desk.report["summary"] == "handed in"
    assert not (desk.directory / "submission.json").exists()
