"""Playing a script: a request in, an answer, a fault or a refusal out. No I/O."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, replace

from caesar_agent.console import one_line
from pytest_caesar.model.answer import Answer, Usage
from pytest_caesar.model.conversation import ModelRequest
from pytest_caesar.model.handing_in import SUBMIT, hand_in
from pytest_caesar.model.places import placed
from pytest_caesar.model.schemas import smallest
from pytest_caesar.model.script import Conversation, Fault, Script, Turn
from pytest_caesar.model.tools import NoSuchTool, use_tool
from pytest_caesar.model.wires.untrusted import compact

MAX_REQUESTS = 60
"""Requests of one task before the CLI is told to stop: some ask for ever after a cut stream."""

NO_REQUEST = (
    "no request reached the model: known CLIs are pointed at it, another agent finds it in "
    "$OPENAI_BASE_URL, $ANTHROPIC_BASE_URL or {{modelUrl}}"
)
"""Why nothing of a script was asked for."""

_NOT_ACCEPTED = ("invalid", "refused", "not accepted")
_UNSUPPORTED = "unsupported call"
"""How codex answers a call of a tool that it does not have (yet)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """An answer to give.

    Attributes:
        answer: what the model says.
        pause: seconds before each chunk.
        fault: what goes wrong with it instead, or None.
    """

    answer: Answer
    pause: float = 0.0
    fault: Fault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A request that the script has no answer for. CLIs do not repeat an HTTP 400."""

    message: str


class Player:
    """Plays one script to any number of conversations at once.

    Which turn is asked for is in the request, so nothing is kept but what a verdict needs:
    the requests, how far each conversation came, and how often a turn with a fault was
    asked for.

    Args:
        script: what is played; it may still grow.
        max_requests: of one task.
    """

    def __init__(self, script: Script, *, max_requests: int = MAX_REQUESTS) -> None:
        self.script = script
        self.max_requests = max_requests
        self.requests: list[ModelRequest] = []
        self.used: dict[str, list[tuple[str, Usage]]] = {}
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._attempts: Counter[tuple[str, int, int]] = Counter()
        self._reached: dict[int, int] = {}
        self._failures: dict[str, str] = {}

    def answer(self, request: ModelRequest) -> Said | Refused:
        """Return what the model says to a request; what goes wrong is kept for the verdict."""
        with self._lock:
            key = _key(request)
            said = self._said(key, request)
            if self._counts[key] <= self.max_requests:
                self.requests.append(request)  # what a CLI that asks for ever sends is not kept
            if isinstance(said, Said) and said.fault is None:
                self.used.setdefault(request.task, []).append((request.model, said.answer.usage))
            return said

    def _said(self, key: str, request: ModelRequest) -> Said | Refused:
        self._counts[key] += 1
        if self._counts[key] > self.max_requests:
            return self._refuse(
                key, f"{self.max_requests} requests for one task: the CLI asks for ever"
            )
        if key in self._failures:
            return self._refuse(key, self._failures[key])
        if request.side:
            return Said(answer=aside(request))
        return self._turn(key, request)

    def judge(self, *, stopped: bool = False) -> str | None:
        """Return why a test fails, in one message, or None.

        Args:
            stopped: the agent was stopped on purpose, so that it may have left out turns.
        """
        with self._lock:
            failures = list(dict.fromkeys(self._failures.values()))
            failures = failures or ([] if stopped else [*self._never_asked_for()])
        return "\n".join(f"caesar_model: {failure}" for failure in failures) or None

    # -- one turn

    def _turn(self, key: str, request: ModelRequest) -> Said | Refused:
        conversation = self.script.conversation(request)
        number, turns = request.turn, conversation.turns
        problem = _unsupported(request)
        if problem:
            return self._refuse(key, f"{conversation}{problem}")
        if 1 < number <= len(turns) + 1 and turns[number - 2].report is not None:
            return self._last_word(key, request, conversation)
        if number > len(turns):
            last = request.last_result
            heard = f" Last the CLI said: {_shown(last)}." if last else ""
            return self._refuse(
                key,
                f"{conversation}the model was asked for turn {number}, and the script has "
                f"{len(turns)}.{heard} Add a turn, or end with report(…)",
            )
        turn = turns[number - 1]
        self._reached[id(conversation)] = max(number, self._reached.get(id(conversation), 0))
        for expectation in turn.expectations:
            problem = _unmet(expectation, request)
            if problem:
                return self._refuse(key, f"{conversation}turn {number}: {problem}")
        place = (key, id(conversation), number)
        fault = turn.fault(self._attempts[place])
        self._attempts[place] += 1
        try:
            answer = play(turn, number, request)
        except NoSuchTool as missing:
            return self._refuse(
                key, f"{conversation}turn {number}: {no_tool_for(missing, request)}"
            )
        return Said(answer=answer, pause=turn.pause, fault=fault)

    def _last_word(
        self, key: str, request: ModelRequest, conversation: Conversation
    ) -> Said | Refused:
        """End a conversation whose report was handed in by a call."""
        refusal = _refused_report(request)
        if refusal:
            told = f"turn {request.turn - 1}: the report was refused: {refusal}"
            return self._refuse(key, f"{conversation}{told}")
        return Said(answer=Answer(turn=request.turn, texts=("The report is handed in.",)))

    def _refuse(self, key: str, message: str) -> Refused:
        self._failures.setdefault(key, message)
        return Refused(message=f"caesar_model: {self._failures[key]}")

    def _never_asked_for(self) -> list[str]:
        found = []
        nothing = "" if self.requests else f" ({NO_REQUEST})"
        for conversation in self.script:
            reached, known = self._reached.get(id(conversation), 0), len(conversation.turns)
            if reached < known:
                missing = (
                    f"turn {known} was"
                    if reached + 1 == known
                    else f"turns {reached + 1} to {known} were"
                )
                found.append(f"{conversation}{missing} never asked for{nothing}")
        return found


def play(turn: Turn, number: int, request: ModelRequest) -> Answer:
    """Return what the model says in a turn, in the terms of a request.

    Raises:
        NoSuchTool: the request offers none for a call.
    """
    texts = tuple(placed(text, request) for text in turn.texts)
    thought = placed("\n\n".join(turn.thoughts), request)
    if turn.report is not None:
        way = hand_in(placed(turn.report, request), request)
        if way.use is not None:
            handing = (way.use.as_call(number, 1),)
            return _answer(number, turn.usage, texts=texts, thought=thought, calls=handing)
        if way.alone and request.api != "responses":
            texts = ()  # formats with one message have no room beside the report
        return _answer(number, turn.usage, texts=(*texts, way.text), thought=thought)
    calls = tuple(
        use_tool(replace(call, given=placed(call.given, request)), request).as_call(number, index)
        for index, call in enumerate(turn.calls, 1)
    )
    return _answer(number, turn.usage, texts=texts, thought=thought, calls=calls)


def _answer(number: int, usage: Usage, **said: object) -> Answer:
    return Answer(turn=number, usage=usage, **said)  # type: ignore[arg-type]


def aside(request: ModelRequest) -> Answer:
    """Answer a request that is no turn of the work: a title, or the smallest value of its schema."""
    text = "Scripted" if request.schema is None else compact(smallest(request.schema))
    return Answer(turn=0, texts=(text,))


def no_tool_for(missing: NoSuchTool, request: ModelRequest) -> str:
    """Say that a request offers no tool for a call, and which it does offer."""
    offered = ", ".join(request.tools)
    return f"{request.cli} offers no tool for {missing.call}; it offers: {one_line(offered, limit=400)}"


def _key(request: ModelRequest) -> str:
    """Return whose request it is: the task that its address names, else its first message."""
    return request.task or "\n".join(request.users[:1])


def _unsupported(request: ModelRequest) -> str | None:
    last = request.history[-1] if request.history else None
    for call in last.calls if last else ():
        if (call.result or "").startswith(_UNSUPPORTED):
            turn = last.number if last and last.number else request.turn - 1
            return (
                f"turn {turn}: {request.cli} has no tool {call.name!r}: it answered "
                f"{_shown(call.result or '')}"
            )
    return None


def _unmet(expectation: object, request: ModelRequest) -> str | None:
    """Return what is wrong with what a script expects, or None."""
    try:
        met = expectation(request)  # type: ignore[operator]
    except Exception as error:  # noqa: BLE001 - a test's own assertion, told as its failure
        told = str(error) or "it raised"
        return f"expect() failed: {type(error).__name__}: {one_line(told, limit=400)}"
    if met or met is None:
        return None
    last = request.last_result
    heard = f"; the last result was {_shown(last)}" if last else "; there was no result yet"
    return f"expect() does not hold{heard}"


def _refused_report(request: ModelRequest) -> str:
    """Return what the channel said of a report that it did not take, else ""."""
    last = request.calls[-1] if request.calls else None
    if last is None or not last.name.endswith(SUBMIT):
        return ""
    result = last.result or ""
    refused = any(word in result.lower() for word in _NOT_ACCEPTED)
    return _shown(result) if refused else ""


def _shown(text: str) -> str:
    return repr(one_line(text.strip(), limit=120))
