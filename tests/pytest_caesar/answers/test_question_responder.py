from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from freezegun import freeze_time

from caesar_agent.mailbox.mailbox import Mailbox
from caesar_agent.mailbox.values import Answer, Reply, Silence
from caesar_agent.task_directory import TaskDirectory
from pytest_caesar.answers import question_responder as attendance_module
from pytest_caesar.answers.question_responder import QuestionResponder
from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.supervision.cancellation import Cancellation
from tests.caesar_agent.channel.client import events, make_task

TIMEOUT = 30.0

# An agent that knows files alone: it writes a question, and looks for the answer.
BASH_AGENT = r"""
set -eu; cd "$CAESAR_TASK_DIR"; mkdir -p questions
printf '{"id": "q1", "question": "%s"}' "$1" > questions/.q1.tmp
mv questions/.q1.tmp questions/q1.json
for _ in $(seq 3000); do
  if [ -e answers/q1.json ]; then sed -n 's/.*"answer": "\(.*\)",.*/\1/p' answers/q1.json; exit 0; fi
  sleep 0.01
done
exit 1
"""


@pytest.fixture
def task_dir(tmp_path: Path) -> Path:
    return make_task(tmp_path / "task")


@contextmanager
def attended(
    task_dir: Path, answers: ScriptedAnswers, abort: Cancellation | None = None
) -> Iterator[QuestionResponder]:
    with QuestionResponder(
        answers, TaskDirectory(task_dir), task_id="t_1", abort=abort
    ) as attendance:
        yield attendance


def ask(task_dir: Path, question: str, **options: Any) -> Reply:
    mailbox = Mailbox(task_dir)
    return mailbox.wait(mailbox.ask(question, **options), timeout=TIMEOUT)


def test_an_agent_that_asks_hears_what_is_scripted(task_dir: Path) -> None:
    answers = ScriptedAnswers().on("Keep", "no")
    with attended(task_dir, answers) as attendance:
        reply = ask(task_dir, "Keep it?", options=["yes", "no"])
    assert isinstance(reply, Answer)
    assert reply.text == "no"
    [question] = attendance.questions
    assert (question.question, question.options) == ("Keep it?", ("yes", "no"))
    assert (question.state, question.answer) == ("answered", "no")
    assert attendance.diagnostics == ()
    assert answers.problems() == ()


def test_an_agent_of_files_alone_is_answered_and_told_of(task_dir: Path) -> None:
    with attended(task_dir, ScriptedAnswers().on("Keep", "no")) as attendance:
        done = subprocess.run(
            ["bash", "-c", BASH_AGENT, "agent", "Keep it?"],
            env={"PATH": "/usr/bin:/bin", "CAESAR_TASK_DIR": str(task_dir)},
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=True,
        )
    assert done.stdout == "no\n"
    assert [question.state for question in attendance.questions] == ["answered"]
    assert events(task_dir) == [
        {
            "seq": 0,
            "task_id": "t_1",
            "type": "question",
            "id": "q1",
            "question": "Keep it?",
            "options": [],
        },
        {"seq": 1, "task_id": "t_1", "type": "answer", "id": "q1", "answer": "no"},
    ]


def test_a_question_that_was_told_by_its_asker_is_not_told_twice(task_dir: Path) -> None:
    agent = """
import caesar_agent
def main(agent):
    assert agent.ask("Keep it?", options=["yes", "no"]) == "no"
    return agent.success("Asked.")
caesar_agent.run(main)
"""
    make_task(task_dir, channel={"transport": "mcp-stdio", "command": "unused"})
    environment = {
        "PYTHONPATH": str(Path(__file__).parents[3]),
        "CAESAR_TASK_DIR": str(task_dir),
        "CAESAR_TASK_FILE": str(task_dir / "task.json"),
        "CAESAR_REPORT_PATH": str(task_dir / "report.json"),
        "CAESAR_EVENTS_PATH": str(task_dir / "events.jsonl"),
    }
    with attended(task_dir, ScriptedAnswers().on("Keep", "no")):
        subprocess.run([sys.executable, "-c", agent], env=environment, timeout=TIMEOUT, check=True)
    kinds = [event["type"] for event in events(task_dir)]
    assert kinds.count("question") == 1
    assert kinds.index("question") + 1 == kinds.index("answer")


def test_silence_ends_the_wait_at_once(task_dir: Path) -> None:
    with attended(task_dir, ScriptedAnswers().silence("Keep")) as attendance:
        reply = ask(task_dir, "Keep it?")
    assert isinstance(reply, Silence)
    assert reply.reason == "expired"
    assert [question.state for question in attendance.questions] == ["expired"]


def test_silence_for_ever_leaves_the_agent_to_give_up(task_dir: Path) -> None:
    mailbox = Mailbox(task_dir)
    with attended(task_dir, ScriptedAnswers().silence(after=None)):
        question = mailbox.ask("Keep it?")
        reply = mailbox.wait(question, timeout=0.1)
    assert reply == Silence(id=question, reason="expired")


def test_a_rejection_reaches_the_agent_with_its_reason(task_dir: Path) -> None:
    with attended(task_dir, ScriptedAnswers().reject("Keep", reason="your call")):
        reply = ask(task_dir, "Keep it?")
    assert isinstance(reply, Silence)
    assert (reply.reason, reply.detail) == ("rejected", "your call")


def test_an_answer_may_come_later(task_dir: Path) -> None:
    mailbox = Mailbox(task_dir)
    with attended(task_dir, ScriptedAnswers().on("Keep", "no", after=0.05)):
        question = mailbox.ask("Keep it?")
        assert mailbox.wait(question, timeout=TIMEOUT) == Answer(id=question, text="no")


def test_an_answer_that_comes_after_the_agent_gave_up_does_not_count(task_dir: Path) -> None:
    mailbox = Mailbox(task_dir)
    with attended(task_dir, ScriptedAnswers().on("Keep", "no", after=0.1)) as attendance:
        question = mailbox.ask("Keep it?")
        assert mailbox.wait(question, timeout=0) == Silence(id=question, reason="expired")
        assert mailbox.wait(mailbox.ask("Keep two?"), timeout=TIMEOUT)
    assert [found.state for found in attendance.questions] == ["expired", "answered"]
    assert [event["type"] for event in events(task_dir)].count("answer") == 1


def test_an_unscripted_question_is_refused_and_ends_the_agent(task_dir: Path) -> None:
    answers, abort = ScriptedAnswers(), Cancellation()
    with attended(task_dir, answers, abort):
        reply = ask(task_dir, "Keep it?")
        assert abort.is_set()
    assert isinstance(reply, Silence)
    assert reply.reason == "rejected"
    assert [question.question for question in answers.unscripted] == ["Keep it?"]


def test_a_question_of_an_agent_that_did_not_wait_is_withdrawn_and_counts(task_dir: Path) -> None:
    answers = ScriptedAnswers().on("Keep", "no", after=3600)
    with attended(task_dir, answers) as attendance:
        mailbox = Mailbox(task_dir)
        mailbox.ask("Keep it?")
    assert [question.state for question in attendance.questions] == ["withdrawn"]
    assert answers.problems() == ()


def test_a_question_that_was_asked_with_the_last_breath_is_not_missed(task_dir: Path) -> None:
    answers = ScriptedAnswers()
    attendance = QuestionResponder(answers, TaskDirectory(task_dir), task_id="t_1")
    attendance._stop.set()  # the thread ends before it has looked
    with attendance:
        Mailbox(task_dir).ask("Which port?")
    assert [question.state for question in attendance.questions] == ["withdrawn"]
    assert [question.question for question in answers.unscripted] == ["Which port?"]


def test_a_flood_of_questions_gives_a_bounded_number_of_findings(task_dir: Path) -> None:
    (task_dir / "questions").mkdir()
    for number in range(150):
        question = json.dumps({"id": f"q{number}", "question": f"Number {number}?"})
        (task_dir / "questions" / f"q{number}.json").write_text(question)
    with attended(task_dir, ScriptedAnswers()) as attendance:
        pass
    assert len(attendance.questions) == 150
    assert [found.code for found in attendance.diagnostics] == ["unanswered-question"] * 100


def test_somebody_else_may_answer_where_nothing_is_scripted(task_dir: Path) -> None:
    with attended(task_dir, ScriptedAnswers(unscripted="wait")) as attendance:
        mailbox = Mailbox(task_dir)
        question = mailbox.ask("Keep it?")
        mailbox.answer(question, "by hand")
    assert [found.answer for found in attendance.questions] == ["by hand"]
    assert attendance.diagnostics == ()
    assert [event["type"] for event in events(task_dir)] == ["question", "answer"]


def test_an_agent_that_answers_itself_is_found_out(task_dir: Path) -> None:
    with attended(task_dir, ScriptedAnswers().silence(after=None)) as attendance:
        mailbox = Mailbox(task_dir)
        mailbox.answer(mailbox.ask("Keep it?"), "yes, says the agent")
    assert [found.code for found in attendance.diagnostics] == ["answer-foreign"]


@pytest.mark.parametrize("fault", ["matcher", "answer", "number"])
def test_a_function_that_goes_wrong_is_told_and_ends_the_agent(task_dir: Path, fault: str) -> None:
    def explode(question: object) -> str:
        raise RuntimeError("boom")

    def number(question: object) -> Any:
        return 42

    match: Any = explode if fault == "matcher" else "Keep"
    answers = ScriptedAnswers().on(match, number if fault == "number" else explode)
    abort = Cancellation()
    with attended(task_dir, answers, abort):
        reply = ask(task_dir, "Keep it?")
        assert abort.is_set()
    assert isinstance(reply, Silence)
    assert answers.errors == (
        {
            "matcher": "a matcher raised RuntimeError: boom",
            "answer": "on('Keep') raised RuntimeError: boom",
            "number": "on('Keep') gave 42 instead of a text",
        }[fault],
    )


def test_a_frozen_clock_does_not_stop_the_answers(task_dir: Path) -> None:
    answers = ScriptedAnswers().on("Keep", "no", after=0.02)
    with freeze_time("2026-01-01", ignore=["pytest_caesar"]), attended(task_dir, answers):
        reply = ask(task_dir, "Keep it?")
    assert isinstance(reply, Answer)


def test_a_mailbox_that_was_replaced_by_a_link_is_named(task_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (task_dir / "answers").symlink_to(tmp_path / "outside")
    with attended(task_dir, ScriptedAnswers().on("Keep", "no")) as attendance:
        (task_dir / "questions").mkdir()
        (task_dir / "questions" / "q1.json").write_text(
            json.dumps({"id": "q1", "question": "Keep it?"})
        )
    assert "mailbox-unsafe" in {found.code for found in attendance.diagnostics}
    assert not any((tmp_path / "outside").iterdir())


def test_the_script_of_the_documentation_asks_and_hears(task_dir: Path) -> None:
    if shutil.which("jq") is None:
        pytest.skip("needs jq: apt-get install jq, or brew install jq")
    page = Path(__file__).parents[3] / "docs" / "channel.md"
    [script] = re.findall(r"```bash\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    with attended(task_dir, ScriptedAnswers().on("Keep the old behaviour?", "no")):
        done = subprocess.run(
            ["bash", "-euc", script + 'printf %s "$answer"'],
            env={"PATH": os.environ["PATH"], "CAESAR_TASK_DIR": str(task_dir)},
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=True,
        )
    assert done.stdout == "no"


def test_a_function_that_does_not_return_does_not_keep_the_run(
    task_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attendance_module, "JOIN_TIMEOUT", 0.05)
    entered, free = threading.Event(), threading.Event()

    def stuck(question: object) -> bool:
        entered.set()
        return free.wait(TIMEOUT)

    answers = ScriptedAnswers().on(stuck, "no")
    with attended(task_dir, answers) as attendance:
        Mailbox(task_dir).ask("Keep it?")
        assert entered.wait(TIMEOUT)
    free.set()
    assert answers.errors == ("a function of the script did not return",)
    assert attendance.questions == ()
    attendance._thread.join(TIMEOUT)


def test_what_the_event_log_does_not_take_is_told_and_the_answer_counts(task_dir: Path) -> None:
    (task_dir / "events.jsonl").mkdir()
    with attended(task_dir, ScriptedAnswers().on("Keep", "no")) as attendance:
        assert isinstance(ask(task_dir, "Keep it?"), Answer)
    assert {found.code for found in attendance.diagnostics} == {"events-unwritable"}
