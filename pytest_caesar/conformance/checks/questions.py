# ruff: noqa: D401 - the table says what a check asks for, its docstring why
"""Checks on asking over the return channel."""

from __future__ import annotations

import importlib.util

from caesar_agent.console import one_line
from caesar_agent.errors import CaesarError
from pytest_caesar.conformance.checks.check import check
from pytest_caesar.conformance.checks.shared_judgements import ends_with_a_report
from pytest_caesar.conformance.judgement import PASSED, Judgement, failed, not_exercised
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.conformance.scenario_run import ScenarioRun


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
def it_asks(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """With the tool ask_orchestrator, the SDK, or a file."""
    if seen.run.questions:
        return PASSED
    if seen.run.codes & SPOILT:
        return not_exercised("what it asked is no question: see QUESTIONS-002")
    if importlib.util.find_spec("mcp") is None:
        raise NoServerError
    return failed(
        "the objective of [asks] led to no question: call ask_orchestrator of the MCP server in "
        f"task.channel, or write questions/<id>.json\n{seen.described()}"
    )


@check("QUESTIONS-002", "asks")
def questions_are_whole(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """An id, the name of its file, and a text."""
    wrong = [item for item in seen.run.diagnostics if item.code in SPOILT]
    if wrong:
        return failed(one_line(wrong[0].message, limit=400))
    return PASSED if seen.run.questions else not_exercised(NOT_ASKED)


@check("QUESTIONS-003", "asks")
def it_goes_on_after_the_answer(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """A dialogue has two sides."""
    answered = [one for one in seen.run.questions if one.state == "answered"]
    if not answered:
        if seen.run.questions:
            return failed(
                f"it asked {one_line(seen.run.questions[0].question, limit=100)!r} and did not "
                f"wait for the answer\n{seen.described()}"
            )
        return not_exercised(NOT_ASKED)
    return ends_with_a_report(cache, seen, "after the answer to its question")


@check("QUESTIONS-004", "asks")
def it_follows_the_answer(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """What was expected stands in the report or in the patch."""
    asks = cache.profile.specials["asks"]
    if not any(one.answer == asks.answer for one in seen.run.questions):
        return not_exercised("no question of it was answered, or not by the orchestrator")
    if not seen.handed_in:
        return not_exercised("after the answer it left no report: see QUESTIONS-003")
    report = seen.run.declared.to_json()
    if asks.expects in report or asks.expects.encode() in bytes(seen.run.patch):
        return PASSED
    return failed(
        f"answered {asks.answer!r}, neither its report nor its patch holds {asks.expects!r}\n"
        f"{seen.described()}"
    )


@check("QUESTIONS-005", "silence")
def it_survives_silence(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Go on by your own judgement."""
    if not seen.run.questions:
        return not_exercised(NOT_ASKED)
    if seen.run.outcome.timed_out:
        return failed(
            "nobody answered, and it waited until it was stopped at its deadline of "
            f"{seen.run.task.deadline_ms / 1000:g} s: never wait longer than what is left of "
            "deadline_ms, and go on by your own judgement"
        )
    return ends_with_a_report(
        cache, seen, "when nobody answers (go on by your own judgement, or report blocked)"
    )


@check("QUESTIONS-006", "no channel")
def it_survives_without_a_channel(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """A channel is an offer of the orchestrator."""
    return ends_with_a_report(
        cache, seen, "where task.channel is null (do not wait for an answer that cannot come)"
    )


@check("QUESTIONS-007", "asks")
def it_does_not_answer_itself(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Answers come from the orchestrator."""
    if not seen.run.questions:
        return not_exercised(NOT_ASKED)
    asks = cache.profile.specials["asks"]
    given = {one.answer for one in seen.run.questions if one.state == "answered"}
    offered = {option for one in seen.run.questions for option in one.options[:1]} | {"yes"}
    if given - ({asks.answer} if asks.answer else offered):
        return failed("a file in answers/ was not written by the orchestrator")
    if any(one.state == "answered" for one in cache.run_of("silence").run.questions):
        return failed("nobody answered its question, and it wrote a file into answers/ itself")
    return PASSED


@check("QUESTIONS-008", "refusal")
def it_survives_a_refusal(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """A tool error is an answer of a kind."""
    if not seen.run.questions:
        return not_exercised(NOT_ASKED)
    return ends_with_a_report(cache, seen, "when the orchestrator refuses to answer")


@check("QUESTIONS-009", "odd answer")
def it_survives_an_odd_answer(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Options are an offer."""
    if not seen.run.questions:
        return not_exercised(NOT_ASKED)
    return ends_with_a_report(cache, seen, "after an answer that is none of its options")


@check("QUESTIONS-010", "asks")
def options_are_a_choice(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """No options at all are fine."""
    with_options = [one for one in seen.run.questions if one.options]
    if not with_options:
        return not_exercised("it offered no options")
    for one in with_options:
        if len(one.options) < 2 or len(set(one.options)) != len(one.options):
            return failed(
                f"the question {one_line(one.question, limit=100)!r} offers {len(one.options)} "
                f"options, {len(set(one.options))} of them different"
            )
    return PASSED


@check("QUESTIONS-011", "no channel")
def it_asks_only_where_it_may(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Nobody looks there."""
    if seen.unasked:
        return failed(
            f"task.channel is null, and it wrote {', '.join(seen.unasked)} into questions/: look at "
            "task.channel before you ask, and put the question into the report where there is none"
        )
    return PASSED


@check("QUESTIONS-012", "offered channel")
def it_calls_the_tools_as_they_are(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """tools/list says how."""
    refused = [one for one in seen.refused if one[0] != "submit_report"]  # REPORT-015
    if refused:
        tool, why = refused[0]
        return failed(f"{tool} was refused: {one_line(why, limit=300)}")
    return PASSED
