"""Findings as failures: the marker's ``strict`` and ``allow``, ``caesar_strict``, ``caesar_allow``."""

from __future__ import annotations

import pytest

from tests.pytest_caesar.plugin.running import Runs

SOURCE = """
import pytest

{mark}
def test_it(caesar_repo, caesar_orchestrator, caesar_fake_agent):
    fake = caesar_fake_agent
    caesar_repo.commit({{"a.txt": "a"}})
    agent = fake(fake.write("b.txt", "b"), fake.report(changes=[("c.txt", "created")]))
    caesar_orchestrator.delegate("Add b", agent=agent)
"""


@pytest.mark.parametrize(
    ("mark", "ini", "fails"),
    [
        ("", "", False),
        ("@pytest.mark.caesar(strict=True)", "", True),
        ("", "caesar_strict = true", True),
        ("@pytest.mark.caesar(strict=False)", "caesar_strict = true", False),
        (
            "@pytest.mark.caesar(strict=True, allow=['undeclared-change', 'phantom-change'])",
            "",
            False,
        ),
        ("@pytest.mark.caesar(strict=True, allow='undeclared-change')", "", True),
        ("", "caesar_strict = true\ncaesar_allow =\n  undeclared-change\n  phantom-change", False),
    ],
)
def test_findings_fail_a_test_that_is_strict(
    pytester: pytest.Pytester, run: Runs, mark: str, ini: str, *, fails: bool
) -> None:
    pytester.makeini(f"[pytest]\n{ini}\n")
    pytester.makepyfile(SOURCE.format(mark=mark))
    result = run()
    result.assert_outcomes(failed=1) if fails else result.assert_outcomes(passed=1)
    if fails:
        result.stdout.fnmatch_lines(["phantom-change in t_0001: *c.txt*"])


def test_an_unknown_code_is_named(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(SOURCE.format(mark="@pytest.mark.caesar(allow=['undeclared'])"))
    run().stdout.fnmatch_lines(["*undeclared in caesar_allow or allow= is no code of a finding*"])


def test_an_unknown_argument_of_the_marker_is_named(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(SOURCE.format(mark="@pytest.mark.caesar(stict=True)"))
    run().stdout.fnmatch_lines(
        ["*the marker caesar takes strict=, allow= and record=, found stict"]
    )


ASKING = """
import pytest

@pytest.mark.caesar(strict=True)
def test_it(caesar_answers, caesar_orchestrator, caesar_fake_agent):
    fake = caesar_fake_agent
    {script}
    run = caesar_orchestrator.delegate("Ask", agent=fake({ask}, fake.report()))
    assert ("unanswered-question" in run.codes) is {found}
"""


@pytest.mark.parametrize(
    ("script", "ask", "found"),
    [
        ("caesar_answers.on('Which?', 'a')", "fake.ask('Which?')", False),
        ("caesar_answers.silence()", "fake.ask('Which?')", False),
        ("caesar_answers.reject(reason='no')", "fake.ask('Which?')", False),
        ("caesar_answers.on('Which?', 'a', after=60)", "fake.ask('Which?', timeout=0.1)", True),
    ],
)
def test_a_question_without_an_answer_counts_unless_silence_is_meant(
    pytester: pytest.Pytester, run: Runs, script: str, ask: str, *, found: bool
) -> None:
    pytester.makepyfile(ASKING.format(script=script, ask=ask, found=found))
    result = run()
    if not found:
        result.assert_outcomes(passed=1)
        return
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["unanswered-question in t_0001: the agent asked 'Which?' and *"])
