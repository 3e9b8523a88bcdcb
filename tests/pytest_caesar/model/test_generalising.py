"""What a real model said becomes a script, over every wire."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_caesar.model.answer import Answer, ToolCall, Usage
from pytest_caesar.model.conversation import Api, ModelRequest, PastCall, PastTurn
from pytest_caesar.model.generalising import turns_of
from pytest_caesar.model.script import Conversation, Script
from pytest_caesar.model.script_file import script_value
from pytest_caesar.model.wires.formats import WIRES
from tests.pytest_caesar.model.test_wires import APIS

REPORT = {"protocol": "caesar.report/v1", "status": "success", "summary": "Done."}
BRIEF = "Stay inside the workspace: /w\nwrite your report as JSON to this file: /t/report.json"


def script(*history: PastTurn, last: str = "", tool: ToolCall | None = None) -> list[Any]:
    request = ModelRequest(api="chat", users=(BRIEF,), history=history)
    answer = Answer(turn=9, texts=(last,) if last else (), calls=(tool,) if tool else ())
    turns = turns_of(request, answer)
    return script_value(Script(main=Conversation(turns=turns)))["turns"]  # type: ignore[no-any-return]


def past(name: str, text: str = "", namespace: str | None = None, **arguments: Any) -> PastTurn:
    call = PastCall(id="1", name=name, namespace=namespace, arguments=arguments, result="ok")
    return PastTurn(text=text, calls=(call,))


@pytest.mark.parametrize(
    ("turn", "call"),
    [
        (past("exec_command", cmd="ls", workdir="/w"), {"shell": {"command": "ls"}}),
        (past("run_shell_command", command="ls"), {"shell": {"command": "ls"}}),
        (past("create", path="/w/a", file_text="x"), {"write": {"path": "a", "content": "x"}}),
        (
            past("edit", filePath="/w/a", oldString="x", newString="y"),
            {"edit": {"path": "a", "old": "x", "new": "y"}},
        ),
        (
            past("ask_orchestrator", namespace="mcp__caesar", question="Keep?", options=["y"]),
            {"ask": {"question": "Keep?", "options": ["y"]}},
        ),
        (past("caesar-report_progress", message="Half"), {"progress": {"message": "Half"}}),
        (past("glob", pattern="*"), {"tool": {"name": "glob", "arguments": {"pattern": "*"}}}),
    ],
)
def test_calls_become_words_where_there_is_one(turn: PastTurn, call: dict[str, Any]) -> None:
    assert script(turn, last="Bye.") == [{"calls": [call]}, {"say": "Bye."}]


@pytest.mark.parametrize(
    "ending",
    [
        {"tool": ToolCall(id="1", name="caesar_submit_report", arguments=REPORT)},
        {
            "tool": ToolCall(
                id="1",
                name="write_file",
                arguments={
                    "file_path": "/t/report.json",
                    "content": '{"protocol":"caesar.report/v1","status":"success",'
                    '"summary":"Done.","details":null}',
                },
            )
        },
        {"last": f'{{"task_id": null, {str(REPORT)[1:]}'.replace("'", '"')},
        {
            "last": '```json caesar:report\n{"protocol":"caesar.report/v1","status":"success","summary":"Done."}\n```'
        },
    ],
    ids=["channel", "file", "schema", "block"],
)
def test_a_report_is_a_report_however_it_was_handed_in(ending: dict[str, Any]) -> None:
    assert script(past("bash", command="ls"), **ending) == [
        {"calls": [{"shell": {"command": "ls"}}]},
        {"report": {"status": "success", "summary": "Done."}},
    ]


def test_the_last_word_after_a_report_is_no_turn() -> None:
    submitted = past("caesar_submit_report", **REPORT)
    assert script(submitted, last="All done.") == [
        {"report": {"status": "success", "summary": "Done."}}
    ]


@pytest.mark.parametrize("api", APIS)
def test_an_answer_is_read_as_it_was_written(api: Api) -> None:
    answer = Answer(
        turn=1,
        texts=("Hello.",),
        calls=(ToolCall(id="call_t1_1", name="bash", arguments={"command": "ls"}),),
        usage=Usage(input_tokens=7, output_tokens=3),
    )
    wire = WIRES[api]
    assert wire.read_answer(wire.plain(answer, ModelRequest(api=api)), 1) == answer
    assert wire.read_answer({}, 1) == Answer(turn=1, usage=Usage(input_tokens=0, output_tokens=0))
