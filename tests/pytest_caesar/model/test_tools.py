"""From the words of a script to the tools of each CLI, by what their requests really offer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_caesar.model.conversation import Api, ModelRequest, OfferedTool
from pytest_caesar.model.handing_in import hand_in
from pytest_caesar.model.player import play
from pytest_caesar.model.script import Turn
from pytest_caesar.model.scripted_model import ScriptedModel
from pytest_caesar.model.tools import NoSuchTool


def tool(called: str, *required: str, text: str = "", **properties: Any) -> OfferedTool:
    """Return a tool; a property is its type, or its schema."""
    told = {
        key: value if isinstance(value, dict) else {"type": value}
        for key, value in properties.items()
    }
    schema = {"type": "object", "properties": told, "required": list(required)}
    return OfferedTool(name=called, description=text, schema=schema)


ABSOLUTE = {"type": "string", "description": "Full absolute path to the file."}
CHANNEL = ("ask_orchestrator", "submit_report", "report_progress")
CODEX = [
    tool("exec_command", "cmd", cmd="string", workdir="string"),
    OfferedTool(name="apply_patch", takes_text=True),
    tool("tool_search", query="string"),
]
GEMINI = [
    tool("run_shell_command", "command", command="string", description="string"),
    tool("write_file", "file_path", "content", file_path="string", content="string"),
    tool(
        *("replace", "file_path", "instruction", "old_string", "new_string"),
        file_path="string",
        instruction="string",
        old_string="string",
        new_string="string",
    ),
    *(tool(f"mcp_caesar_{name}") for name in CHANNEL),
]
COPILOT = [
    tool("bash", "command", "description", command="string", description="string", mode="string"),
    tool("create", "path", "file_text", path=ABSOLUTE, file_text="string"),
    tool("edit", "path", path=ABSOLUTE, old_str="string", new_str="string"),
    *(tool(f"caesar-{name}") for name in CHANNEL),
]
OPENCODE = [
    tool("bash", "command", "description", command="string", description="string"),
    tool("write", "content", "filePath", content="string", filePath=ABSOLUTE),
    tool("edit", filePath=ABSOLUTE, oldString="string", newString="string"),
    *(tool(f"caesar_{name}") for name in CHANNEL),
]
PI = [
    tool("bash", "command", command="string", timeout="number"),
    tool(
        "edit",
        path="string",
        edits={
            "type": "array",
            "items": {"properties": {"oldText": {"type": "string"}, "newText": {"type": "string"}}},
        },
    ),
]
OFFERED: dict[str, tuple[Api, list[OfferedTool]]] = {
    "codex": ("responses", CODEX),
    "gemini": ("gemini", GEMINI),
    "copilot": ("chat", COPILOT),
    "opencode": ("chat", OPENCODE),
    "pi": ("chat", PI),
}


def request(cli: str, *, folder: str = "/w", brief: str = "", **more: Any) -> ModelRequest:
    """Return a first request of a CLI."""
    api, tools = OFFERED[cli]
    said = f"{brief}\n\n- Stay inside the workspace: {folder}\n"
    offered = {tool.name: tool for tool in tools}
    return ModelRequest(api=api, agent=cli, users=(said,), tools=offered, **more)


def used(turn: Turn, asked: ModelRequest) -> tuple[str | None, str, Any]:
    (call,) = play(turn, 1, asked).calls
    return call.namespace, call.name, call.arguments


@pytest.mark.parametrize(
    ("cli", "name", "arguments"),
    [
        ("codex", "exec_command", {"cmd": "ls"}),
        ("gemini", "run_shell_command", {"command": "ls"}),
        ("copilot", "bash", {"command": "ls", "description": "ls"}),
        ("opencode", "bash", {"command": "ls", "description": "ls"}),
        ("pi", "bash", {"command": "ls"}),
    ],
)
def test_a_command_runs_in_the_shell_of_the_cli(
    cli: str, name: str, arguments: dict[str, Any]
) -> None:
    turn = ScriptedModel().shell("ls").turn
    assert used(turn, request(cli)) == (None, name, arguments)


@pytest.mark.parametrize(
    ("cli", "name", "arguments"),
    [
        (
            "codex",
            "apply_patch",
            "*** Begin Patch\n*** Add File: a/b.txt\n+one\n+\n+two\n*** End Patch\n",
        ),
        ("gemini", "write_file", {"file_path": "a/b.txt", "content": "one\n\ntwo\n"}),
        ("copilot", "create", {"path": "/w/a/b.txt", "file_text": "one\n\ntwo\n"}),
        ("opencode", "write", {"filePath": "/w/a/b.txt", "content": "one\n\ntwo\n"}),
    ],
)
def test_a_file_is_written_by_the_tool_of_the_cli(cli: str, name: str, arguments: Any) -> None:
    turn = ScriptedModel().write("a/b.txt", "one\n\ntwo\n").turn
    assert used(turn, request(cli)) == (None, name, arguments)


@pytest.mark.parametrize(
    ("cli", "arguments"),
    [
        (
            "codex",
            "*** Begin Patch\n*** Update File: a.py\n@@\n-    return s[0]\n+    return s[:1]\n*** End Patch\n",
        ),
        (
            "gemini",
            {
                "file_path": "a.py",
                "old_string": "s[0]",
                "new_string": "s[:1]",
                "instruction": "Edit a.py",
            },
        ),
        ("copilot", {"path": "{folder}/a.py", "old_str": "s[0]", "new_str": "s[:1]"}),
        ("opencode", {"filePath": "{folder}/a.py", "oldString": "s[0]", "newString": "s[:1]"}),
        ("pi", {"path": "a.py", "edits": [{"oldText": "s[0]", "newText": "s[:1]"}]}),
    ],
)
def test_a_part_of_a_line_is_edited_with_every_cli(
    cli: str, arguments: Any, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text("def parse(s):\n    return s[0]\n")
    turn = ScriptedModel().edit("a.py", "s[0]", "s[:1]").turn
    wanted = json.dumps(arguments).replace("{folder}", str(tmp_path))
    assert used(turn, request(cli, folder=str(tmp_path)))[2] == json.loads(wanted)


def test_a_tool_that_only_creates_is_not_used_for_a_file_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("old\n")
    turn = ScriptedModel().write("a.py", "new\n").turn
    path = str(tmp_path / "a.py")
    given = {"path": path, "old_str": "old\n", "new_str": "new\n"}
    assert used(turn, request("copilot", folder=str(tmp_path))) == (None, "edit", given)


@pytest.mark.parametrize(
    ("cli", "namespace", "name"),
    [
        ("codex", "mcp__caesar", "ask_orchestrator"),
        ("gemini", None, "mcp_caesar_ask_orchestrator"),
        ("copilot", None, "caesar-ask_orchestrator"),
        ("opencode", None, "caesar_ask_orchestrator"),
    ],
)
def test_a_question_goes_over_the_channel(cli: str, namespace: str | None, name: str) -> None:
    turn = ScriptedModel().ask("Keep it?", options=["yes", "no"]).turn
    arguments = {"question": "Keep it?", "options": ["yes", "no"]}
    assert used(turn, request(cli)) == (namespace, name, arguments)


def test_a_tool_of_a_server_is_found_by_the_names_of_the_server() -> None:
    offered = {name: tool(name) for name in ("mcp__a__find", "mcp__b__find", "find")}
    asked = ModelRequest(api="messages", tools=offered)
    assert used(ScriptedModel().mcp("b", "find", what="x").turn, asked) == (
        None,
        "mcp__b__find",
        {"what": "x"},
    )
    with pytest.raises(NoSuchTool):
        used(ScriptedModel().mcp("c", "find").turn, asked)


def test_any_tool_is_called_by_its_own_name() -> None:
    turn = ScriptedModel().tool("apply_patch", "*** Begin Patch").turn
    assert used(turn, request("codex")) == (None, "apply_patch", "*** Begin Patch")
    with pytest.raises(NoSuchTool):
        used(ScriptedModel().tool("glob", pattern="*").turn, request("codex"))


def test_a_shell_that_is_all_there_is_writes_files_too(tmp_path: Path) -> None:
    offered = {"bash": tool("bash", "command", command="string")}
    turn = ScriptedModel().write("a b.txt", "it's\n").turn
    _, name, given = used(turn, ModelRequest(api="chat", tools=offered))
    assert (name, given) == ("bash", {"command": "printf %s 'it'\"'\"'s\n' > 'a b.txt'"})


REPORT = {"protocol": "caesar.report/v1", "status": "success", "summary": "Done."}
SCHEMA = {
    "type": "object",
    "properties": {
        "protocol": {"type": "string"},
        "status": {"type": "string"},
        "summary": {"type": "string"},
        "changes": {
            "anyOf": [
                {
                    "type": "array",
                    "items": {"properties": {"path": {}, "action": {}, "summary": {}}},
                },
                {"type": "null"},
            ]
        },
        "details": {"type": ["string", "null"]},
    },
}
BY_FILE = "When you are done, write your report as JSON to this file: /t/report.json"
BY_CHANNEL = "When you are done, hand in your report by calling the tool submit_report; …"


def test_a_report_goes_over_the_channel_where_there_is_one() -> None:
    for cli in ("codex", "gemini", "copilot", "opencode"):
        use = hand_in(REPORT, request(cli, brief=BY_CHANNEL, schema=SCHEMA)).use
        assert use is not None
        assert use.name.endswith("submit_report")
        assert use.arguments == REPORT


def test_a_report_follows_the_schema_with_every_property() -> None:
    changed = {**REPORT, "changes": [{"path": "a", "action": "created"}]}
    way = hand_in(changed, request("codex", brief=BY_FILE, schema=SCHEMA))
    assert way.use is None
    assert json.loads(way.text) == {
        **REPORT,
        "changes": [{"path": "a", "action": "created", "summary": None}],
        "details": None,
    }


def test_a_report_goes_into_the_file_that_the_brief_names() -> None:
    use = hand_in(REPORT, request("pi", brief=BY_FILE)).use
    assert use is not None
    assert use.name == "bash"  # it offers no tool that writes
    use = hand_in(
        REPORT,
        request("gemini", brief=BY_FILE).__class__(
            api="gemini", users=(BY_FILE,), tools={"write_file": GEMINI[1]}
        ),
    ).use
    assert use is not None
    assert isinstance(use.arguments, dict)
    assert use.arguments["file_path"] == "/t/report.json"
    assert json.loads(use.arguments["content"]) == REPORT


def test_a_report_is_a_fenced_block_where_nothing_else_is_possible() -> None:
    way = hand_in(REPORT, ModelRequest(api="chat", users=("Fix it",), tools={"x": tool("x")}))
    assert way.text == f"```json caesar:report\n{json.dumps(REPORT, indent=2)}\n```"
