from __future__ import annotations

import errno
import json
import os
import pickle
import re
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from freezegun import freeze_time

from caesar_agent.documents import Report
from caesar_agent.errors import DocumentError
from caesar_agent.mailbox import mailbox as mailbox_module
from caesar_agent.mailbox import reader
from caesar_agent.mailbox.errors import (
    AlreadyAnsweredError,
    ForeignReportError,
    InvalidQuestionIdError,
    InvalidTextError,
    MailboxError,
    QuestionExpiredError,
    QuestionRejectedError,
    QuestionWithdrawnError,
    UnknownQuestionError,
    UnsafeMailboxError,
)
from caesar_agent.mailbox.mailbox import Mailbox, polling_interval
from caesar_agent.mailbox.values import Answer, Silence

INVALID_IDS = [
    "",
    ".",
    "..",
    "../../report",
    "a/b",
    "a\\b",
    "q\0",
    "q\n1",
    "q1.json",
    "-rf",
    "q" * 129,
    "CON",
    "lpt1",
    "\uff052e",
    "é",
    "q 1",
]


@pytest.fixture
def mailbox(tmp_path: Path) -> Mailbox:
    return Mailbox(tmp_path)


def write_task(folder: Path, **fields: object) -> None:
    (folder / "task.json").write_text(json.dumps({"id": "t_1", **fields}), encoding="utf-8")


def later(seconds: float, action: Callable[[], Any]) -> threading.Timer:
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()
    return timer


# -- asking


def test_a_question_is_a_file_with_an_id_that_nobody_can_guess(mailbox: Mailbox) -> None:
    first, second = mailbox.ask("Keep it?", ["yes", "no"]), mailbox.ask("Keep it?")
    assert first != second
    assert uuid.UUID(first).version == 4
    written = json.loads((mailbox.directory.questions / f"{first}.json").read_text())
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", written.pop("asked_at"))
    assert written == {
        "id": first,
        "question": "Keep it?",
        "options": ["yes", "no"],
        "reads_notes": True,
    }


def test_the_folders_and_files_are_for_the_user_alone(mailbox: Mailbox) -> None:
    question = mailbox.ask("Keep it?")
    folder = mailbox.directory.questions
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / f"{question}.json").stat().st_mode & 0o777 == 0o600


def test_a_question_is_announced_before_it_can_be_seen(mailbox: Mailbox) -> None:
    seen: list[tuple[str, int]] = []
    question = mailbox.ask(
        "Keep it?", announce=lambda name: seen.append((name, len(mailbox.questions())))
    )
    assert seen == [(question, 0)]


def test_any_text_survives_the_round_trip(mailbox: Mailbox) -> None:
    text = 'a "b"\n\0 \u2028 \ud83d é 日本'
    question = mailbox.ask(text)
    mailbox.answer(question, text)
    [found] = mailbox.questions()
    assert (found.question, found.answer) == (text, text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it is empty"),
        (7, "expected text, found int"),
        ("x" * (1 << 20), "it takes 1048711 bytes, at most 1048576 are read"),
    ],
)
def test_what_nobody_could_read_is_not_asked(mailbox: Mailbox, text: Any, problem: str) -> None:
    with pytest.raises(InvalidTextError) as caught:
        mailbox.ask(text)
    assert re.sub(r"10487\d\d", "1048711", str(caught.value)) == f"invalid question: {problem}"
    assert not mailbox.directory.questions.exists() or not any(
        mailbox.directory.questions.iterdir()
    )


# -- waiting


def test_an_answer_that_comes_while_one_waits_is_returned(mailbox: Mailbox) -> None:
    question = mailbox.ask("Keep it?")
    later(0.03, lambda: Mailbox(mailbox.directory).answer(question, "yes"))
    assert mailbox.wait(question, timeout=30) == Answer(id=question, text="yes")


def test_nobody_answering_is_an_outcome_and_closes_the_question(mailbox: Mailbox) -> None:
    question = mailbox.ask("Keep it?")
    assert mailbox.wait(question, timeout=0.01) == Silence(id=question, reason="expired")
    with pytest.raises(QuestionExpiredError):
        mailbox.answer(question, "yes")


def test_waiting_does_not_depend_on_a_clock_that_a_test_has_frozen(mailbox: Mailbox) -> None:
    with freeze_time("2026-01-01", ignore=["pytest_caesar"]):
        question = mailbox.ask("Keep it?")
        assert mailbox.wait(question, timeout=0.02) == Silence(id=question, reason="expired")
    [found] = mailbox.questions()
    assert found.asked_at == "2026-01-01T00:00:00.000Z"


def test_whoever_gives_up_withdraws_the_question(mailbox: Mailbox) -> None:
    question = mailbox.ask("Keep it?")
    reply = mailbox.wait(question, timeout=30, given_up=lambda: True)
    assert reply == Silence(id=question, reason="withdrawn")
    with pytest.raises(QuestionWithdrawnError):
        mailbox.answer(question, "yes")


def test_an_answer_that_was_first_is_what_expiring_returns(mailbox: Mailbox) -> None:
    question = mailbox.ask("Keep it?")
    mailbox.answer(question, "yes")
    assert mailbox.expire(question) == Answer(id=question, text="yes")
    assert mailbox.withdraw(question) == Answer(id=question, text="yes")


def test_waiting_is_five_minutes_and_never_beyond_the_deadline(tmp_path: Path) -> None:
    mailbox = Mailbox(tmp_path)
    assert mailbox.longest_wait() == 300
    write_task(tmp_path, deadline_ms=20_000, created_at="1999-01-01T00:00:00.000Z")
    assert 0 < mailbox.longest_wait() <= 20
    assert mailbox.longest_wait(5) == 5
    os.utime(tmp_path / "task.json", (time.time() - 30, time.time() - 30))
    assert mailbox.longest_wait() == 0
    write_task(tmp_path, deadline_ms=10**9)
    assert mailbox.longest_wait() == 300
    assert mailbox.longest_wait(3600) == 3600


@pytest.mark.parametrize("text", ["", "{", "[]", '{"deadline_ms": true}', '{"deadline_ms": "1"}'])
def test_a_task_that_cannot_be_read_leaves_the_usual_time(tmp_path: Path, text: str) -> None:
    (tmp_path / "task.json").write_text(text, encoding="utf-8")
    assert Mailbox(tmp_path).longest_wait() == 300


def test_the_first_looks_are_close_together_and_the_later_ones_are_not() -> None:
    assert polling_interval(0.0) == 0.001
    assert polling_interval(0.1) <= 0.01
    assert polling_interval(3600.0) == 0.1


# -- answering


def test_the_first_answer_stands(mailbox: Mailbox) -> None:
    question = mailbox.ask("Keep it?")
    mailbox.answer(question, "yes")
    with pytest.raises(AlreadyAnsweredError) as caught:
        mailbox.answer(question, "no")
    assert str(caught.value) == (
        f"question '{question}' has already been answered; the first answer stands"
    )
    assert mailbox.poll(question) == Answer(id=question, text="yes")


@pytest.mark.parametrize("question_id", INVALID_IDS)
def test_an_id_that_is_no_file_name_touches_nothing(tmp_path: Path, question_id: str) -> None:
    folder = tmp_path / "task"
    folder.mkdir()
    mailbox = Mailbox(folder)
    for action in (
        lambda: mailbox.answer(question_id, "yes"),
        lambda: mailbox.poll(question_id),
        lambda: mailbox.expire(question_id),
    ):
        with pytest.raises(InvalidQuestionIdError):
            action()
    assert list(tmp_path.rglob("*")) == [folder]


@pytest.mark.parametrize("question_id", ["q1", "q_2-x", "_", "Q" * 128, "console"])
def test_other_names_are_ids(mailbox: Mailbox, question_id: str) -> None:
    with pytest.raises(UnknownQuestionError) as caught:
        mailbox.answer(question_id, "yes")
    assert str(caught.value) == (
        f"unknown question {question_id!r}; `caesar-agent questions` lists them"
    )
    assert not mailbox.directory.answers.exists()


def test_a_question_that_was_rejected_cannot_be_answered(mailbox: Mailbox) -> None:
    question = mailbox.ask("Keep it?")
    mailbox.close(question, "rejected", "not your business")
    assert mailbox.poll(question) == Silence(
        id=question, reason="rejected", detail="not your business"
    )
    with pytest.raises(QuestionRejectedError):
        mailbox.answer(question, "yes")


def test_an_empty_answer_is_refused(mailbox: Mailbox) -> None:
    question = mailbox.ask("Keep it?")
    with pytest.raises(InvalidTextError, match=r"^invalid answer: it is empty$"):
        mailbox.answer(question, "")
    assert mailbox.poll(question) is None


def test_eight_answers_at_once_have_one_winner(mailbox: Mailbox) -> None:
    question = mailbox.ask("Race?")
    barrier = threading.Barrier(8, timeout=30)

    def answer(number: int) -> bool:
        barrier.wait()
        try:
            Mailbox(mailbox.directory).answer(question, f"answer {number}")
        except AlreadyAnsweredError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(answer, range(8)))
    assert won.count(True) == 1
    assert mailbox.poll(question) == Answer(id=question, text=f"answer {won.index(True)}")
    assert [path.name for path in mailbox.directory.answers.iterdir()] == [f"{question}.json"]


def test_an_answer_and_the_end_of_the_wait_have_one_winner(mailbox: Mailbox) -> None:
    for _ in range(20):
        question = mailbox.ask("Race?")
        barrier = threading.Barrier(2, timeout=30)

        def answer(question: str = question, barrier: threading.Barrier = barrier) -> bool:
            barrier.wait()
            try:
                Mailbox(mailbox.directory).answer(question, "yes")
            except QuestionExpiredError:
                return False
            return True

        with ThreadPoolExecutor(1) as pool:
            answered = pool.submit(answer)
            barrier.wait()
            reply = mailbox.expire(question)
            assert isinstance(reply, Answer) == answered.result(30)


def test_file_systems_without_hard_links_have_one_winner_too(
    mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    question = mailbox.ask("Keep it?")
    mailbox.answer(question, "yes")
    with pytest.raises(AlreadyAnsweredError):
        mailbox.answer(question, "no")
    assert mailbox.poll(question) == Answer(id=question, text="yes")
    assert len(list(mailbox.directory.answers.iterdir())) == 1


def test_an_answer_may_leave_its_id_out_but_not_name_another(mailbox: Mailbox) -> None:
    first, second = mailbox.ask("One?"), mailbox.ask("Two?")
    mailbox.directory.answers.mkdir()
    (mailbox.directory.answers / f"{first}.json").write_text('{"answer": "yes"}')
    (mailbox.directory.answers / f"{second}.json").write_text(
        json.dumps({"id": first, "answer": "yes"})
    )
    assert mailbox.poll(first) == Answer(id=first, text="yes")
    assert mailbox.poll(second) is None


def test_an_answer_that_stays_unreadable_ends_the_wait_and_says_why(
    mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "GRACE", 0.02)
    question = mailbox.ask("Keep it?")
    (mailbox.directory.answers / f"{question}.json").mkdir(parents=True)
    assert mailbox.wait(question, timeout=30) == Silence(
        id=question,
        reason="unreadable",
        detail=f"{question}.json is a folder, not a regular file, and was not opened",
    )


def test_a_half_written_answer_is_waited_for(mailbox: Mailbox) -> None:
    question = mailbox.ask("Keep it?")
    path = mailbox.directory.answers / f"{question}.json"
    path.parent.mkdir()
    whole = json.dumps({"id": question, "answer": "yes"})
    for part in ("", whole[:10]):
        path.write_text(part)
        assert mailbox.poll(question) is None
    later(0.02, lambda: path.write_text(whole))
    assert mailbox.wait(question, timeout=30) == Answer(id=question, text="yes")


# -- links


@pytest.mark.parametrize("name", ["questions", "answers"])
def test_a_folder_that_is_a_link_is_not_entered(tmp_path: Path, name: str) -> None:
    task, outside = tmp_path / "task", tmp_path / "outside"
    task.mkdir()
    outside.mkdir()
    mailbox = Mailbox(task)
    question = mailbox.ask("Keep it?") if name == "answers" else "q1"
    (task / name).symlink_to(outside)
    with pytest.raises(UnsafeMailboxError) as caught:
        mailbox.answer(question, "yes") if name == "answers" else mailbox.ask("Keep it?")
    assert str(caught.value) == (
        f"{task / name}: is a link; expected a folder inside the task directory, "
        "and links out of it are never followed"
    )
    assert not any(outside.iterdir())


def test_an_answer_never_writes_through_a_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    mailbox = Mailbox(tmp_path)
    question = mailbox.ask("Keep it?")
    mailbox.directory.answers.mkdir()
    (mailbox.directory.answers / f"{question}.json").symlink_to(victim)
    with pytest.raises(AlreadyAnsweredError):
        mailbox.answer(question, "yes")
    assert victim.read_text() == "mine"


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "questions").write_text("")
    with pytest.raises(UnsafeMailboxError, match="is not a folder"):
        Mailbox(tmp_path).ask("Keep it?")


# -- reports


def report(**fields: Any) -> Report:
    return Report.from_value(
        {"protocol": "caesar.report/v1", "status": "success", "summary": "Done.", **fields}
    )


def test_a_submission_is_kept_beside_the_report_and_the_last_one_counts(tmp_path: Path) -> None:
    write_task(tmp_path)
    mailbox = Mailbox(tmp_path)
    mailbox.submit(report(status="partial", next_steps=["The rest."]))
    mailbox.submit(report(task_id="t_1", summary="\ud83d"))
    for name in ("submission.json", "report.json"):
        data = (tmp_path / name).read_bytes()
        assert Report.parse(data) == report(task_id="t_1", summary="\ud83d")


def test_a_report_of_another_task_is_refused(tmp_path: Path) -> None:
    write_task(tmp_path)
    with pytest.raises(ForeignReportError) as caught:
        Mailbox(tmp_path).submit(report(task_id="t_2"))
    assert str(caught.value) == (
        "invalid report at task_id: found 't_2', but this task is 't_1'; "
        "hand in the report of this task, or leave task_id out"
    )
    assert not (tmp_path / "submission.json").exists()


def test_a_report_that_nobody_could_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep: Any = []
    for _ in range(200):
        deep = [deep]
    with pytest.raises(DocumentError) as caught:
        Mailbox(tmp_path).submit(report(x_deep=deep))
    assert caught.value.code == "too-deep"
    monkeypatch.setattr(mailbox_module, "MAX_DOCUMENT_BYTES", 1000)
    with pytest.raises(DocumentError) as caught:
        Mailbox(tmp_path).submit(report(details="x" * 1000))
    assert caught.value.code == "too-large"
    assert not (tmp_path / "submission.json").exists()


def test_a_submission_replaces_links_instead_of_following_them(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "submission.json").symlink_to(victim)
    (tmp_path / "report.json").symlink_to(victim)
    Mailbox(tmp_path).submit(report())
    assert victim.read_text() == "mine"
    assert not (tmp_path / "report.json").is_symlink()


@pytest.mark.parametrize(
    "error",
    [
        AlreadyAnsweredError(question_id="q1"),
        UnknownQuestionError(question_id="q1", problem="it is empty"),
        InvalidQuestionIdError(question_id="a/b"),
        ForeignReportError(found="t_2", expected="t_1"),
    ],
)
def test_refusals_survive_pickling(error: MailboxError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)


def test_an_answer_that_is_older_than_its_question_is_not_its_answer(tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    old = tmp_path / "answers" / "q1.json"
    old.write_text('{"id": "q1", "answer": "to another"}')
    os.utime(old, (1, 1))
    (tmp_path / "questions").mkdir()
    (tmp_path / "questions" / "q1.json").write_text('{"id": "q1", "question": "Which?"}')
    mailbox = Mailbox(tmp_path)
    assert mailbox.poll("q1") is None
    assert [question.state for question in mailbox.questions(final=True)] == ["pending"]
    assert [found.code for found in mailbox.diagnostics] == ["answer-stale"]
    mailbox.answer("q1", "to this one")
    assert [question.answer for question in Mailbox(tmp_path).questions()] == ["to this one"]
    os.utime(old, (1, 1))  # a copy keeps no times: the documents tell theirs, or nobody does
    assert Mailbox(tmp_path).poll("q1") is None


def test_a_question_that_expires_is_an_event_once(tmp_path: Path) -> None:
    mailbox = Mailbox(tmp_path)
    ident = mailbox.ask("Which?")
    for _ in range(2):
        mailbox.expire(ident)
    lines = (tmp_path / "events.jsonl").read_text().splitlines()
    assert [json.loads(line)["message"] for line in lines] == [
        f"question {ident} has expired: nobody answered in time"
    ]


def test_a_blank_question_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidTextError, match="blank"):
        Mailbox(tmp_path).ask(" \t\n")
