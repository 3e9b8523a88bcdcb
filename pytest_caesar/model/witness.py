"""What a scripted model knows of an agent's work: it is told what came of every call; pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pytest_caesar.model.answer import Usage as Answered
from pytest_caesar.model.conversation import ModelRequest, PastCall
from pytest_caesar.recovery.tool_call import CallLog, ToolCall
from pytest_caesar.recovery.usage import Usage, added, usage


def calls_seen(requests: Iterable[ModelRequest], task: str) -> tuple[ToolCall, ...]:
    """Return the calls that a CLI has carried out for one task, as its requests tell.

    Each request repeats the history of its conversation, a sub-agent's too: a call counts
    once, by its id, or by its place where the wire has no ids.

    Args:
        requests: in the order of their arrival.
        task: whose; requests of others are passed over.
    """
    log = CallLog()
    seen: set[tuple[object, ...]] = set()
    for request in requests:
        if request.task != task:
            continue
        for place, turn in enumerate(request.history):
            for number, call in enumerate(turn.calls):
                key = (call.id,) if call.id else (place, number, call.name, str(call.arguments))
                if key in seen or call.result is None:
                    continue
                seen.add(key)
                _note(log, str(key), call)
    return log.calls


def used_for(answers: Iterable[tuple[str, Answered]]) -> Usage:
    """Return what the answers of the model cost together; of none, nothing is known."""
    parts: dict[str, list[Usage]] = {}
    for model, told in list(answers):
        parts.setdefault(model, []).append(
            usage(
                input_tokens=told.input_tokens,
                output_tokens=told.output_tokens,
                turns=1,
                source="model",
            )
        )
    by_model = {model: added(used) for model, used in parts.items()}
    return replace(added(by_model.values()), by_model=by_model)


def _note(log: CallLog, key: str, call: PastCall) -> None:
    arguments = (
        {"input": call.arguments} if isinstance(call.arguments, str) else dict(call.arguments)
    )
    name = f"{call.namespace}.{call.name}" if call.namespace else call.name
    log.start(key, name, arguments, command=call.command)
    log.end(key, succeeded=not call.exit_code, exit_code=call.exit_code, output=call.result)
