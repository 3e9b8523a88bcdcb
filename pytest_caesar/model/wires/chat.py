"""OpenAI chat completions: ``POST …/chat/completions``. Source: the API's reference."""

from __future__ import annotations

from typing import Any

from pytest_caesar.model.answer import Answer, ToolCall, pieces, usage_of
from pytest_caesar.model.conversation import (
    Json,
    ModelRequest,
    OfferedTool,
    PastCall,
    PastTurn,
    tools_by_name,
    with_results,
)
from pytest_caesar.model.wires import responses
from pytest_caesar.model.wires.untrusted import (
    arguments,
    compact,
    content_text,
    items,
    mapping,
    sse,
    text,
)

error = responses.error


def read(body: Json, path: str) -> ModelRequest:  # noqa: ARG001 - as every wire
    """Read a request."""
    system, users = [], []
    turns: list[PastTurn] = []
    results: dict[str, str] = {}
    for message in items(body.get("messages")):
        role, said = message.get("role"), content_text(message.get("content"))
        if role in ("system", "developer"):
            system.append(said)
        elif role == "user":
            users.append(said)
        elif role == "assistant":
            calls = tuple(_call(call) for call in items(message.get("tool_calls")))
            turns.append(PastTurn(text=said, calls=calls))
        elif role == "tool":
            results[text(message.get("tool_call_id"))] = said
    wanted = mapping(mapping(body.get("response_format")).get("json_schema"))
    return ModelRequest(
        api="chat",
        model=text(body.get("model")),
        system="\n\n".join(filter(None, system)),
        users=tuple(users),
        tools=tools_by_name([_tool(tool) for tool in items(body.get("tools"))]),
        schema=mapping(wanted.get("schema")) or None,
        history=with_results(turns, results),
        stream=body.get("stream") is True,
    )


def _tool(tool: dict[str, Any]) -> OfferedTool:
    custom = mapping(tool.get("custom"))
    told = custom or mapping(tool.get("function"))
    return OfferedTool(
        name=text(told.get("name")),
        description=text(told.get("description")),
        schema=mapping(told.get("parameters")),
        takes_text=bool(custom),
    )


def _call(call: dict[str, Any]) -> PastCall:
    custom = mapping(call.get("custom"))
    told = custom or mapping(call.get("function"))
    return PastCall(
        id=text(call.get("id")),
        name=text(told.get("name")),
        arguments=text(told.get("input")) if custom else arguments(told.get("arguments")),
    )


def plain(answer: Answer, request: ModelRequest) -> Json:
    """Return the answer as one body."""
    message: Json = {"role": "assistant", "content": answer.text or None}
    if answer.thought:
        message["reasoning_content"] = answer.thought
    if answer.calls:
        message["tool_calls"] = _tool_calls(answer)
    choice = {"index": 0, "message": message, "finish_reason": _finish(answer)}
    return {
        **_frame(answer, request, "chat.completion"),
        "choices": [choice],
        "usage": _usage(answer),
    }


def stream(answer: Answer, request: ModelRequest) -> list[bytes]:
    """Return the answer as the chunks of a stream."""
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": piece} for piece in pieces(answer.thought)]
    deltas += [{"content": piece} for piece in pieces(answer.text)]
    deltas += [
        {"tool_calls": [{"index": index, **call}]} for index, call in enumerate(_tool_calls(answer))
    ]
    frame = _frame(answer, request, "chat.completion.chunk")
    choices: list[Json] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": _finish(answer)})
    chunks = [sse({**frame, "choices": [choice]}) for choice in choices]
    # Without the option that asks for it OpenAI sends none; every client that was tried
    # ignores a chunk without choices, and some read it unasked.
    chunks.append(sse({**frame, "choices": [], "usage": _usage(answer)}))
    return [*chunks, sse("[DONE]")]


def read_answer(body: Json, turn: int) -> Answer:
    """Read what a model answered, from a whole body."""
    choices = items(body.get("choices"))
    message = mapping(choices[0].get("message")) if choices else {}
    made = [_call(call) for call in items(message.get("tool_calls"))]
    said = content_text(message.get("content"))
    used = mapping(body.get("usage"))
    return Answer(
        turn=turn,
        texts=(said,) if said else (),
        thought=text(message.get("reasoning_content")),
        calls=tuple(ToolCall(id=one.id, name=one.name, arguments=one.arguments) for one in made),
        usage=usage_of(used.get("prompt_tokens"), used.get("completion_tokens")),
    )


def _frame(answer: Answer, request: ModelRequest, kind: str) -> Json:
    return {
        "id": f"chatcmpl-t{answer.turn}",
        "object": kind,
        "created": 0,
        "model": request.model,
    }


def _finish(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _tool_calls(answer: Answer) -> list[Json]:
    return [
        {
            "id": call.id,
            "type": "custom",
            "custom": {"name": call.name, "input": call.arguments},
        }
        if isinstance(call.arguments, str)
        else {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": compact(dict(call.arguments))},
        }
        for call in answer.calls
    ]


def _usage(answer: Answer) -> Json:
    return {
        "prompt_tokens": answer.usage.input_tokens,
        "completion_tokens": answer.usage.output_tokens,
        "total_tokens": answer.usage.total,
    }
