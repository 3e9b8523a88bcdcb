"""Anthropic messages: ``POST …/v1/messages``. Source: the API's reference."""

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
from pytest_caesar.model.wires.untrusted import compact, content_text, items, mapping, sse, text


def read(body: Json, path: str) -> ModelRequest:  # noqa: ARG001 - as every wire
    """Read a request."""
    users: list[str] = []
    turns: list[PastTurn] = []
    results: dict[str, str] = {}
    for message in items(body.get("messages")):
        blocks = items(message.get("content"))
        said = content_text(message.get("content"))
        if message.get("role") == "assistant":
            calls = tuple(
                PastCall(
                    id=text(block.get("id")),
                    name=text(block.get("name")),
                    arguments=mapping(block.get("input")),
                )
                for block in blocks
                if block.get("type") == "tool_use"
            )
            turns.append(PastTurn(text=said, calls=calls))
        else:
            for block in blocks:
                if block.get("type") == "tool_result":
                    shown = content_text(block.get("content"))
                    results[text(block.get("tool_use_id"))] = shown
            if said:
                users.append(said)
    return ModelRequest(
        api="messages",
        model=text(body.get("model")),
        system=content_text(body.get("system")),
        users=tuple(users),
        tools=tools_by_name([_tool(tool) for tool in items(body.get("tools"))]),
        schema=mapping(mapping(body.get("output_format")).get("schema")) or None,
        history=with_results(turns, results),
        stream=body.get("stream") is True,
    )


def _tool(told: dict[str, Any]) -> OfferedTool:
    return OfferedTool(
        name=text(told.get("name")),
        description=text(told.get("description")),
        schema=mapping(told.get("input_schema")),
    )


def _blocks(answer: Answer) -> list[Json]:
    blocks: list[Json] = []
    if answer.thought:
        blocks.append({"type": "thinking", "thinking": answer.thought, "signature": "scripted"})
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    for call in answer.calls:
        given = {"input": call.arguments} if isinstance(call.arguments, str) else call.arguments
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": dict(given)})
    return blocks


def plain(answer: Answer, request: ModelRequest) -> Json:
    """Return the answer as one body."""
    return {
        **_message(answer, request),
        "content": _blocks(answer),
        "stop_reason": _reason(answer),
        "usage": _usage(answer),
    }


def stream(answer: Answer, request: ModelRequest) -> list[bytes]:
    """Return the answer as the chunks of a stream."""
    started = {**_message(answer, request), "usage": {**_usage(answer), "output_tokens": 0}}
    events: list[Json] = [{"type": "message_start", "message": started}]
    for index, block in enumerate(_blocks(answer)):
        events += _block_events(index, block)
    closing = {"stop_reason": _reason(answer), "stop_sequence": None}
    events.append({"type": "message_delta", "delta": closing, "usage": _usage(answer)})
    events.append({"type": "message_stop"})
    return [sse(event, event=event["type"]) for event in events]


def read_answer(body: Json, turn: int) -> Answer:
    """Read what a model answered, from a whole body."""
    blocks = items(body.get("content"))
    said = content_text(blocks)
    used = mapping(body.get("usage"))
    return Answer(
        turn=turn,
        texts=(said,) if said else (),
        calls=tuple(
            ToolCall(
                id=text(block.get("id")),
                name=text(block.get("name")),
                arguments=mapping(block.get("input")),
            )
            for block in blocks
            if block.get("type") == "tool_use"
        ),
        usage=usage_of(used.get("input_tokens"), used.get("output_tokens")),
    )


def _block_events(index: int, block: dict[str, Any]) -> list[Json]:
    kind = block["type"]
    if kind == "tool_use":
        opened: Json = {**block, "input": {}}
        deltas: list[Json] = [
            {"type": "input_json_delta", "partial_json": piece}
            for piece in pieces(compact(block["input"]))
        ]
    elif kind == "thinking":
        opened = {**block, "thinking": "", "signature": ""}
        deltas = [
            {"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])
        ]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    else:
        opened = {**block, "text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
    return [
        {"type": "content_block_start", "index": index, "content_block": opened},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _message(answer: Answer, request: ModelRequest) -> Json:
    return {
        "id": f"msg_t{answer.turn}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _reason(answer: Answer) -> str:
    return "tool_use" if answer.calls else "end_turn"


def _usage(answer: Answer) -> Json:
    return {
        "input_tokens": answer.usage.input_tokens,
        "output_tokens": answer.usage.output_tokens,
    }


_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def error(status: int, message: str) -> Json:
    """Return the body of an error."""
    kind = _KINDS.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}
