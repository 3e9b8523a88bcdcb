"""Playing a script: which turn is asked for, what is expected, what is said when it goes wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_caesar.model.conversation import (
    ModelRequest,
    OfferedTool,
    PastCall,
    PastTurn,
    call_id,
)
from pytest_caesar.model.player import NO_REQUEST, Refused, Said
from pytest_caesar.model.script import ScriptedModelError
from pytest_caesar.model.scripted_model import ScriptedModel

BASH = OfferedTool(name="bash", schema={"properties": {"command": {"type": "string"}}})


def asked(*results: str, brief: str = "Fix it", **more: Any) -> ModelRequest:
    """Return the request after as many turns as there are results."""
    history = tuple(
        PastTurn(calls=(PastCall(id=call_id(turn, 1), name="bash", arguments={}, result=result),))
        for turn, result in enumerate(results, 1)
    )
    given = {"agent": "codex", "task": "t_0001", "tools": {"bash": BASH}, **more}
    return ModelRequest(api="chat", users=(brief,), history=history, **given)


def refused(model: ScriptedModel, request: ModelRequest) -> str:
    said = model.player.answer(request)
    assert isinstance(said, Refused)
    assert model.judge() == said.message
    return said.message


def test_a_turn_too_many_says_what_the_cli_said_last() -> None:
    model = ScriptedModel()
    model.shell("a")
    model.shell("b")
    assert refused(model, asked("ok", "Process exited with code 1\nOutput: no")) == (
        "caesar_model: the model was asked for turn 3, and the script has 2. Last the CLI said: "
        "'Process exited with code 1 Output: no'. Add a turn, or end with report(…)"
    )


def test_a_missing_tool_is_named_with_those_that_there_are() -> None:
    model = ScriptedModel()
    model.shell("a")
    model.write("a.txt", "")
    offered = {"bash": BASH, "grep": OfferedTool(name="grep")}
    assert refused(model, asked("ok", tools=offered)) == (
        "caesar_model: turn 2: codex offers no tool for write(path='a.txt'); it offers: bash, grep"
    )


def test_a_call_that_codex_does_not_know_is_the_same_failure() -> None:
    model = ScriptedModel()
    model.ask("Keep it?")
    model.report("success", "x")
    call = PastCall(
        id=call_id(1, 1), name="ask_orchestrator", arguments={}, result="unsupported call: mcp__x"
    )
    request = ModelRequest(
        api="responses", agent="codex", history=(PastTurn(calls=(call,)),), tools={"bash": BASH}
    )
    assert refused(model, request) == (
        "caesar_model: turn 1: codex has no tool 'ask_orchestrator': it answered "
        "'unsupported call: mcp__x'"
    )


def test_a_cli_that_asks_for_ever_is_stopped() -> None:
    model = ScriptedModel(max_requests=2)
    model.say("x")
    assert isinstance(model.player.answer(asked()), Said)
    assert isinstance(model.player.answer(asked()), Said)
    assert isinstance(model.player.answer(asked(task="t_0002")), Said)
    assert refused(model, asked()) == "caesar_model: 2 requests for one task: the CLI asks for ever"
    assert len(model.requests) == 3


def _angry(request: ModelRequest) -> None:
    assert request.last_result == "yes", "not so"


@pytest.mark.parametrize(
    ("expectation", "told"),
    [
        (
            lambda asked: "no" in asked.last_result,
            "expect() does not hold; the last result was 'yep'",
        ),
        (_angry, "expect() failed: AssertionError: not so"),
        (lambda asked: asked.nothing, "expect() failed: AttributeError: "),
    ],
)
@pytest.mark.parametrize("kind", ["say", "shell", "report"])
def test_an_expectation_holds_on_every_kind_of_turn(expectation: Any, told: str, kind: str) -> None:
    model = ScriptedModel()
    model.shell("a")
    made = {
        "say": lambda: model.say("x"),
        "shell": lambda: model.shell("b"),
        "report": lambda: model.report("success", "x"),
    }[kind]()
    made.expect(lambda _: True).expect(expectation)
    assert refused(model, asked("yep")).startswith(f"caesar_model: turn 2: {told}")


def test_after_a_failure_every_request_of_the_task_hears_the_same() -> None:
    model = ScriptedModel()
    model.shell("a").expect(lambda _: False)
    first = refused(model, asked())
    assert refused(model, asked()) == first
    assert isinstance(model.player.answer(asked(task="t_0002", tools={})), Said)


def test_a_report_ends_its_conversation_however_it_is_handed_in() -> None:
    model = ScriptedModel()
    model.report("success", "Done.")
    model.shell("b")
    said = model.player.answer(asked("written"))
    assert isinstance(said, Said)
    assert (said.answer.text, said.answer.calls) == ("The report is handed in.", ())


def test_a_report_that_the_channel_refuses_fails() -> None:
    model = ScriptedModel()
    model.report("success", "Done.")
    result = "invalid report: status: expected one of …"
    call = PastCall(id=call_id(1, 1), name="caesar_submit_report", arguments={}, result=result)
    request = ModelRequest(api="chat", history=(PastTurn(calls=(call,)),), tools={"bash": BASH})
    assert refused(model, request) == f"caesar_model: turn 1: the report was refused: {result!r}"


@pytest.mark.parametrize(
    ("requests", "told"),
    [
        ([], f"turns 1 to 3 were never asked for ({NO_REQUEST})"),
        ([asked()], "turns 2 to 3 were never asked for"),
        ([asked("x")], "turn 3 was never asked for"),
        ([asked("x", "y")], None),
    ],
)
def test_turns_that_nobody_asked_for_fail(requests: list[ModelRequest], told: str | None) -> None:
    model = ScriptedModel()
    model.shell("a").shell("b").say("c")
    for request in requests:
        model.player.answer(request)
    assert model.judge() == (None if told is None else f"caesar_model: {told}")


def test_a_text_scripts_the_conversation_that_holds_it() -> None:
    model = ScriptedModel()
    model.say("main")
    model.on("tests").say("other")
    first, second = (model.player.answer(asked(brief=brief)) for brief in ("Fix", "Run the tests"))
    assert isinstance(first, Said)
    assert isinstance(second, Said)
    assert (first.answer.text, second.answer.text) == ("main", "other")
    model.on("docs").say("never")
    assert model.judge() == "caesar_model: on('docs'): turn 1 was never asked for"


def test_a_request_without_tools_is_answered_beside_the_script() -> None:
    model = ScriptedModel()
    model.say("main")
    schema = {
        "type": "OBJECT",
        "properties": {"why": {"type": "STRING"}, "score": {"type": "INTEGER", "minimum": 1}},
        "required": ["why", "score"],
    }
    said = model.player.answer(asked(tools={}, schema=schema))
    assert isinstance(said, Said)
    assert json.loads(said.answer.text) == {"why": "", "score": 1}
    assert model.judge() == "caesar_model: turn 1 was never asked for"


def test_faults_hit_the_first_requests_for_their_turn() -> None:
    model = ScriptedModel()
    model.say("x").fail(429, times=2).cut("mid", times=1)
    kinds = []
    for _ in range(5):
        said = model.player.answer(asked())
        assert isinstance(said, Said)
        kinds.append(said.fault.kind if said.fault else None)
    other = model.player.answer(asked(task="t_0002"))
    assert kinds == ["fail", "fail", "cut", None, None]
    assert model.witness("t_0001")[1].turns == 2  # nobody pays for a fault
    assert isinstance(other, Said)
    assert other.fault is not None


def test_what_is_only_said_goes_with_what_is_done_next() -> None:
    model = ScriptedModel()
    model.say("First.")
    model.shell("a")
    model.report("success", "Done.")
    assert [turn.texts for turn in model.script.main.turns] == [["First."], []]


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda m: m.say(""), "say(''): expected a text that is not empty"),
        (lambda m: m.shell(3), "shell(3): expected a text that is not empty"),
        (lambda m: m.say("x").fail(200), "fail(200): expected an HTTP status of 400 to 599"),
        (lambda m: m.say("x").fail(times=0), "times=0: expected one or more"),
        (lambda m: m.say("x").cut("end"), 'cut(\'end\'): expected "start" or "mid"'),
        (lambda m: m.say("x").slow(-1), "slow(-1): expected seconds, zero or more"),
        (lambda m: m.say("x").expect("no"), "expect() takes a function of the request, found 'no'"),
        (lambda m: m.report("done", "x"), "report('done'): expected one of success, partial, "),
        (lambda m: m.report("success", ""), "report(): summary: "),
        (lambda m: m.report("success", "x", changes="a.txt"), "changes='a.txt': expected a list"),
        (
            lambda m: m.report("success", "x", changes=[("a", "made")]),
            "report(): changes.0.action: ",
        ),
        (lambda m: m.together(m.shell("a")), "together() takes two or more turns with calls"),
        (lambda m: m.together(m.say("a"), m.shell("a")), "together() takes the turns that were"),
        (lambda m: m.on(""), "on(''): expected a text of the brief"),
    ],
)
def test_a_script_that_cannot_be_meant_is_refused(make: Any, problem: str) -> None:
    with pytest.raises(ScriptedModelError) as caught:
        make(ScriptedModel())
    assert str(caught.value).startswith(f"invalid script of the model: {problem}")
