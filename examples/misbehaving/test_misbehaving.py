"""What the harness says about each: pytest --caesar-agent=./agent.py

Findings are diagnostics with a stable code in ``run.diagnostics``; ``run.codes`` is the set
of codes. A read-only task that was written in fails its test unless the test allows it.
"""

from dataclasses import replace

import pytest


@pytest.fixture
def delegate(caesar_orchestrator, caesar_repo):
    caesar_repo.commit({"parser.py": "def parse(text): return text[0]\n"})
    return caesar_orchestrator.delegate


def paths(entries):
    return [entry.path for entry in entries]


def test_a_lie_about_changes_is_laid_beside_what_git_shows(delegate):
    run = delegate("lie")

    assert run.succeeded  # its own word stands, and this is what is said beside it:
    assert paths(run.reconciliation.phantom) == ["parser.py"]
    assert paths(run.reconciliation.undeclared) == ["secret.txt"]
    assert {"phantom-change", "undeclared-change"} <= run.codes
    assert [change.path for change in run.report.changes] == ["secret.txt"]


def test_a_new_file_that_is_called_modified_is_a_wrong_action(delegate):
    run = delegate("mislabel")

    assert paths(run.reconciliation.wrong_action) == ["new.py"]
    assert run.report.changes[0].action == "created"


def test_a_process_that_was_left_behind_is_named_and_ended(delegate):
    run = delegate("leak")

    assert run.succeeded
    assert [leaked.name for leaked in run.outcome.leaked] == ["sleep 300"]
    assert "process-leaked" in run.codes


@pytest.mark.caesar(allow="read-only-violation")
def test_writing_in_a_read_only_task_would_fail_this_test_if_it_did_not_allow_it(delegate):
    run = delegate("write in read only", mode="read-only")

    assert "read-only-violation" in run.codes


@pytest.mark.xfail(strict=True, reason="a read-only task that wrote fails its test by itself")
def test_a_read_only_task_that_wrote_fails_its_test(delegate):
    delegate("write in read only", mode="read-only")


@pytest.mark.parametrize(
    ("objective", "code", "words"),
    [
        ("write an invalid report", "report-file-invalid", "status"),
        ("write half a report", "report-file-invalid", "ends before it is complete"),
        ("speak of another task", "report-of-another-task", "t_from_yesterday"),
        ("speak another version", "report-version", "caesar.report/v2"),
    ],
)
def test_a_report_that_is_none_is_never_a_success_and_the_reason_is_told(
    delegate, objective, code, words
):
    run = delegate(objective)

    assert not run.succeeded
    assert run.source == "synthesized"
    (found,) = [finding for finding in run.diagnostics if finding.code == code]
    assert words in found.message


def test_an_agent_that_hangs_is_ended_at_its_deadline(delegate):
    run = delegate("hang", timeout=1)

    assert run.outcome.timed_out
    assert run.outcome.signal == "SIGTERM"
    assert run.status == "failed"
    assert "deadline-exceeded" in run.codes


def test_an_agent_that_ignores_signals_is_killed_with_its_children(delegate):
    run = delegate("ignore signals", timeout=1)

    assert run.outcome.timed_out
    assert run.outcome.signal == "SIGKILL"
    assert run.status == "failed"


def test_an_agent_that_does_not_end_after_its_report_is_ended_and_the_report_stands(delegate):
    run = delegate("report and hang", timeout=1)

    assert run.succeeded
    assert run.outcome.killed_after_report
    assert "killed-after-report" in run.codes


def test_the_example_in_the_prompt_is_not_an_answer(delegate, caesar_agent_under_test):
    # An agent is a value: this one is given its prompt as an argument, as a CLI would be.
    prompted = replace(caesar_agent_under_test, argv=(*caesar_agent_under_test.argv, "{{prompt}}"))
    run = delegate("echo", agent=prompted)

    assert run.brief.encode() in run.raw_log
    assert run.source == "synthesized"
    assert run.status == "failed"


def test_an_agent_that_says_and_does_nothing_has_not_succeeded(delegate):
    run = delegate("say nothing")

    assert run.outcome.status == "succeeded"
    assert run.status == "failed"


def test_being_blocked_without_a_question_is_a_contradiction(delegate):
    assert "blocked-without-question" in delegate("block without a question").codes


def test_success_with_an_exit_code_that_says_otherwise_is_no_success(delegate):
    run = delegate("fail with success")

    assert run.status == "success"
    assert not run.succeeded
    assert run.outcome.exit_code == 3
    assert "success-but-exit-code" in run.codes


def test_lines_that_are_no_events_are_told_and_skipped(delegate):
    run = delegate("garble events")

    assert run.succeeded
    assert "event-line-invalid" in run.codes
    assert run.events.of_type("started")


def test_nothing_is_hidden_by_means_of_git(delegate):
    run = delegate("hide in git")

    assert paths(run.reconciliation.undeclared) == ["ignored.txt", "parser.py"]


def test_an_objective_that_it_does_not_know_is_refused_properly(delegate):
    run = delegate("behave")

    assert run.status == "failed"
    assert run.outcome.exit_code == 1
    assert run.summary.startswith("Unknown objective; known are: lie, ")


def test_most_of_it_needs_no_agent_of_ones_own(delegate, caesar_fake_agent):
    fake = caesar_fake_agent
    liar = fake(
        fake.write("secret.txt", "nobody will notice\n"),
        fake.report("success", "All done.", changes=[("parser.py", "modified")]),
    )

    run = delegate("lie", agent=liar)

    assert paths(run.reconciliation.phantom) == ["parser.py"]
    assert paths(run.reconciliation.undeclared) == ["secret.txt"]
