"""The words of a script, as methods that can be chained."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import ValidationError

from caesar_agent.documents.report import Report
from pytest_caesar.model.answer import Usage
from pytest_caesar.model.script import (
    Call,
    Conversation,
    Expectation,
    Fault,
    ScriptedModelError,
    Turn,
    Word,
)

STATUSES = ("success", "partial", "failed", "blocked")


class Words:
    """What can be said of a turn.

    A method starts a new turn where the one before has done something; what is only said
    goes with what is done next. Each returns the turn, for what follows in the same chain.
    """

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    # -- what the model says and does

    def say(self, text: str) -> ScriptedTurn:
        """Say something; as the last turn it is the final message."""
        _check_text("say", text)
        turn = self._open_turn()
        turn.texts.append(text)
        return self._handle(turn)

    def think(self, text: str) -> ScriptedTurn:
        """Show a summary of reasoning, where the wire format has room for one."""
        _check_text("think", text)
        turn = self._open_turn()
        turn.thoughts.append(text)
        return self._handle(turn)

    def shell(self, command: str) -> ScriptedTurn:
        """Run a command line in the CLI's shell."""
        _check_text("shell", command)
        return self._call("shell", command=command)

    def write(self, path: str, content: str) -> ScriptedTurn:
        """Write a file; ``path`` is meant from the workspace."""
        _check_text("write", path)
        return self._call("write", path=path, content=content)

    def edit(self, path: str, old: str, new: str) -> ScriptedTurn:
        """Replace a text in a file, which must be there once."""
        _check_text("edit", path)
        _check_text("edit", old)
        return self._call("edit", path=path, old=old, new=new)

    def ask(self, question: str, options: Iterable[str] = ()) -> ScriptedTurn:
        """Ask the orchestrator over the return channel, and wait for the answer."""
        _check_text("ask", question)
        given: dict[str, Any] = {"question": question}
        if options := list(options):
            given["options"] = options
        return self._call("ask", **given)

    def progress(self, message: str, pct: float | None = None) -> ScriptedTurn:
        """Tell the orchestrator over the return channel how far the work is."""
        _check_text("progress", message)
        given: dict[str, Any] = {"message": message}
        if pct is not None:
            given["pct"] = pct
        return self._call("progress", **given)

    def mcp(self, server: str, tool: str, **arguments: object) -> ScriptedTurn:
        """Call a tool of an MCP server, by the names that the server gives."""
        _check_text("mcp", server)
        _check_text("mcp", tool)
        return self._call("mcp", server=server, tool=tool, arguments=arguments)

    def tool(
        self, name: str, arguments: Mapping[str, object] | str | None = None, **more: object
    ) -> ScriptedTurn:
        """Call a tool by the very name and arguments of the CLI.

        Args:
            name: as the request offers it.
            arguments: an object; or text, for a tool that takes plain text.
            more: arguments whose names are names of Python.
        """
        _check_text("tool", name)
        given = arguments if isinstance(arguments, str) else {**(arguments or {}), **more}
        return self._call("tool", name=name, arguments=given)

    def report(self, status: str, summary: str, **fields: object) -> ScriptedTurn:
        """Hand in a report, by the best way that the request allows.

        Args:
            status: ``success``, ``partial``, ``failed`` or ``blocked``.
            summary: one sentence.
            fields: more of the report, such as ``changes`` (each a path, which counts as
                modified; a pair of path and action; or an object) or ``next_steps``.

        Raises:
            ScriptedModelError: it would not be a report.
        """
        turn = self._open_turn()
        turn.report = report_fields(status, summary, fields)
        return self._handle(turn)

    def together(self, *turns: ScriptedTurn) -> ScriptedTurn:
        """Make one turn of the calls of several: ``together(m.shell("a"), m.shell("b"))``."""
        given = [turn.turn for turn in turns]
        if len(given) < 2 or any(turn.report is not None or not turn.calls for turn in given):
            raise ScriptedModelError(
                problem="together() takes two or more turns with calls, such as "
                "together(model.shell('a'), model.shell('b'))"
            )
        known = self._conversation.turns
        if known[-len(given) :] != given:
            raise ScriptedModelError(
                problem="together() takes the turns that were scripted just before it, in order"
            )
        first, *rest = given
        for turn in rest:
            first.texts += turn.texts
            first.thoughts += turn.thoughts
            first.calls += turn.calls
            first.faults += turn.faults
            first.expectations += turn.expectations
            first.pause = max(first.pause, turn.pause)
        del known[-len(rest) :]
        return self._handle(first)

    # -- making turns

    def _open_turn(self) -> Turn:
        """Return the turn that more can be added to: the last one while it has done nothing."""
        turns = self._conversation.turns
        if not turns or turns[-1].acts:
            turns.append(Turn())
        return turns[-1]

    def _call(self, word: Word, **given: object) -> ScriptedTurn:
        turn = self._open_turn()
        turn.calls.append(Call(word=word, given=given))
        return self._handle(turn)

    def _handle(self, turn: Turn) -> ScriptedTurn:
        return ScriptedTurn(self._conversation, turn)


class ScriptedTurn(Words):
    """A turn that was scripted: what is expected of it, and what goes wrong with it."""

    def __init__(self, conversation: Conversation, turn: Turn) -> None:
        super().__init__(conversation)
        self.turn = turn

    def expect(self, expectation: Expectation) -> ScriptedTurn:
        """Ask something of the request for this turn; what is false, or raises, fails the test."""
        if not callable(expectation):
            raise ScriptedModelError(
                problem=f"expect() takes a function of the request, found {expectation!r:.60}"
            )
        self.turn.expectations.append(expectation)
        return self

    def fail(
        self, status: int = 500, *, times: int | None = None, message: str = ""
    ) -> ScriptedTurn:
        """Answer requests for this turn with an HTTP status: the first ``times``, or all."""
        if isinstance(status, bool) or not 400 <= status <= 599:
            raise ScriptedModelError(
                problem=f"fail({status!r}): expected an HTTP status of 400 to 599"
            )
        return self._fault(Fault(kind="fail", status=status, times=times, message=message))

    def cut(
        self,
        where: Literal["start", "mid"] = "start",
        *,
        abrupt: bool = False,
        times: int | None = None,
    ) -> ScriptedTurn:
        """Stop the answer before its first word or half way; ``abrupt`` breaks the connection."""
        if where not in ("start", "mid"):
            raise ScriptedModelError(problem=f'cut({where!r}): expected "start" or "mid"')
        return self._fault(Fault(kind="cut", where=where, abrupt=abrupt, times=times))

    def malformed(self, *, times: int | None = None) -> ScriptedTurn:
        """Answer with what is not JSON."""
        return self._fault(Fault(kind="malformed", times=times))

    def slow(self, seconds: float) -> ScriptedTurn:
        """Wait before each chunk of the answer."""
        if isinstance(seconds, bool) or not 0 <= seconds < math.inf:
            raise ScriptedModelError(problem=f"slow({seconds!r}): expected seconds, zero or more")
        self.turn.pause = float(seconds)
        return self

    def usage(self, input_tokens: int, output_tokens: int) -> ScriptedTurn:
        """Say what the answer cost, in tokens."""
        self.turn.usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
        return self

    def _fault(self, fault: Fault) -> ScriptedTurn:
        if fault.times is not None and fault.times < 1:
            raise ScriptedModelError(problem=f"times={fault.times!r}: expected one or more")
        self.turn.faults.append(fault)
        return self


def report_fields(status: str, summary: str, fields: Mapping[str, object]) -> dict[str, Any]:
    """Return a report as an object, checked.

    Raises:
        ScriptedModelError: it would not be a report.
    """
    if status not in STATUSES:
        raise ScriptedModelError(
            problem=f"report({status!r}): expected one of {', '.join(STATUSES)}"
        )
    given = {"protocol": "caesar.report/v1", "status": status, "summary": summary, **fields}
    if "changes" in given:
        given["changes"] = [_change(change) for change in _listed(given["changes"])]
    try:
        Report.model_validate(given)
    except ValidationError as error:
        told = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()
        )
        raise ScriptedModelError(problem=f"report(): {told}") from error
    return given


def _listed(value: object) -> list[object]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ScriptedModelError(problem=f"changes={value!r:.60}: expected a list")
    return list(value)


def _change(change: object) -> object:
    if isinstance(change, str):
        return {"path": change, "action": "modified"}
    if isinstance(change, tuple) and len(change) == 2:
        return {"path": change[0], "action": change[1]}
    return change


def _check_text(word: str, text: object) -> None:
    if not isinstance(text, str) or not text:
        raise ScriptedModelError(problem=f"{word}({text!r:.60}): expected a text that is not empty")
