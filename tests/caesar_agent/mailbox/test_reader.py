from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caesar_agent.mailbox import files, reader
from caesar_agent.mailbox.mailbox import Mailbox
from caesar_agent.mailbox.reader import AskedQuestion
from caesar_agent.mailbox.values import is_valid_id
from tests.unprivileged import stopped_by_modes


def question_text(question_id: str, text: str = "Keep it?") -> str:
    return json.dumps({"id": question_id, "question": text, "asked_at": "2026-03-01T10:00:00.000Z"})


def put(mailbox: Mailbox, name: str, data: str | bytes, kind: str = "questions") -> Path:
    folder = mailbox.directory.path / kind
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.fixture
def mailbox(tmp_path: Path) -> Mailbox:
    return Mailbox(tmp_path)


def test_a_task_without_questions_has_none(mailbox: Mailbox) -> None:
    assert mailbox.questions(final=True) == ()
    assert mailbox.diagnostics == ()


def test_a_file_that_a_script_wrote_is_a_question(mailbox: Mailbox) -> None:
    put(mailbox, "q1.json", question_text("q1"))
    assert mailbox.questions() == (
        AskedQuestion(id="q1", question="Keep it?", asked_at="2026-03-01T10:00:00.000Z"),
    )
    mailbox.answer("q1", "yes")
    [answered] = mailbox.questions()
    assert (answered.state, answered.answer) == ("answered", "yes")


def test_questions_come_in_the_order_in_which_they_were_written(mailbox: Mailbox) -> None:
    for number, name in enumerate(["c", "a", "b"]):
        path = put(mailbox, f"{name}.json", question_text(name))
        os.utime(path, ns=(number, number))
    assert [question.id for question in mailbox.questions()] == ["c", "a", "b"]
    put(mailbox, "0.json", question_text("0"))
    assert [question.id for question in mailbox.questions()] == ["c", "a", "b", "0"]


def test_a_question_that_is_being_written_is_delivered_once_it_is_complete(
    mailbox: Mailbox,
) -> None:
    whole = question_text("q1")
    for part in ("", whole[:20]):
        put(mailbox, "q1.json", part)
        assert mailbox.questions() == ()
        assert mailbox.diagnostics == ()
    put(mailbox, "q1.json", whole)
    assert [question.id for question in mailbox.questions()] == ["q1"]
    assert mailbox.diagnostics == ()


def test_what_stays_broken_is_named_and_still_delivered_when_it_is_mended(
    mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(reader, "monotonic", lambda: now[0])
    put(mailbox, "q1.json", question_text("q1")[:20])
    for now[0] in (0.0, reader.GRACE - 0.1):
        assert mailbox.questions() == ()
        assert mailbox.diagnostics == ()
    now[0] = reader.GRACE
    assert mailbox.questions() == ()
    [found] = mailbox.diagnostics
    assert (found.code, found.path) == ("question-invalid", "questions/q1.json")
    put(mailbox, "q1.json", question_text("q1"))
    assert [question.id for question in mailbox.questions()] == ["q1"]
    assert mailbox.diagnostics == ()


def test_a_broken_file_is_read_again_only_when_it_has_changed(
    mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []
    read = files.read

    def counted(folder: int, name: str) -> bytes:
        reads.append(name)
        return read(folder, name)

    monkeypatch.setattr(files, "read", counted)
    put(mailbox, "q1.json", "{")
    for _ in range(5):
        mailbox.questions()
    assert reads == ["q1.json"]
    put(mailbox, "q1.json", question_text("q1"))
    for _ in range(5):
        assert len(mailbox.questions()) == 1
    assert reads == ["q1.json"] * 2


def test_a_writer_that_goes_on_gets_more_time(
    mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(reader, "monotonic", lambda: now[0])
    whole = question_text("q1")
    for length in range(1, 20):
        put(mailbox, "q1.json", whole[:length])
        mailbox.questions()
        now[0] += reader.GRACE - 0.1
    assert mailbox.diagnostics == ()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("{}", "questions/q1.json is not a question: invalid question at id: "),
        ('{"id": "q1"}', "questions/q1.json is not a question: invalid question at question: "),
        (
            '{"id": "q2", "question": "Keep it?"}',
            (
                "questions/q1.json is not a question: invalid question at id: "
                "found 'q2', but its file is named 'q1'"
            ),
        ),
        (
            '{"id": "q1", "question": ""}',
            (
                "questions/q1.json is not a question: invalid question at question: "
                'expected some text, found ""'
            ),
        ),
        (
            '{"id": "q1", "question": "x", "options": [1]}',
            "questions/q1.json is not a question: invalid question at options[0]: ",
        ),
        (b"\xff\xfe\xff", "questions/q1.json is not a question: invalid question: "),
    ],
)
def test_a_file_that_is_no_question_is_named_with_its_fault(
    mailbox: Mailbox, data: str | bytes, message: str
) -> None:
    put(mailbox, "q1.json", data)
    assert mailbox.questions(final=True) == ()
    [found] = mailbox.diagnostics
    assert found.code == "question-invalid"
    assert found.message.startswith(message)


def test_a_broken_answer_is_named_and_leaves_the_question_open(mailbox: Mailbox) -> None:
    put(mailbox, "q1.json", question_text("q1"))
    put(mailbox, "q1.json", '{"id": "q1", "answer": ""}', "answers")
    [question] = mailbox.questions(final=True)
    assert question.state == "pending"
    [found] = mailbox.diagnostics
    assert (found.code, found.path) == ("answer-invalid", "answers/q1.json")


def test_files_of_others_are_not_questions(mailbox: Mailbox) -> None:
    for name in (".q1.json.x.tmp", "q1.json.tmp~", "README", ".hidden.json"):
        put(mailbox, name, question_text("q1"))
    assert mailbox.questions(final=True) == ()
    assert mailbox.diagnostics == ()


def test_a_name_that_is_no_id_is_named_without_its_control_characters(mailbox: Mailbox) -> None:
    put(mailbox, "a\x1b[2J.json", question_text("a"))
    assert mailbox.questions() == ()
    [found] = mailbox.diagnostics
    assert found.code == "question-invalid"
    assert "\x1b" not in found.message + str(found.path)


def test_what_is_no_regular_file_is_never_opened(tmp_path: Path, mailbox: Mailbox) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text(question_text("q1", "secret"))
    folder = tmp_path / "questions"
    folder.mkdir()
    (folder / "q1.json").symlink_to(secret)
    os.mkfifo(folder / "q2.json")
    (folder / "q3.json").mkdir()
    with (folder / "q4.json").open("wb") as file:
        file.truncate(3 << 20)
    assert mailbox.questions(final=True) == ()
    assert sorted(found.message.split(": ", 1)[1] for found in mailbox.diagnostics) == [
        "q1.json is a link, not a regular file, and was not opened",
        "q2.json is a FIFO, not a regular file, and was not opened",
        "q3.json is a folder, not a regular file, and was not opened",
        "q4.json is larger than 1048576 bytes and was not read",
    ]


def test_a_folder_that_is_a_link_is_a_diagnostic(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "q1.json").write_text(question_text("q1"))
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "questions").symlink_to(tmp_path / "outside")
    mailbox = Mailbox(tmp_path / "task")
    assert mailbox.questions() == ()
    assert [found.code for found in mailbox.diagnostics] == ["mailbox-unsafe"]


def test_a_file_without_permission_is_named_as_such(mailbox: Mailbox) -> None:
    put(mailbox, "q1.json", question_text("q1")).chmod(0)
    assert stopped_by_modes(lambda: mailbox.questions(final=True)) == ()
    assert "Permission denied" in mailbox.diagnostics[0].message


def test_a_flood_is_looked_at_in_part_and_named(
    mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_FILES", 5)
    for number in range(7):
        put(mailbox, f"q{number}.json", question_text(f"q{number}"))
    assert len(mailbox.questions()) == 5
    assert [found.code for found in mailbox.diagnostics] == ["mailbox-flooded"]
    monkeypatch.undo()
    monkeypatch.setattr(reader, "MAX_QUESTIONS", 6)
    assert len(mailbox.questions()) == 6
    assert [found.code for found in mailbox.diagnostics] == ["mailbox-flooded"]


def test_a_reader_that_was_killed_finds_every_question_again(tmp_path: Path) -> None:
    first = Mailbox(tmp_path)
    question = first.ask("Proceed?")
    assert [found.id for found in first.questions()] == [question]
    assert [found.id for found in Mailbox(tmp_path).questions()] == [question]


def test_a_question_that_was_read_once_stays_what_it_was(mailbox: Mailbox) -> None:
    path = put(mailbox, "q1.json", question_text("q1", "Before?"))
    mailbox.questions()
    path.write_text(question_text("q1", "After?"))
    assert [question.question for question in mailbox.questions()] == ["Before?"]
    path.unlink()
    assert [question.question for question in mailbox.questions()] == ["Before?"]


@pytest.mark.parametrize("state", ["expired", "withdrawn", "rejected"])
def test_a_note_tells_what_became_of_a_question(mailbox: Mailbox, state: str) -> None:
    put(mailbox, "q1.json", question_text("q1"))
    put(mailbox, "q1.json", json.dumps({"id": "q1", "state": state}), "answers")
    [question] = mailbox.questions()
    assert (question.state, question.answer) == (state, None)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=st.binary(max_size=200), answer=st.binary(max_size=200))
def test_no_bytes_stop_the_reader(tmp_path: Path, question: bytes, answer: bytes) -> None:
    mailbox = Mailbox(tmp_path)
    put(mailbox, "q1.json", question)
    put(mailbox, "q1.json", answer, "answers")
    put(mailbox, "good.json", question_text("good"))
    put(mailbox, "good.json", answer, "answers")
    assert "good" in [found.id for found in mailbox.questions(final=True)]
    for found in mailbox.diagnostics:
        assert found.message.isprintable()


@given(st.text(max_size=140))
def test_an_id_never_leaves_its_folder(question_id: str) -> None:
    if is_valid_id(question_id):
        path = Path("/task/questions") / f"{question_id}.json"
        assert Path(os.path.normpath(path)).parent == Path("/task/questions")
        assert question_id.isascii()
        assert len(path.name) <= 255
