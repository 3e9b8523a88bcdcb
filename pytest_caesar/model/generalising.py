"""From what a real model said to a script: calls of one CLI become words for any.

What no word stands for stays a call of the tool by its name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_caesar.model.answer import Answer
from pytest_caesar.model.conversation import ModelRequest, PastTurn
from pytest_caesar.model.handing_in import SUBMIT
from pytest_caesar.model.places import report_file, workspace
from pytest_caesar.model.script import Call, ScriptedModelError, Turn
from pytest_caesar.model.tools import (
    COMMAND,
    CONTENT,
    EDITORS,
    NEW,
    OLD,
    PATH,
    SERVER,
    SHELLS,
    WRITERS,
)
from pytest_caesar.model.words import report_fields

_FENCE = "```json caesar:report\n"


def turns_of(request: ModelRequest, answer: Answer) -> list[Turn]:
    """Return the turns of a whole conversation: its history, and the last answer."""
    said = [_turn(past, request) for past in request.history]
    said.append(_turn(_past(answer), request))
    turns: list[Turn] = []
    for turn in said:
        if turns and turns[-1].report is not None and not turn.acts:
            continue  # the last word after a report that was handed in by a call
        if turns and not turns[-1].acts:
            # What was only said goes with what is done next.
            turn.texts[:0] = turns.pop().texts
        turns.append(turn)
    return [turn for turn in turns if turn.texts or turn.acts]


def _past(answer: Answer) -> PastTurn:
    from pytest_caesar.model.conversation import PastCall  # noqa: PLC0415 - beside its use

    return PastTurn(
        text=answer.text,
        calls=tuple(
            PastCall(id=call.id, name=call.name, namespace=call.namespace, arguments=call.arguments)
            for call in answer.calls
        ),
    )


def _turn(past: PastTurn, request: ModelRequest) -> Turn:
    turn = Turn()
    report = None if past.calls else _report_in(past.text)
    if report is not None:
        turn.report = report
        return turn
    if past.text:
        turn.texts.append(past.text)
    for call in past.calls:
        if isinstance(call.arguments, str):
            given: dict[str, Any] = {"name": call.name, "arguments": call.arguments}
            turn.calls.append(Call(word="tool", given=given))
            continue
        handed_in = _handed_in(call.name, call.arguments, request)
        if handed_in is not None and len(past.calls) == 1:
            turn.report = handed_in
        else:
            turn.calls.append(_call(call.name, call.namespace, call.arguments, request))
    return turn


def _call(
    name: str, namespace: str | None, arguments: Mapping[str, Any], request: ModelRequest
) -> Call:
    called, given = name.lower(), dict(arguments)
    command, path = _first(given, COMMAND), _first(given, PATH)
    if called in SHELLS and isinstance(command, str):
        return Call(word="shell", given={"command": command})
    if isinstance(path, str):
        path = _relative(path, request)
        content = _first(given, CONTENT)
        if called in WRITERS and isinstance(content, str):
            return Call(word="write", given={"path": path, "content": content})
        old, new = _first(given, OLD), _first(given, NEW)
        if called in EDITORS and isinstance(old, str) and isinstance(new, str):
            return Call(word="edit", given={"path": path, "old": old, "new": new})
    if _is_of_channel(name, namespace, "ask_orchestrator"):
        return Call(word="ask", given=given)
    if _is_of_channel(name, namespace, "report_progress"):
        return Call(word="progress", given=given)
    return Call(word="tool", given={"name": name, "arguments": given})


def _handed_in(
    name: str, arguments: Mapping[str, Any], request: ModelRequest
) -> dict[str, Any] | None:
    if name.endswith(SUBMIT):
        return _report(arguments)
    path, content = _first(arguments, PATH), _first(arguments, CONTENT)
    if path is not None and path == report_file(request) and isinstance(content, str):
        return _report_in(content)
    return None


def _report_in(text: str) -> dict[str, Any] | None:
    """Return the report that a message is, or ends with, or None."""
    inner = text
    if _FENCE in text:
        inner = text.rpartition(_FENCE)[2].partition("```")[0]
    try:
        return _report(json.loads(inner))
    except (ValueError, RecursionError):
        return None


def _report(value: object) -> dict[str, Any] | None:
    if not isinstance(value, Mapping) or value.get("protocol") != "caesar.report/v1":
        return None
    fields = {
        name: item
        for name, item in value.items()
        if item is not None and name not in ("protocol", "task_id", "status", "summary")
    }
    try:
        return report_fields(str(value.get("status")), str(value.get("summary")), fields)
    except ScriptedModelError:
        return None


def _is_of_channel(name: str, namespace: str | None, tool: str) -> bool:
    return name.endswith(tool) and SERVER in f"{namespace or ''}{name}"


def _first(given: Mapping[str, Any], names: tuple[str, ...]) -> object:
    return next((given[name] for name in names if name in given), None)


def _relative(path: str, request: ModelRequest) -> str:
    folder = workspace(request)
    return path.removeprefix(f"{folder}/") if folder else path
