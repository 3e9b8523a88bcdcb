"""The fixture ``caesar_answers``."""

from __future__ import annotations

import pytest

from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.fake_agent.agent import FakeAgents
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from tests.pytest_caesar.plugin.running import Runs


def test_a_question_is_answered_from_the_script(
    caesar_orchestrator: Orchestrator,
    caesar_answers: ScriptedAnswers,
    caesar_fake_agent: FakeAgents,
) -> None:
    fake = caesar_fake_agent
    caesar_answers.on("Keep it?", "no")
    run = caesar_orchestrator.delegate(
        "Work", agent=fake(fake.ask("Keep it?", ["yes", "no"]), fake.report())
    )
    assert run.raw_log == b"q1: no\n"
    assert run.succeeded


BODY = """
def test_it(caesar_orchestrator, caesar_answers, caesar_fake_agent):
    fake = caesar_fake_agent
    caesar_answers.on("Keep it?", "no")
    caesar_orchestrator.delegate("Work", agent=fake({steps}))
    {last}
"""


def test_a_script_that_was_never_used_fails_the_test(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(BODY.format(steps="fake.report()", last=""))
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["never asked: caesar_answers.on('Keep it?') was not used *"])


def test_an_unscripted_question_fails_the_test_by_name(
    pytester: pytest.Pytester, run: Runs
) -> None:
    steps = "fake.ask('Keep it?'), fake.ask('Which port?'), fake.report()"
    pytester.makepyfile(BODY.format(steps=steps, last=""))
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["unscripted question: the agent asked 'Which port?'*"])


def test_a_test_that_fails_by_itself_has_it_in_a_section(
    pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makepyfile(BODY.format(steps="fake.report()", last="assert 1 == 2"))
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*assert 1 == 2",
            "*- caesar: what else was found -*",
            "never asked: caesar_answers.on('Keep it?') was not used *",
            "*- caesar run t_0001: success (source: file) -*",
        ]
    )


def test_an_unscripted_question_is_told_before_what_came_of_it(
    pytester: pytest.Pytester, run: Runs
) -> None:
    body = BODY.format(steps="fake.ask('Which port?'), fake.hang()", last="assert run.succeeded")
    body = body.replace("caesar_orchestrator.delegate", "run = caesar_orchestrator.delegate")
    pytester.makepyfile(body)
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*failed: cancelled*",
            "*- caesar: what else was found -*",
            "unscripted question: the agent asked 'Which port?'*",
            "*- caesar run t_0001: failed (source: synthesized) -*",
        ]
    )
