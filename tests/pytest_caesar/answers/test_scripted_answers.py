from __future__ import annotations

import re
from typing import Any

import pytest

from caesar_agent.mailbox.reader import AskedQuestion
from pytest_caesar.answers.scripted_answers import Script, ScriptedAnswers, ScriptError


def asked(text: str, *options: str) -> AskedQuestion:
    return AskedQuestion(id="q1", question=text, options=options)


@pytest.mark.parametrize(
    ("match", "text", "picked"),
    [
        ("Keep", "Keep it?", True),
        ("keep", "Keep it?", False),
        ("K.ep", "Keep it?", False),
        (re.compile("k.ep", re.IGNORECASE), "Shall I Keep it?", True),
        (re.compile("^it"), "Keep it?", False),
        (lambda question: "yes" in question.options, "Keep it?", True),
        (lambda question: question.id == "q2", "Keep it?", False),
        (None, "Anything?", True),
    ],
)
def test_a_script_picks_by_text_by_pattern_or_by_function(
    match: Any,
    text: str,
    picked: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    assert Script(kind="answer", match=match).picks(asked(text, "yes", "no")) is picked


def test_the_first_script_that_picks_a_question_decides() -> None:
    answers = ScriptedAnswers().on("Keep", "one").on("Keep it", "two")
    script = answers.choose(asked("Keep it?"))
    assert script is not None
    assert script.text(asked("Keep it?")) == "one"
    assert [str(unused) for unused in answers.unused] == ["on('Keep it')"]


def test_a_script_for_some_times_leaves_the_rest_to_the_next() -> None:
    answers = ScriptedAnswers().on("Port", "1", times=2).on("Port", "2")
    chosen = [answers.choose(asked("Port?")) for _ in range(4)]
    assert [script and script.say for script in chosen] == ["1", "1", "2", "2"]
    assert answers.problems() == ()


def test_an_answer_may_be_made_from_the_question() -> None:
    answers = ScriptedAnswers().on("Which", lambda question: question.options[-1])
    question = asked("Which?", "a", "b")
    script = answers.choose(question)
    assert script is not None
    assert script.text(question) == "b"


def test_a_question_without_a_script_fails_by_name() -> None:
    answers = ScriptedAnswers().on("Keep", "no").silence(re.compile("^quiet")).reject()
    answers.reject()  # picks everything: nothing is unscripted
    assert answers.choose(asked("Other?")) is not None
    answers = ScriptedAnswers().on("Keep", "no").silence(re.compile("^quiet"))
    assert answers.choose(asked("Which\nport?", "80", "8\x1b080")) is None
    assert answers.problems(allow_unused=True) == (
        (
            "unscripted question: the agent asked 'Which port?' (options: '80', '8\\\\x1b080'), and "
            "no script picks it (scripts: on('Keep'), silence(/^quiet/)); "
            "add caesar_answers.on('Which port?', …)"
        ),
    )


def test_a_script_that_was_never_used_fails_unless_it_is_optional() -> None:
    answers = ScriptedAnswers().on("Keep", "no").on("Port", "80", optional=True).silence("Why")
    assert answers.problems() == (
        (
            "never asked: caesar_answers.on('Keep') was not used by any question "
            "(allow that with optional=True)"
        ),
        (
            "never asked: caesar_answers.silence('Why') was not used by any question "
            "(allow that with optional=True)"
        ),
    )
    assert answers.problems(allow_unused=True) == ()


def test_a_flood_of_unscripted_questions_is_told_in_a_few_lines() -> None:
    answers = ScriptedAnswers()
    for number in range(300):
        answers.choose(asked(f"Number {number}?"))
    assert [problem[:40] for problem in answers.problems()] == [
        *(f"unscripted question: the agent asked 'Number {number}?'"[:40] for number in range(5)),
        "… and 295 more unscripted questions"[:40],
    ]
    assert len(answers.unscripted) == 300


def test_a_script_that_fails_again_and_again_is_told_in_a_few_lines() -> None:
    answers = ScriptedAnswers()
    for number in range(7):
        answers.fault(f"number {number}")
    assert answers.problems() == (
        *(f"the script of answers failed: number {number}" for number in range(5)),
        "… and 2 more failures of the script",
    )


def test_nothing_is_unscripted_where_somebody_else_answers() -> None:
    answers = ScriptedAnswers(unscripted="wait")
    assert answers.choose(asked("Keep it?")) is None
    assert answers.unscripted == ()
    assert answers.problems() == ()


@pytest.mark.parametrize(
    ("arguments", "options", "problem"),
    [
        (("Keep", ""), {}, "expected a text as the answer, found ''"),
        (("Keep", None), {}, "expected a text as the answer, found None"),
        (("", "no"), {}, "expected a text, a compiled pattern or a function, found ''"),
        ((7, "no"), {}, "expected a text, a compiled pattern or a function, found 7"),
        (("Keep", "no"), {"after": -1}, "expected after= in seconds from 0 on, found -1"),
        (
            ("Keep", "no"),
            {"after": float("nan")},
            "expected after= in seconds from 0 on, found nan",
        ),
        (("Keep", "no"), {"after": "3s"}, "expected after= in seconds from 0 on, found '3s'"),
        (("Keep", "no"), {"times": 0}, "expected times= from 1 on, found 0"),
        (("Keep", "no"), {"times": "2"}, "expected times= from 1 on, found '2'"),
        (
            (re.compile(b"Keep"), "no"),
            {},
            "expected a text, a compiled pattern or a function, found re.compile(b'Keep')",
        ),
    ],
)
def test_a_script_that_cannot_be_meant_is_refused(
    arguments: tuple[Any, Any], options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ScriptError) as caught:
        ScriptedAnswers().on(*arguments, **options)
    assert str(caught.value) == f"invalid script of answers: {problem}"
