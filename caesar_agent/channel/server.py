"""The return channel: an MCP server on stdio, over the files of one task directory.

Everything is on disk, so that the server can be killed at any moment, and so that
an agent which knows no MCP asks and submits through the same files.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.lowlevel import Server

from caesar_agent.channel import arguments
from caesar_agent.channel.tools import DESCRIPTIONS, INPUT_SCHEMAS
from caesar_agent.channel.transport import Traffic, Wire, connect
from caesar_agent.clock import monotonic
from caesar_agent.console import one_line
from caesar_agent.documents.task import Task
from caesar_agent.errors import CaesarError, DocumentError
from caesar_agent.events.log import EventLog
from caesar_agent.mailbox.mailbox import Mailbox, polling_interval
from caesar_agent.mailbox.question_events import MailboxEvents
from caesar_agent.mailbox.values import Answer, Reply, Silence
from caesar_agent.task_directory import TaskDirectory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.context import ServerRequestContext

    Context = ServerRequestContext[Any, Any]

NAME = "caesar-channel"
"""How the server introduces itself."""

UNANSWERABLE = "request-unanswerable"
"""Code of such an event, and of the diagnostic that an orchestrator makes of it."""

MAX_REFUSAL = 2000
"""Characters of an event that tells why a call was refused."""

PROGRESS_INTERVAL = 5.0
"""Seconds between two progress notifications while a question waits; many clients give
a call up after a minute without any."""

NO_ANSWER = (
    "Nobody answered in time. Go on by your own best judgement, "
    "and do not wait for an answer to this question any longer."
)
"""What is told to an agent whose question stays without an answer."""


def serve(directory: TaskDirectory, wire: Wire) -> None:
    """Serve one client until it closes its end."""
    asyncio.run(_serve(directory, wire))


async def _serve(directory: TaskDirectory, wire: Wire) -> None:
    traffic = Traffic()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        # As at the end of the input: the question that waits is withdrawn first.
        loop.add_signal_handler(number, traffic.closing.set)
    channel = ChannelServer(directory, traffic)
    server = channel.server
    async with connect(wire, traffic, on_unanswerable=channel.note_unanswerable) as (
        incoming,
        outgoing,
    ):
        await server.run(incoming, outgoing, server.create_initialization_options())


class ChannelServer:
    """The four tools over one task directory.

    Args:
        directory: the task directory.
        traffic: tells when the client is gone.

    Attributes:
        server: the server of the ``mcp`` package that offers them.
    """

    def __init__(self, directory: TaskDirectory, traffic: Traffic) -> None:
        self._directory = directory
        self._mailbox = Mailbox(directory)
        self._events = EventLog(directory.events_file)
        self._closing = traffic.closing
        self.server: Server[Any] = Server(
            NAME, version=_version(), on_list_tools=self._list, on_call_tool=self._call
        )

    def note_unanswerable(self, problem: str) -> None:
        """Tell whoever reads the events of a request whose answer its client cannot match."""
        with suppress(CaesarError, OSError):
            message = f"a request over the channel could not be answered: {one_line(problem)}"
            self._events.append(
                type="error", task_id=self._mailbox.task_id, message=message, code=UNANSWERABLE
            )

    async def _list(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=name,
                    description=description,
                    input_schema=INPUT_SCHEMAS[name],
                    execution=types.ToolExecution(task_support="forbidden"),
                )
                for name, description in DESCRIPTIONS.items()
            ]
        )

    async def _call(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        given = params.arguments or {}
        try:
            match params.name:
                case "get_task":
                    return _result(self._get_task())
                case "report_progress":
                    return _result(self._report_progress(given))
                case "ask_orchestrator":
                    return await self._ask(context, given)
                case "submit_report":
                    return _result(self._submit_report(given))
        except CaesarError as error:
            return self._refuse(params.name, str(error))
        except RecursionError:
            problem = f"the arguments of {params.name} are nested too deeply"
            return self._refuse(params.name, problem)
        except OSError as error:
            return _failure(f"the task directory cannot be used: {error}")
        tools = ", ".join(DESCRIPTIONS)
        return _failure(f"there is no tool {params.name!r:.100}; the tools are {tools}")

    def _refuse(self, tool: str, problem: str) -> types.CallToolResult:
        """Tell the caller, and whoever reads the events, that a call was not taken."""
        with suppress(CaesarError, OSError):
            message = f"{tool} was refused: {one_line(problem, limit=MAX_REFUSAL)}"
            self._events.append(type="error", task_id=self._mailbox.task_id, message=message)
        return _failure(problem)

    def _task(self) -> Task:
        reading = self._directory.read_task()
        if reading.data is None:
            problem = reading.problem.message if reading.problem else "it is not there"
            raise DocumentError(kind="task", code="unreadable", where="", problem=problem)
        return Task.parse(reading.data)

    def _get_task(self) -> dict[str, Any]:
        return self._task().dump()

    def _report_progress(self, given: Mapping[str, Any]) -> dict[str, Any]:
        message = arguments.text("report_progress", given, "message")
        pct = arguments.percentage("report_progress", given, "pct")
        fields = {"message": message} if pct is None else {"message": message, "pct": pct}
        self._events.append(type="progress", task_id=self._mailbox.task_id, **fields)
        return {"ok": True}

    def _submit_report(self, given: Mapping[str, Any]) -> dict[str, Any]:
        report = arguments.report(given)
        self._mailbox.submit(report)
        return {"ok": True, "task_id": report.task_id or self._mailbox.task_id}

    async def _ask(self, context: Context, given: Mapping[str, Any]) -> types.CallToolResult:
        question = arguments.text("ask_orchestrator", given, "question")
        options = arguments.texts("ask_orchestrator", given, "options")

        def announce(question_id: str) -> None:
            events = MailboxEvents(self._directory, task_id=self._mailbox.task_id, log=self._events)
            problem = events.add_question(question_id, question, options)
            if problem:
                print(f"{NAME}: the question is not in the event log: {problem}", file=sys.stderr)

        question_id = self._mailbox.ask(question, options, announce=announce)
        try:
            reply = await self._wait(context, question_id)
        except asyncio.CancelledError:
            # Whoever would answer now must hear that nobody listens any more.
            self._mailbox.withdraw(question_id)
            raise
        return _tell_reply(reply)

    async def _wait(self, context: Context, question_id: str) -> Reply:
        longest = self._mailbox.longest_wait()
        start = monotonic()
        told = -PROGRESS_INTERVAL
        while (reply := self._mailbox.poll(question_id)) is None:
            waited = monotonic() - start
            if self._closing.is_set():
                return self._mailbox.withdraw(question_id)
            if waited >= longest:
                return self._mailbox.expire(question_id)
            if waited - told >= PROGRESS_INTERVAL:
                told = waited
                # Nothing is sent where the client did not ask for progress.
                await context.session.report_progress(
                    round(waited, 3), round(longest, 3), "waiting for the orchestrator's answer"
                )
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(
                    self._closing.wait(), min(polling_interval(waited), max(0.0, longest - waited))
                )
        return reply


def _tell_reply(reply: Reply) -> types.CallToolResult:
    if isinstance(reply, Answer):
        return _result({"id": reply.id, "answered": True, "answer": reply.text})
    if reply.reason == "rejected":
        return _failure(
            "The orchestrator refuses to answer this question"
            + (f": {reply.detail}" if reply.detail else ". Go on without an answer, or report.")
        )
    return _result({"id": reply.id, "answered": False, "message": _silence(reply)})


def _silence(silence: Silence) -> str:
    if silence.reason != "unreadable":
        return NO_ANSWER
    return f"{NO_ANSWER} (There is an answer that cannot be read: {silence.detail})"


def _result(value: dict[str, Any]) -> types.CallToolResult:
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=value)


def _failure(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def _version() -> str:
    try:
        return version("pytest-caesar")
    except PackageNotFoundError:  # run from a copy of the sources
        return "0"
