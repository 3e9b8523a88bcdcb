"""A script: what the model does, turn by turn, in the words of the task and not of a CLI."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from caesar_agent.errors import CaesarError
from pytest_caesar.model.answer import Usage
from pytest_caesar.model.conversation import ModelRequest

Word = Literal["shell", "write", "edit", "ask", "progress", "mcp", "tool"]
Expectation = Callable[[ModelRequest], object]


class ScriptedModelError(CaesarError, ValueError):
    """A script that cannot be meant.

    Attributes:
        problem: what was found and what was expected.
    """

    __module__ = "pytest_caesar"

    problem: str

    def message(self) -> str:
        """Return the problem as it is shown."""
        return f"invalid script of the model: {self.problem}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One thing that the model has done, before it is known what the CLI calls it.

    Attributes:
        word: what is done.
        given: its arguments, by the names of the word.
    """

    word: Word
    given: Mapping[str, Any]

    def __str__(self) -> str:
        name, value = next(iter(self.given.items()), ("", ""))
        shown = repr(value)
        return f"{self.word}({name}={shown if len(shown) <= 60 else shown[:57] + '…'})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong instead of an answer.

    Attributes:
        kind: ``fail`` answers with a status, ``cut`` stops the answer half way,
            ``malformed`` sends what is not JSON.
        times: how many requests for the turn it hits; None for every one.
        status: of ``fail``.
        message: of ``fail``.
        where: of ``cut``: before the first word, or in the midst.
        abrupt: of ``cut``: the connection breaks, instead of a proper end.
    """

    kind: Literal["fail", "cut", "malformed"]
    times: int | None = None
    status: int = 500
    message: str = ""
    where: Literal["start", "mid"] = "start"
    abrupt: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class Turn:
    """One turn: what is said, then what is done, or the report.

    Attributes:
        texts, thoughts: in order.
        calls: carried out in one turn.
        report: the fields of the report to hand in, or None.
        faults: the first of them hit the first requests for this turn.
        expectations: asked of the request that asks for this turn.
        pause: seconds before each chunk of the answer.
        usage: what the answer says it cost.
    """

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    report: dict[str, Any] | None = None
    faults: list[Fault] = field(default_factory=list)
    expectations: list[Expectation] = field(default_factory=list)
    pause: float = 0.0
    usage: Usage = field(default_factory=Usage)

    @property
    def acts(self) -> bool:
        """It has a call, or hands in: what is said next belongs to another turn."""
        return bool(self.calls) or self.report is not None

    def fault(self, attempt: int) -> Fault | None:
        """Return what goes wrong at one attempt, counted from 0."""
        for fault in self.faults:
            if fault.times is None or attempt < fault.times:
                return fault
            attempt -= fault.times
        return None


@dataclass(slots=True, kw_only=True, eq=False)
class Conversation:
    """The turns of one conversation.

    Attributes:
        match: a text that a message of the user must hold; None for every other conversation.
        turns: in order.
    """

    match: str | None = None
    turns: list[Turn] = field(default_factory=list)

    def is_for(self, request: ModelRequest) -> bool:
        """Tell whether a request belongs to it."""
        return self.match is None or any(self.match in said for said in request.users)

    def __str__(self) -> str:
        return "" if self.match is None else f"on({self.match!r}): "


@dataclass(slots=True, eq=False)
class Script:
    """All that the model was told to do: the main conversation, and those for some texts."""

    main: Conversation = field(default_factory=Conversation)
    others: list[Conversation] = field(default_factory=list)

    def __iter__(self) -> Iterator[Conversation]:
        return iter((*self.others, self.main))

    def conversation(self, request: ModelRequest) -> Conversation:
        """Return the conversation that a request belongs to: the first that fits, else the main one."""
        return next(found for found in self if found.is_for(request))
