from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from caesar_agent.cli import main
from caesar_agent.mailbox.mailbox import Mailbox
from caesar_agent.mailbox.values import Answer
from tests.caesar_agent.channel.client import TIMEOUT, environment, events, make_task

COMMAND = (sys.executable, "-m", "caesar_agent", "answer")


@pytest.fixture
def mailbox(tmp_path: Path) -> Mailbox:
    return Mailbox(make_task(tmp_path / "task"))


def run(mailbox: Mailbox, *arguments: str) -> int:
    return main(["answer", str(mailbox.directory.path), *arguments])


def test_an_answer_reaches_the_agent_and_the_event_log(mailbox: Mailbox) -> None:
    question = mailbox.ask("Keep it?", ["yes", "no"])
    assert run(mailbox, question, "no") == 0
    assert mailbox.poll(question) == Answer(id=question, text="no")
    told = events(mailbox.directory.path)
    assert [(event["type"], event["task_id"], event["id"]) for event in told] == [
        ("question", "t_1", question),
        ("answer", "t_1", question),
    ]


def test_a_question_that_was_told_already_is_not_told_again(mailbox: Mailbox) -> None:
    (mailbox.directory.path / "events.jsonl").write_text(
        json.dumps({"seq": 0, "type": "question", "id": "q1", "question": "Keep it?"}) + "\n"
    )
    (mailbox.directory.path / "questions").mkdir()
    (mailbox.directory.path / "questions" / "q1.json").write_text(
        json.dumps({"id": "q1", "question": "Keep it?"})
    )
    assert run(mailbox, "q1", "no") == 0
    kinds = [event["type"] for event in events(mailbox.directory.path)]
    assert kinds == ["question", "answer"]


def test_an_answer_counts_where_the_event_log_cannot_be_written(
    mailbox: Mailbox, capsys: pytest.CaptureFixture[str]
) -> None:
    (mailbox.directory.path / "events.jsonl").mkdir()
    question = mailbox.ask("Keep it?")
    assert run(mailbox, question, "no") == 0
    assert mailbox.poll(question) == Answer(id=question, text="no")
    assert capsys.readouterr().err.startswith(
        "caesar-agent answer: answered, but not told in the event log: "
    )


def test_a_question_that_is_not_open_is_refused_with_its_state(
    mailbox: Mailbox, capsys: pytest.CaptureFixture[str]
) -> None:
    answered, expired, withdrawn = (mailbox.ask(text) for text in ("One?", "Two?", "Three?"))
    mailbox.answer(answered, "yes")
    mailbox.expire(expired)
    mailbox.withdraw(withdrawn)
    for question, reason in (
        (answered, "has already been answered; the first answer stands"),
        (expired, "has expired: nobody answered in time"),
        (withdrawn, "was withdrawn: nobody waits for its answer any more"),
        ("unknown", None),
    ):
        assert run(mailbox, question, "no") == 1
        expected = (
            f"caesar-agent answer: question '{question}' {reason}\n"
            if reason
            else "caesar-agent answer: unknown question 'unknown'; "
            "`caesar-agent questions` lists them\n"
        )
        assert capsys.readouterr().err == expected


@pytest.mark.parametrize("question", ["../../report", "a/b", "", "q1.json", "q\x1b1"])
def test_an_id_that_cannot_be_one_is_a_usage_error(
    mailbox: Mailbox, question: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(mailbox, question, "no") == 2
    error = capsys.readouterr().err
    assert error.startswith("caesar-agent answer: invalid question id ")
    assert "\x1b" not in error
    assert not mailbox.directory.answers.exists()


def test_an_empty_answer_is_a_usage_error(mailbox: Mailbox) -> None:
    assert run(mailbox, mailbox.ask("Keep it?"), "") == 2


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    assert main(["answer", str(tmp_path / "gone"), "q1", "no"]) == 2


def test_answers_from_several_processes_have_one_winner(mailbox: Mailbox) -> None:
    question = mailbox.ask("Race?")
    processes = [
        subprocess.Popen(
            [*COMMAND, str(mailbox.directory.path), question, f"answer {number}"],
            env=environment(),
            stderr=subprocess.PIPE,
        )
        for number in range(4)
    ]
    errors = [process.communicate(timeout=TIMEOUT)[1] for process in processes]
    codes = [process.returncode for process in processes]
    assert sorted(codes) == [0, 1, 1, 1]
    winner = codes.index(0)
    assert mailbox.poll(question) == Answer(id=question, text=f"answer {winner}")
    assert all(
        b"has already been answered" in error
        for error, code in zip(errors, codes, strict=True)
        if code
    )
