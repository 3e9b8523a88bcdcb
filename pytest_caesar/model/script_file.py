"""A script as JSON: to be served by itself, to be recorded, reviewed and edited.

::

    {
      "turns": [
        {"say": "Looking.", "calls": [{"shell": {"command": "pytest -q"}}]},
        {"calls": [{"write": {"path": "a.txt", "content": "…"}}], "faults": [{"fail": 429, "times": 1}]},
        {"report": {"status": "success", "summary": "Done."}}
      ],
      "on": [{"text": "Write the tests", "turns": [{"say": "Fine."}]}]
    }
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_caesar.model.answer import Usage
from pytest_caesar.model.script import Conversation, Script, ScriptedModelError, Turn
from pytest_caesar.model.words import ScriptedTurn, Words

_TURN = frozenset({"say", "think", "calls", "report", "faults", "slow", "usage"})
_WORDS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "shell": (frozenset({"command"}), frozenset()),
    "write": (frozenset({"path", "content"}), frozenset()),
    "edit": (frozenset({"path", "old", "new"}), frozenset()),
    "ask": (frozenset({"question"}), frozenset({"options"})),
    "progress": (frozenset({"message"}), frozenset({"pct"})),
    "mcp": (frozenset({"server", "tool"}), frozenset({"arguments"})),
    "tool": (frozenset({"name"}), frozenset({"arguments"})),
}
"""The words, with the arguments that they need and those that they may have."""


def read_script(text: str | bytes) -> Script:
    """Read a script from JSON.

    Raises:
        ScriptedModelError: it is not one; the message names the place.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ScriptedModelError(problem=f"not JSON: {error}") from error
    return script_of(value)


def script_of(value: object) -> Script:
    """Return the script that a value describes; errors as ``read_script``."""
    told = _object(value, "the script", {"turns", "on", "brief", "version"})
    script = Script()
    _turns(script.main, told.get("turns"), "turns")
    for index, other in enumerate(_list(told.get("on", []), "on")):
        place = f"on[{index}]"
        part = _object(other, place, {"text", "turns"})
        match = part.get("text")
        if not isinstance(match, str) or not match:
            raise ScriptedModelError(problem=f"{place}.text: expected a text of the brief")
        conversation = Conversation(match=match)
        _turns(conversation, part.get("turns"), f"{place}.turns")
        script.others.append(conversation)
    return script


def script_value(script: Script) -> dict[str, Any]:
    """Return a script as JSON values; what is expected of requests is left out."""
    value: dict[str, Any] = {"turns": [_turn_value(turn) for turn in script.main.turns]}
    if script.others:
        value["on"] = [
            {"text": other.match, "turns": [_turn_value(turn) for turn in other.turns]}
            for other in script.others
        ]
    return value


# --- reading ---------------------------------------------------------------------------


def _turns(conversation: Conversation, value: object, place: str) -> None:
    for index, told in enumerate(_list(value, place)):
        where = f"{place}[{index}]"
        part = _object(told, where, _TURN)
        turn = Turn()
        conversation.turns.append(turn)
        try:
            _fill(turn, part, where)
        except ScriptedModelError as error:
            if error.problem.startswith(place):
                raise
            raise ScriptedModelError(problem=f"{where}: {error.problem}") from error
        if not (turn.texts or turn.acts):
            raise ScriptedModelError(problem=f"{where}: expected say, calls or report")


def _fill(turn: Turn, part: dict[str, Any], where: str) -> None:
    # Through the words, so that a file is held to the same rules.
    words = ScriptedTurn(Conversation(turns=[turn]), turn)
    for name in ("say", "think"):
        texts = part.get(name, [])
        for text in [texts] if isinstance(texts, str) else _list(texts, f"{where}.{name}"):
            getattr(words, name)(text)
    for index, call in enumerate(_list(part.get("calls", []), f"{where}.calls")):
        _call(turn, call, f"{where}.calls[{index}]")
    if "report" in part:
        if turn.calls:
            raise ScriptedModelError(problem=f"{where}: a report is a turn of its own")
        report = dict(_object(part["report"], f"{where}.report", None))
        report.pop("protocol", None)
        status, summary = report.pop("status", None), report.pop("summary", None)
        words.report(str(status), summary if isinstance(summary, str) else "", **report)
    if "slow" in part:
        words.slow(_number(part["slow"], f"{where}.slow"))
    if "usage" in part:
        tokens = _object(part["usage"], f"{where}.usage", {"input_tokens", "output_tokens"})
        turn.usage = Usage(**{name: int(_number(n, where)) for name, n in tokens.items()})
    for index, fault in enumerate(_list(part.get("faults", []), f"{where}.faults")):
        _fault(words, fault, f"{where}.faults[{index}]")


def _call(turn: Turn, value: object, where: str) -> None:
    told = _object(value, where, set(_WORDS))
    if len(told) != 1:
        raise ScriptedModelError(problem=f"{where}: expected one word, found {len(told)}")
    ((word, given),) = told.items()
    needed, possible = _WORDS[word]
    arguments = _object(given, f"{where}.{word}", needed | possible)
    missing = sorted(needed - set(arguments))
    if missing:
        raise ScriptedModelError(problem=f"{where}.{word}: {missing[0]} is missing")
    conversation = Conversation()
    more = arguments.pop("arguments", {}) if word in ("mcp", "tool") else {}
    words = Words(conversation)
    if word == "tool":
        words.tool(arguments["name"], more)
    elif word == "mcp":
        named = _object(more, f"{where}.mcp.arguments", None)
        words.mcp(arguments["server"], arguments["tool"], **named)
    else:
        getattr(words, word)(**arguments)
    turn.calls += conversation.turns[0].calls


def _fault(words: ScriptedTurn, value: object, where: str) -> None:
    told = _object(value, where, {"fail", "message", "cut", "abrupt", "malformed", "times"})
    times = told.get("times")
    if times is not None and (isinstance(times, bool) or not isinstance(times, int)):
        raise ScriptedModelError(problem=f"{where}.times: expected a whole number")
    if "fail" in told:
        status = int(_number(told["fail"], f"{where}.fail"))
        words.fail(status, times=times, message=str(told.get("message", "")))
    elif "cut" in told:
        words.cut(told["cut"], abrupt=told.get("abrupt") is True, times=times)
    elif told.get("malformed") is True:
        words.malformed(times=times)
    else:
        raise ScriptedModelError(problem=f"{where}: expected fail, cut or malformed")


def _object(value: object, where: str, known: set[str] | frozenset[str] | None) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ScriptedModelError(problem=f"{where}: expected an object, found {value!r:.60}")
    odd = [] if known is None else sorted(set(value) - known)
    if odd:
        raise ScriptedModelError(
            problem=f"{where}: unknown {odd[0]!r:.60}; known are {', '.join(sorted(known or ()))}"
        )
    return dict(value)


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ScriptedModelError(problem=f"{where}: expected a list, found {value!r:.60}")
    return value


def _number(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ScriptedModelError(problem=f"{where}: expected a number, found {value!r:.60}")
    return value


# --- writing ---------------------------------------------------------------------------


def _turn_value(turn: Turn) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for name, texts in (("say", turn.texts), ("think", turn.thoughts)):
        if texts:
            value[name] = texts[0] if len(texts) == 1 else list(texts)
    if turn.calls:
        value["calls"] = [{call.word: dict(call.given)} for call in turn.calls]
    if turn.report is not None:
        value["report"] = {name: item for name, item in turn.report.items() if name != "protocol"}
    if turn.pause:
        value["slow"] = turn.pause
    if turn.usage != Usage():
        value["usage"] = {
            "input_tokens": turn.usage.input_tokens,
            "output_tokens": turn.usage.output_tokens,
        }
    if turn.faults:
        value["faults"] = [
            {
                **(
                    {"fail": fault.status}
                    if fault.kind == "fail"
                    else {"cut": fault.where, "abrupt": fault.abrupt}
                    if fault.kind == "cut"
                    else {"malformed": True}
                ),
                **({} if fault.times is None else {"times": fault.times}),
                **({"message": fault.message} if fault.message else {}),
            }
            for fault in turn.faults
        ]
    return value
