"""The four wire formats, plain and streaming, spoken by a small CLI over real connections."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from pytest_caesar.model.conversation import Api, ModelRequest
from pytest_caesar.model.scripted_model import ScriptedModel
from pytest_caesar.model.wires.formats import WIRES
from tests.pytest_caesar.model.small_cli import work

APIS: tuple[Api, ...] = get_args(Api)
BRIEF = "Fix the parser\n\nStay inside the workspace: /w\n"


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("api", APIS)
def test_a_script_says_the_same_over_every_wire(api: Api, *, stream: bool) -> None:
    done: list[tuple[str, dict[str, Any]]] = []

    def carry_out(name: str, given: dict[str, Any]) -> str:
        done.append((name, given))
        return f"done {len(done)}"

    with ScriptedModel() as model:
        model.think("Hm.").say("Looking at the whole of it.").shell("pytest -q")
        model.together(model.shell("ls ä"), model.write("a.txt", "one\ntwo\n"))
        model.say("All done here.")
        last = work(model.url, api, BRIEF, stream=stream, carry_out=carry_out)
        requests = model.requests
        assert model.judge() is None

    assert last == "All done here."
    assert done == [
        ("bash", {"command": "pytest -q"}),
        ("bash", {"command": "ls ä"}),
        ("write_file", {"file_path": "a.txt", "content": "one\ntwo\n"}),
    ]
    assert [request.turn for request in requests] == [1, 2, 3]
    third = requests[2]
    assert third.results == ("done 1", "done 2", "done 3")
    assert [turn.text for turn in third.history] == ["Looking at the whole of it.", ""]
    assert [len(turn.calls) for turn in third.history] == [1, 2]
    assert [call.command for call in third.calls] == ["pytest -q", "ls ä", None]
    assert (third.api, third.model, third.system) == (api, "small", "Be brief.")
    assert third.users == (BRIEF,)
    assert list(third.tools) == ["bash", "write_file"]
    assert third.tools["bash"].properties == {"command": {"type": "string"}}
    assert third.program == "small-cli"
    assert third.stream is stream


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": 3, "input": {"a": 1}, "contents": None, "tools": "bash"},
        {"messages": [None, {"role": 4, "content": [[]]}], "input": [3, {"type": []}]},
        {"contents": [{"role": "model", "parts": [{"functionCall": 3}]}], "tools": [{}, 1]},
        {"input": [{"type": "function_call", "arguments": "{", "call_id": 7}]},
        {"messages": [{"role": "assistant", "tool_calls": [{"function": {"arguments": []}}]}]},
    ],
)
def test_what_is_not_of_the_expected_type_counts_as_absent(api: Api, body: dict[str, Any]) -> None:
    read = WIRES[api].read(body, "/v1beta/models/m:generateContent")
    assert isinstance(read, ModelRequest)
    assert read.results == ()


def test_a_schema_is_read_whatever_the_wire_calls_it() -> None:
    schema = {"type": "object", "properties": {"protocol": {}}}
    bodies: dict[Api, dict[str, Any]] = {
        "responses": {"text": {"format": {"type": "json_schema", "schema": schema}}},
        "chat": {"response_format": {"type": "json_schema", "json_schema": {"schema": schema}}},
        "gemini": {"generationConfig": {"responseJsonSchema": schema}},
        "messages": {"output_format": {"type": "json_schema", "schema": schema}},
    }
    assert [WIRES[api].read(body, "").schema for api, body in bodies.items()] == [schema] * 4


def test_calls_of_a_script_that_is_not_ours_are_counted_by_what_lies_between_them() -> None:
    call = {"type": "function_call", "name": "bash", "arguments": "{}"}
    result = {"type": "function_call_output", "output": "x"}
    read = WIRES["responses"].read(
        {
            "input": [
                {**call, "call_id": "a"},
                {**call, "call_id": "b"},
                {**result, "call_id": "a"},
                {**result, "call_id": "b"},
                {**call, "call_id": "c"},
                {**result, "call_id": "c"},
            ]
        },
        "",
    )
    assert [len(turn.calls) for turn in read.history] == [2, 1]
    assert read.turn == 3


def test_groups_of_tools_are_opened_and_a_shared_name_gets_its_group() -> None:
    group = {"type": "namespace", "name": "mcp__b", "tools": [{"type": "function", "name": "find"}]}
    tools = [{"type": "function", "name": "find"}, group, {"type": "web_search"}]
    read = WIRES["responses"].read({"tools": tools}, "")
    assert list(read.tools) == ["find", "mcp__b.find", "web_search"]
    assert read.tools["mcp__b.find"].namespace == "mcp__b"
