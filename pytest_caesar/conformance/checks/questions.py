# ruff: noqa: D401 - the registry says what a check asks for, its docstring why
"""Checks on asking over the return channel."""

from __future__ import annotations

import importlib.util

from caesar_agent.errors import CaesarError
from caesar_agent.terminal import one_line
from pytest_caesar.conformance.checks.check import check
from pytest_caesar.conformance.judgement import PASSED, Finding, failed, not_exercised
from pytest_caesar.conformance.scenario_cache import Bench
from pytest_caesar.conformance.scenario_run import Trial


class NoServerError(CaesarError):
    """The return channel could not be offered as it should be, so no agent is to blame."""

    def message(self) -> str:
        """Say what to install."""
        return (
            "the agent asked nothing, and the MCP server of the return channel cannot start here: "
            "pip install 'pytest-caesar[mcp]'"
        )


SPOILT = {"question-invalid", "mailbox-unsafe", "mailbox-flooded"}

NOT_ASKED = "it asked nothing: see QUESTIONS-001"


@check("QUESTIONS-001", "asks")
def it_asks(_bench: Bench, trial: Trial) -> Finding:
    """With the tool ask_orchestrator, the SDK, or a file."""
    if trial.run.questions:
        return PASSED
    if trial.run.codes & SPOILT:
        return not_exercised("what it asked is no question: see QUESTIONS-002")
    if importlib.util.find_spec("mcp") is None:
        raise NoServerError
    return failed(
        "the objective of [asks] led to no question: call ask_orchestrator of the MCP server in "
        f"task.channel, or write questions/<id>.json\n{trial.described()}"
    )


@check("QUESTIONS-002", "asks")
def questions_are_whole(_bench: Bench, trial: Trial) -> Finding:
    """An id, the name of its file, and a text."""
    wrong = [item for item in trial.run.diagnostics if item.code in SPOILT]
    if wrong:
        return failed(one_line(wrong[0].message, limit=400))
    return PASSED if trial.run.questions else not_exercised(NOT_ASKED)


@check("QUESTIONS-003", "asks")
def it_goes_on_after_the_answer(bench: Bench, trial: Trial) -> Finding:
    """A dialogue has two sides."""
    answered = [one for one in trial.run.questions if one.state == "answered"]
    if not answered:
        if trial.run.questions:
            return failed(
                f"it asked {one_line(trial.run.questions[0].question, limit=100)!r} and did not "
                f"wait for the answer\n{trial.described()}"
            )
        return not_exercised(NOT_ASKED)
    return bench.ends_with_a_report(trial, "after the answer to its question")


@check("QUESTIONS-004", "asks")
def it_follows_the_answer(bench: Bench, trial: Trial) -> Finding:
    """What was expected stands in the report or in the patch."""
    asks = bench.profile.specials["asks"]
    if not any(one.answer == asks.answer for one in trial.run.questions):
        return not_exercised("no question of it was answered, or not by the orchestrator")
    if not trial.handed_in:
        return not_exercised("after the answer it left no report: see QUESTIONS-003")
    report = trial.run.declared.to_json()
    if asks.expects in report or asks.expects.encode() in bytes(trial.run.patch):
        return PASSED
    return failed(
        f"answered {asks.answer!r}, neither its report nor its patch holds {asks.expects!r}\n"
        f"{trial.described()}"
    )


@check("QUESTIONS-005", "silence")
def it_survives_silence(bench: Bench, trial: Trial) -> Finding:
    """Go on by your own judgement."""
    if not trial.run.questions:
        return not_exercised(NOT_ASKED)
    return bench.ends_with_a_report(
        trial, "when nobody answers (go on by your own judgement, or report blocked)"
    )


@check("QUESTIONS-006", "no channel")
def it_survives_without_a_channel(bench: Bench, trial: Trial) -> Finding:
    """A channel is an offer of the orchestrator."""
    return bench.ends_with_a_report(
        trial, "where task.channel is null (do not wait for an answer that cannot come)"
    )


@check("QUESTIONS-007", "asks")
def it_does_not_answer_itself(bench: Bench, trial: Trial) -> Finding:
    """Answers come from the orchestrator."""
    if not trial.run.questions:
        return not_exercised(NOT_ASKED)
    asks = bench.profile.specials["asks"]
    given = {one.answer for one in trial.run.questions if one.state == "answered"}
    offered = {option for one in trial.run.questions for option in one.options[:1]} | {"yes"}
    if given - ({asks.answer} if asks.answer else offered):
        return failed("a file in answers/ was not written by the orchestrator")
    return PASSED


@check("QUESTIONS-008", "refusal")
def it_survives_a_refusal(bench: Bench, trial: Trial) -> Finding:
    """A tool error is an answer of a kind."""
    if not trial.run.questions:
        return not_exercised(NOT_ASKED)
    return bench.ends_with_a_report(trial, "when the orchestrator refuses to answer")


@check("QUESTIONS-009", "odd answer")
def it_survives_an_odd_answer(bench: Bench, trial: Trial) -> Finding:
    """Options are an offer."""
    if not trial.run.questions:
        return not_exercised(NOT_ASKED)
    return bench.ends_with_a_report(trial, "after an answer that is none of its options")


@check("QUESTIONS-010", "asks")
def options_are_a_choice(_bench: Bench, trial: Trial) -> Finding:
    """No options at all are fine."""
    with_options = [one for one in trial.run.questions if one.options]
    if not with_options:
        return not_exercised("it offered no options")
    for one in with_options:
        if len(one.options) < 2 or len(set(one.options)) != len(one.options):
            return failed(
                f"the question {one_line(one.question, limit=100)!r} offers {len(one.options)} "
                f"options, {len(set(one.options))} of them different"
            )
    return PASSED
