from __future__ import annotations

import json
from pathlib import Path

import pytest

from caesar_agent.cli import main
from caesar_agent.mailbox.mailbox import Mailbox


def test_questions_are_listed_with_their_options_and_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mailbox = Mailbox(tmp_path)
    first = mailbox.ask("Keep it?", ["yes", "no"])
    second = mailbox.ask("Which\x1b[2J port?")
    mailbox.answer(first, "no\nway")
    assert main(["questions", str(tmp_path)]) == 0
    assert capsys.readouterr() == (
        (
            f"{first}  answered\n  Keep it?\n  - yes\n  - no\n  = no\\nway\n"
            f"{second}  pending\n  Which\\x1b[2J port?\n"
        ),
        "",
    )
    assert main(["questions", str(tmp_path), "--pending"]) == 0
    assert capsys.readouterr().out == f"{second}  pending\n  Which\\x1b[2J port?\n"


def test_a_folder_without_a_task_is_an_error_that_says_what_was_expected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["questions", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"caesar-agent questions: there is no task.json in {tmp_path}; "
        "expected the folder of one task, such as .caesar/tasks/t_0001\n"
    )
    (tmp_path / "task.json").write_text("{}")
    assert main(["questions", str(tmp_path)]) == 0
    assert capsys.readouterr() == ("", "")


def test_json_holds_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mailbox = Mailbox(tmp_path)
    question = mailbox.ask("Keep it?", ["yes", "no"])
    (tmp_path / "questions" / "broken.json").write_text("{")
    assert main(["questions", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    asked_at = found["questions"][0].pop("asked_at")
    assert asked_at.endswith("Z")
    assert found["questions"] == [
        {
            "id": question,
            "question": "Keep it?",
            "options": ["yes", "no"],
            "state": "pending",
            "answer": None,
        }
    ]
    assert [one["code"] for one in found["diagnostics"]] == ["question-invalid"]


def test_a_file_that_is_no_question_is_named_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "questions").mkdir()
    (tmp_path / "questions" / "q1.json").write_text("{}")
    assert main(["questions", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("question-invalid: questions/q1.json is not a question: ")


def test_a_task_that_asked_nothing_lists_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "task.json").write_text("{}")
    assert main(["questions", str(tmp_path)]) == 0
    assert capsys.readouterr() == ("", "")


def test_a_folder_that_is_not_there_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["questions", str(tmp_path / "gone")]) == 2
    assert capsys.readouterr().err == (
        f"caesar-agent questions: {tmp_path / 'gone'} is not a folder; "
        "expected the directory of a task ($CAESAR_TASK_DIR)\n"
    )


def test_a_mailbox_that_is_a_link_is_not_entered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "questions").symlink_to(tmp_path)
    assert main(["questions", str(tmp_path / "task")]) == 2
    assert "mailbox-unsafe" in capsys.readouterr().err
