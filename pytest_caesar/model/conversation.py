"""What a CLI sent to the model, as one value whatever the wire format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

Api = Literal["responses", "chat", "gemini", "messages"]
"""Wire formats: OpenAI Responses, OpenAI chat completions, Gemini generateContent, Anthropic
messages."""

Json: TypeAlias = dict[str, Any]

_CALL_ID = re.compile(r"call_t(\d+)_(\d+)")
_EXIT_CODES = (
    re.compile(r"^Process exited with code (-?\d+)", re.MULTILINE),  # codex
    re.compile(r"^Exit Code: (-?\d+)", re.MULTILINE),  # Gemini CLI, Qwen Code
    re.compile(r"<(?:shellId: .{0,80} completed|exited) with exit code (-?\d+)>"),  # Copilot CLI
    re.compile(r"^Command exited with code (-?\d+)", re.MULTILINE),  # pi
    re.compile(r"<returncode>(-?\d+)</returncode>"),  # mini-swe-agent
    re.compile(r"^Exit code:? (-?\d+)", re.MULTILINE),
)
"""How CLIs tell their model the exit code of a command."""


def call_id(turn: int, number: int) -> str:
    """Return the id of a scripted call; it says which turn made it."""
    return f"call_t{turn}_{number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """One tool that a request offers to the model.

    Attributes:
        name: as the model has to call it.
        description: in the words of the CLI.
        schema: JSON Schema of its arguments; empty for a tool that takes plain text.
        namespace: a group that the model has to name too, or None.
        takes_text: it takes plain text instead of arguments (``custom`` of Responses).
    """

    name: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    namespace: str | None = None
    takes_text: bool = False

    @property
    def properties(self) -> Mapping[str, Any]:
        """The arguments that it takes, by name."""
        found = self.schema.get("properties")
        return found if isinstance(found, dict) else {}

    @property
    def required(self) -> tuple[str, ...]:
        """The arguments that it wants in any case."""
        found = self.schema.get("required")
        return tuple(str(name) for name in found) if isinstance(found, list) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PastCall:
    """A call of the model that the CLI has carried out, as its history shows it.

    Attributes:
        id: as the model gave it; "" where the wire has none.
        name: of the tool.
        namespace: the group of the tool, or None.
        arguments: an object, or the text of a tool that takes plain text.
        result: what the CLI says came of it; None while there is no result.
    """

    id: str
    name: str
    namespace: str | None = None
    arguments: Mapping[str, Any] | str
    result: str | None = None

    @property
    def exit_code(self) -> int | None:
        """The exit code that the result tells, or None."""
        found = (pattern.search(self.result or "") for pattern in _EXIT_CODES)
        return next((int(match[1]) for match in found if match), None)

    @property
    def command(self) -> str | None:
        """The command line of a call of a shell, or None."""
        if isinstance(self.arguments, str):
            return None
        for name in ("command", "cmd"):
            value = self.arguments.get(name)
            if isinstance(value, str):
                return value
            if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
                return str(value[-1])
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastTurn:
    """What the model said in one turn.

    Attributes:
        text: its words, "" for none.
        calls: in order.
    """

    text: str = ""
    calls: tuple[PastCall, ...] = ()

    @property
    def number(self) -> int | None:
        """The scripted turn that made its calls, where their ids say so."""
        found = (_CALL_ID.fullmatch(call.id) for call in self.calls)
        return next((int(match[1]) for match in found if match), None)


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """One request of a CLI to the model.

    Attributes:
        api: the wire format.
        model: the name that the CLI asked for.
        system: system prompt and developer messages, joined by blank lines.
        users: what the user's side said, each message; a brief, an ``AGENTS.md``.
        tools: by name, in the order of the request; a name that two groups share has its
            group in front (``group.name``).
        schema: JSON Schema that the answer must follow, or None.
        history: every turn of the model so far.
        stream: the answer is to be streamed.
        agent, task: whose request it is, where the address says so; else "".
        program: the CLI, as it calls itself, or "".
        body: the request as it came.
        path: the address that it came to, without agent and task.
    """

    api: Api
    model: str = ""
    system: str = ""
    users: tuple[str, ...] = ()
    tools: Mapping[str, OfferedTool] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    history: tuple[PastTurn, ...] = ()
    stream: bool = False
    agent: str = ""
    task: str = ""
    program: str = ""
    body: Json = field(default_factory=dict, repr=False)
    path: str = ""

    @cached_property
    def calls(self) -> tuple[PastCall, ...]:
        """Every call of the model so far."""
        return tuple(call for turn in self.history for call in turn.calls)

    @cached_property
    def results(self) -> tuple[str, ...]:
        """What came of each call that has a result, in order."""
        return tuple(call.result for call in self.calls if call.result is not None)

    @property
    def last_result(self) -> str:
        """What came of the last call, "" before the first."""
        return self.results[-1] if self.results else ""

    @cached_property
    def turn(self) -> int:
        """The turn that is asked for, from 1: one more than turns with calls in the history."""
        acted = [turn for turn in self.history if turn.calls]
        numbers = {turn.number for turn in acted} - {None}
        unknown = sum(turn.number is None for turn in acted)
        return 1 + len(numbers) + unknown

    @property
    def side(self) -> bool:
        """It offers no tool: a title, a summary, a choice of model; not a turn of the work."""
        return not self.tools

    @property
    def cli(self) -> str:
        """What the CLI is called in messages."""
        return self.agent or self.program or "the CLI"


def tools_by_name(tools: list[OfferedTool]) -> dict[str, OfferedTool]:
    """Return tools by their names; the group leads where two share a name."""
    found: dict[str, OfferedTool] = {}
    for tool in tools:
        name = tool.name
        if name in found and tool.namespace:
            name = f"{tool.namespace}.{name}"
        found[name] = tool
    return found


def with_results(turns: list[PastTurn], results: Mapping[str, str]) -> tuple[PastTurn, ...]:
    """Put results beside their calls, by the ids of the calls."""
    return tuple(
        PastTurn(
            text=turn.text,
            calls=tuple(
                PastCall(
                    id=call.id,
                    name=call.name,
                    namespace=call.namespace,
                    arguments=call.arguments,
                    result=results.get(call.id, call.result),
                )
                for call in turn.calls
            ),
        )
        for turn in turns
    )
