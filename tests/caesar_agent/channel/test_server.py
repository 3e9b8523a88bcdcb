"""The four tools, called by the client of the ``mcp`` package."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft7Validator

from caesar_agent.channel import tools
from caesar_agent.documents import Report
from caesar_agent.mailbox import reader
from caesar_agent.mailbox.mailbox import Mailbox
from tests.caesar_agent.channel.client import COMMAND, TIMEOUT, environment, events, make_task

pytest.importorskip("mcp")

from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from caesar_agent.channel import server
from caesar_agent.channel.transport import Traffic
from caesar_agent.task_directory import TaskDirectory

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

REPORT = {"protocol": "caesar.report/v1", "status": "success", "summary": "Done."}


@pytest.fixture
def task_dir(tmp_path: Path) -> Path:
    return make_task(tmp_path / "task")


def with_client(task_dir: Path, work: Callable[[Client], Awaitable[Any]]) -> Any:
    """Run some work with a client of a server in this process."""

    async def main() -> Any:
        ours = server.ChannelServer(TaskDirectory(task_dir), Traffic()).server
        async with Client(ours) as client:
            return await asyncio.wait_for(work(client), TIMEOUT)

    return asyncio.run(main())


def call(task_dir: Path, tool: str, /, **arguments: Any) -> Any:
    """Call one tool; return its structured content, or the text of its error."""

    async def work(client: Client) -> Any:
        return shown(await client.call_tool(tool, arguments))

    return with_client(task_dir, work)


def shown(result: Any) -> Any:
    [content] = result.content
    if result.is_error:
        return content.text
    assert json.loads(content.text) == result.structured_content
    return result.structured_content


async def answered(task_dir: Path, say: Callable[[Mailbox, str], object]) -> None:
    """Do something with the next question that is asked."""
    mailbox = Mailbox(task_dir)
    while not (found := [one for one in mailbox.questions() if one.state == "pending"]):
        await asyncio.sleep(0.002)
    say(mailbox, found[0].id)


# -- over stdio, in both eras of the protocol


@asynccontextmanager
async def handshake(task_dir: Path) -> AsyncIterator[Any]:
    async with (
        stdio_client(parameters(task_dir)) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


@asynccontextmanager
async def modern(task_dir: Path) -> AsyncIterator[Any]:
    async with Client(parameters(task_dir)) as client:
        yield client


def parameters(task_dir: Path) -> StdioServerParameters:
    return StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], str(task_dir)], env=environment()
    )


@pytest.mark.parametrize("connect", [handshake, modern])
def test_an_agent_reads_asks_tells_and_submits(task_dir: Path, connect: Any) -> None:
    told: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async def main() -> None:
        async with connect(task_dir) as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == list(tools.DESCRIPTIONS)
            task = shown(await client.call_tool("get_task", {}))
            assert (task["id"], task["objective"]) == ("t_1", "Fix the parser.")
            assert shown(await client.call_tool("report_progress", {"message": "half", "pct": 50}))
            answer = asyncio.create_task(
                answered(task_dir, lambda mailbox, question: mailbox.answer(question, "no"))
            )
            reply = shown(
                await client.call_tool(
                    "ask_orchestrator",
                    {"question": "Keep it?", "options": ["yes", "no"]},
                    progress_callback=on_progress,
                )
            )
            await answer
            assert (reply["answered"], reply["answer"]) == (True, "no")
            assert shown(await client.call_tool("submit_report", REPORT)) == {
                "ok": True,
                "task_id": "t_1",
            }

    asyncio.run(asyncio.wait_for(main(), 2 * TIMEOUT))
    [question] = Mailbox(task_dir).questions()
    assert told
    assert events(task_dir) == [
        {"seq": 0, "task_id": "t_1", "type": "progress", "message": "half", "pct": 50},
        {
            "seq": 1,
            "task_id": "t_1",
            "type": "question",
            "id": question.id,
            "question": "Keep it?",
            "options": ["yes", "no"],
        },
    ]
    for name in ("submission.json", "report.json"):
        assert Report.parse((task_dir / name).read_bytes()).summary == "Done."


# -- what the tools look like


def test_the_tools_carry_their_schemas_and_descriptions(task_dir: Path) -> None:
    async def work(client: Client) -> Any:
        return (await client.list_tools()).tools

    listed = with_client(task_dir, work)
    assert {tool.name: tool.input_schema for tool in listed} == tools.INPUT_SCHEMAS
    assert {tool.name: tool.description for tool in listed} == tools.DESCRIPTIONS
    for schema in tools.INPUT_SCHEMAS.values():
        Draft7Validator.check_schema(schema)


def test_the_schema_of_the_report_is_the_one_of_the_model() -> None:
    properties = tools.INPUT_SCHEMAS["submit_report"]["properties"]
    assert set(properties) == set(Report.model_fields)
    for part, model in {
        "changes": "Change",
        "commands_run": "CommandRun",
        "findings": "Finding",
        "questions": "Question",
        "artifacts": "Artifact",
    }.items():
        from caesar_agent import documents

        fields = getattr(documents, model).model_fields
        items = properties[part]["items"]
        assert set(items["properties"]) == set(fields)
        assert set(items["required"]) == {
            name for name, field in fields.items() if field.is_required()
        }


def test_an_unknown_tool_is_named_and_the_known_ones_too(task_dir: Path) -> None:
    assert call(task_dir, "no\x1bsuch") == (
        "there is no tool 'no\\x1bsuch'; the tools are get_task, report_progress, "
        "ask_orchestrator, submit_report"
    )


# -- get_task


def test_the_task_is_read_again_each_time(task_dir: Path) -> None:
    assert call(task_dir, "get_task")["objective"] == "Fix the parser."
    make_task(task_dir, objective="Fix the printer.", x_own={"kept": [1]})
    again = call(task_dir, "get_task")
    assert (again["objective"], again["x_own"]) == ("Fix the printer.", {"kept": [1]})


@pytest.mark.parametrize("text", [None, "{", '{"protocol": "caesar.task/v2"}'])
def test_a_task_that_cannot_be_read_is_an_error_that_says_so(
    task_dir: Path, text: str | None
) -> None:
    (task_dir / "task.json").unlink()
    if text is not None:
        (task_dir / "task.json").write_text(text)
    assert call(task_dir, "get_task").startswith("invalid task")


# -- report_progress


@pytest.mark.parametrize("message", ["42", '{"a": 1}', "null", "true", '"quoted"', "[1]"])
def test_a_message_that_looks_like_json_stays_a_message(task_dir: Path, message: str) -> None:
    assert call(task_dir, "report_progress", message=message) == {"ok": True}
    assert events(task_dir)[0]["message"] == message


@pytest.mark.parametrize(
    ("pct", "written"),
    [(0, 0), (100, 100), (0.5, 0.5), ("50", 50), (" 12.5 ", 12.5), (None, None)],
)
def test_a_percentage_may_be_spelled_in_several_ways(
    task_dir: Path, pct: object, written: float | None
) -> None:
    assert call(task_dir, "report_progress", message="x", pct=pct, extra=1) == {"ok": True}
    assert events(task_dir)[0].get("pct") == written


@pytest.mark.parametrize(
    "pct", [-1, 100.5, "150", "50%", "٣", "nan", True, [50], {}, pytest.param(10**400, id="huge")]
)
def test_what_is_no_percentage_is_refused_and_told_as_an_error(task_dir: Path, pct: object) -> None:
    assert call(task_dir, "report_progress", message="x", pct=pct) == (
        "invalid arguments for report_progress at pct: expected a number from 0 to 100, "
        f"found {150 if pct == '150' else pct!r:.80}"
    )
    (event,) = map(json.loads, (task_dir / "events.jsonl").read_text().splitlines())
    assert (event["type"], event["fatal"]) == ("error", False)
    assert event["message"].startswith("report_progress was refused: invalid arguments for ")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "missing; expected a text"),
        ({"message": None}, "missing; expected a text"),
        ({"message": ""}, 'expected some text, found ""'),
        ({"message": 42}, "expected a text, found 42"),
    ],
)
def test_a_progress_without_a_message_is_refused(
    task_dir: Path, arguments: dict[str, Any], problem: str
) -> None:
    assert call(task_dir, "report_progress", **arguments) == (
        f"invalid arguments for report_progress at message: {problem}"
    )


# -- ask_orchestrator


def ask(task_dir: Path, say: Callable[[Mailbox, str], object], **arguments: Any) -> Any:
    async def work(client: Client) -> Any:
        acting = asyncio.create_task(answered(task_dir, say))
        result = await client.call_tool("ask_orchestrator", {"question": "Keep it?", **arguments})
        await acting
        return shown(result)

    return with_client(task_dir, work)


def test_nobody_answering_is_no_error_but_an_invitation_to_go_on(task_dir: Path) -> None:
    make_task(task_dir, deadline_ms=1)
    reply = call(task_dir, "ask_orchestrator", question="Keep it?")
    [question] = Mailbox(task_dir).questions()
    assert reply == {"id": question.id, "answered": False, "message": server.NO_ANSWER}
    assert question.state == "expired"


def test_a_question_that_looks_like_json_stays_one(task_dir: Path) -> None:
    make_task(task_dir, deadline_ms=1)
    call(task_dir, "ask_orchestrator", question="[1,2,3]", options=["1", "null"])
    [question] = Mailbox(task_dir).questions()
    assert (question.question, question.options) == ("[1,2,3]", ("1", "null"))


def test_options_that_are_null_are_none(task_dir: Path) -> None:
    reply = ask(task_dir, lambda mailbox, question: mailbox.answer(question, "7"), options=None)
    assert reply["answer"] == "7"


def test_a_rejected_question_is_an_error_with_the_reason(task_dir: Path) -> None:
    reply = ask(
        task_dir, lambda mailbox, question: mailbox.close(question, "rejected", "decide yourself")
    )
    assert reply == "The orchestrator refuses to answer this question: decide yourself"


def test_an_answer_that_stays_unreadable_is_told(
    task_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "GRACE", 0.02)

    def spoil(mailbox: Mailbox, question: str) -> None:
        (mailbox.directory.answers / f"{question}.json").mkdir(parents=True)

    reply = ask(task_dir, spoil)
    assert reply["answered"] is False
    assert "is a folder, not a regular file" in reply["message"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "at question: missing; expected a text"),
        ({"question": ""}, 'at question: expected some text, found ""'),
        ({"question": ["x"]}, "at question: expected a text, found ['x']"),
        ({"question": "x", "options": "yes"}, "at options: expected a list of texts, found 'yes'"),
        ({"question": "x", "options": ["yes", 1]}, "at options[1]: expected a text, found 1"),
    ],
)
def test_what_is_no_question_is_refused_and_not_asked(
    task_dir: Path, arguments: dict[str, Any], problem: str
) -> None:
    found = call(task_dir, "ask_orchestrator", **arguments)
    assert found == f"invalid arguments for ask_orchestrator {problem}"
    assert not (task_dir / "questions").exists()


def test_progress_goes_on_while_a_question_waits(
    task_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PROGRESS_INTERVAL", 0.01)
    told: list[tuple[float, float | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))
        if len(told) == 3:
            await answered(task_dir, lambda mailbox, question: mailbox.answer(question, "yes"))

    async def work(client: Client) -> Any:
        return shown(
            await client.call_tool(
                "ask_orchestrator", {"question": "Keep it?"}, progress_callback=on_progress
            )
        )

    assert with_client(task_dir, work)["answer"] == "yes"
    assert [progress for progress, _ in told] == sorted({progress for progress, _ in told})
    assert all(total is not None and 0 < total <= 600 for _, total in told)


def test_a_mailbox_that_cannot_be_used_is_an_error(task_dir: Path) -> None:
    (task_dir / "questions").write_text("")
    found = call(task_dir, "ask_orchestrator", question="Keep it?")
    assert found.startswith(f"{task_dir / 'questions'}: is not a folder; ")


# -- submit_report


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"status": "done"}, ["at status", "success", "partial", "failed", "blocked", "done"]),
        ({"status": None}, ["at status"]),
        (
            {"findings": [{"title": "x"}]},
            ["at findings[0].severity: a required field is missing; expected 'info', 'low',"],
        ),
        ({"summary": None}, ["at summary"]),
        ({"summary": ""}, ["at summary"]),
        ({"summary": 2024}, ["at summary", "2024"]),
        ({"protocol": "caesar.report/v2"}, ["at protocol", "v2", "caesar.report/v1"]),
        (
            {"changes": [{"path": "a", "action": "moved"}]},
            ["at changes[0].action", "created", "renamed", "moved"],
        ),
        ({"findings": [{"severity": "high", "title": "x", "line": 0}]}, ["findings[0].line"]),
        ({"changes": "src/x.py"}, ["at changes"]),
        ({"task_id": "t_2"}, ["at task_id", "t_2", "t_1"]),
    ],
)
def test_an_invalid_report_is_refused_by_field_and_nothing_is_stored(
    task_dir: Path, change: dict[str, Any], parts: list[str]
) -> None:
    found = call(task_dir, "submit_report", **{**REPORT, **change})
    assert found.startswith("invalid report at ")
    assert [part for part in parts if part not in found] == []
    assert not (task_dir / "report.json").exists()
    assert not (task_dir / "submission.json").exists()


def test_an_empty_report_is_refused(task_dir: Path) -> None:
    assert call(task_dir, "submit_report").splitlines() == [
        "invalid report; what is wrong:",
        '- at protocol: not a caesar document: no protocol field; supported is "caesar.report/v1"',
        (
            "- at status: a required field is missing; expected 'success', 'partial', 'failed' or "
            "'blocked'"
        ),
        "- at summary: a required field is missing",
    ]


def test_every_field_that_is_wrong_is_told_at_once(task_dir: Path) -> None:
    changes = [{"path": number, "action": "moved"} for number in range(2)]
    refused = call(task_dir, "submit_report", **{**REPORT, "status": "done"}, changes=changes)
    assert refused.splitlines() == [
        "invalid report; what is wrong:",
        "- at status: expected 'success', 'partial', 'failed' or 'blocked', found \"done\"",
        "- at changes[0].path: expected a string, found the number 0",
        (
            "- at changes[0].action: expected 'created', 'modified', 'deleted' or 'renamed', "
            'found "moved"'
        ),
    ]


def test_a_corrected_report_is_accepted_and_the_last_one_counts(task_dir: Path) -> None:
    async def work(client: Client) -> list[Any]:
        return [
            shown(await client.call_tool("submit_report", report))
            for report in (
                {**REPORT, "status": "done"},
                {**REPORT, "status": "partial", "summary": "2024", "details": '{"x":1}'},
                {**REPORT, "task_id": "t_1"},
            )
        ]

    refused, *accepted = with_client(task_dir, work)
    assert refused.startswith("invalid report")
    assert accepted == [{"ok": True, "task_id": "t_1"}] * 2
    assert Report.parse((task_dir / "submission.json").read_bytes()).status == "success"


def test_strings_that_look_like_json_stay_strings_in_a_report(task_dir: Path) -> None:
    call(task_dir, "submit_report", **{**REPORT, "summary": "2024", "details": '{"x":1}'})
    report = Report.parse((task_dir / "report.json").read_bytes())
    assert (report.summary, report.details) == ("2024", '{"x":1}')


def test_null_for_an_optional_field_is_absent(task_dir: Path) -> None:
    report = {
        **REPORT,
        "usage": None,
        "changes": None,
        "findings": [{"severity": "low", "title": "x", "file": None, "line": None}],
        "commands_run": [{"command": "make", "exit_code": None}],
    }
    assert call(task_dir, "submit_report", **report) == {"ok": True, "task_id": "t_1"}
    stored = json.loads((task_dir / "report.json").read_text())
    assert "usage" not in stored
    assert stored["findings"] == [{"severity": "low", "title": "x", "detail": ""}]


@pytest.mark.parametrize("status", ["success", "partial", "failed", "blocked"])
def test_every_status_is_accepted(task_dir: Path, status: str) -> None:
    assert call(task_dir, "submit_report", **{**REPORT, "status": status})["ok"]


CHANGE = {"path": "a.txt", "action": "modified", "summary": '["kept"]'}


@pytest.mark.parametrize(
    "fields",
    [
        {
            "changes": json.dumps([CHANGE]),
            "next_steps": '["a", "b"]',
            "usage": '{"input_tokens": 5}',
        },
        {"changes": [json.dumps(CHANGE)], "next_steps": ["a", "b"], "usage": {"input_tokens": 5}},
    ],
)
def test_one_level_of_json_is_decoded_where_an_array_or_object_is_meant(
    task_dir: Path, fields: dict[str, Any]
) -> None:
    assert call(task_dir, "submit_report", **{**REPORT, "summary": "[1]", **fields})["ok"]
    report = Report.parse((task_dir / "report.json").read_bytes())
    assert [change.model_dump(exclude_defaults=True) for change in report.changes] == [CHANGE]
    assert (report.summary, report.next_steps) == ("[1]", ("a", "b"))
    assert report.usage is not None
    assert report.usage.input_tokens == 5


@pytest.mark.parametrize("changes", ['"[]"', "[", '{"path": "a"}', '[{"path": "a", "path": "b"}]'])
def test_what_does_not_decode_to_what_is_meant_is_refused(task_dir: Path, changes: str) -> None:
    assert "at changes" in call(task_dir, "submit_report", **REPORT, changes=changes)


def test_a_blank_question_is_refused(task_dir: Path) -> None:
    told = call(task_dir, "ask_orchestrator", question=" \n")
    assert "expected some text" in told
    assert not (task_dir / "questions").exists()
