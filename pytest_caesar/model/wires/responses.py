"""OpenAI Responses: ``POST …/responses``. Source: the API's reference, and what codex reads of it."""

from __future__ import annotations

from collections.abc import Iterator
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
from pytest_caesar.model.wires.untrusted import (
    arguments,
    compact,
    content_text,
    items,
    mapping,
    sse,
    text,
)

_CALLS = ("function_call", "custom_tool_call", "tool_search_call", "local_shell_call")
_RESULTS = (
    "function_call_output",
    "custom_tool_call_output",
    "tool_search_output",
    "local_shell_call_output",
)


def read(body: Json, path: str) -> ModelRequest:  # noqa: ARG001 - as every wire
    """Read a request."""
    given = body.get("input")
    entries = [{"role": "user", "content": given}] if isinstance(given, str) else items(given)
    system = [text(body.get("instructions"))]
    users: list[str] = []
    for entry in entries:
        if entry.get("type", "message") == "message":
            said = content_text(entry.get("content"))
            if entry.get("role") in ("system", "developer"):
                system.append(said)
            elif entry.get("role") == "user":
                users.append(said)
    wanted = mapping(mapping(body.get("text")).get("format"))
    return ModelRequest(
        api="responses",
        model=text(body.get("model")),
        system="\n\n".join(filter(None, system)),
        users=tuple(users),
        tools=tools_by_name(list(_tools(body.get("tools")))),
        schema=mapping(wanted.get("schema")) or None,
        history=_history(entries),
        stream=body.get("stream") is True,
    )


def _tools(value: object, namespace: str | None = None) -> Iterator[OfferedTool]:
    for tool in items(value):
        kind, name = text(tool.get("type")), text(tool.get("name"))
        if kind == "namespace":
            yield from _tools(tool.get("tools"), name)
        else:
            yield OfferedTool(
                name=name or kind,
                description=text(tool.get("description")),
                schema=mapping(tool.get("parameters")),
                namespace=namespace,
                takes_text=kind == "custom",
            )


def _history(entries: list[dict[str, Any]]) -> tuple[PastTurn, ...]:
    """Group calls into turns: by what their ids say, else those with no result in between."""
    turns: list[PastTurn] = []
    results: dict[str, str] = {}
    said: list[str] = []
    open_turn = False
    for entry in entries:
        kind = text(entry.get("type")) or "message"
        if kind in _CALLS:
            call = _call(kind, entry)
            number = PastTurn(calls=(call,)).number
            last = turns[-1] if turns else None
            same = last is not None and (
                (number is not None and number == last.number) or (number is None and open_turn)
            )
            if last is not None and same and not said:
                turns[-1] = PastTurn(text=last.text, calls=(*last.calls, call))
            else:
                turns.append(PastTurn(text="\n\n".join(said), calls=(call,)))
                said = []
            open_turn = True
        elif kind in _RESULTS:
            open_turn = False
            output = entry.get("output", entry.get("tools"))
            shown = content_text(output) if isinstance(output, (str, list)) else ""
            results[text(entry.get("call_id"))] = shown or compact(output)
        elif kind == "message" and entry.get("role") == "assistant":
            open_turn = False
            said.append(content_text(entry.get("content")))
        elif kind == "message" and said:
            turns.append(PastTurn(text="\n\n".join(said)))
            said = []
    if said:
        turns.append(PastTurn(text="\n\n".join(said)))
    return with_results(turns, results)


def _call(kind: str, entry: dict[str, Any]) -> PastCall:
    given: dict[str, Any] | str = arguments(entry.get("arguments", entry.get("action")))
    if kind == "custom_tool_call":
        given = text(entry.get("input"))
    name = text(entry.get("name")) or kind.removesuffix("_call")
    return PastCall(
        id=text(entry.get("call_id")),
        name=name,
        namespace=text(entry.get("namespace")) or None,
        arguments=given,
    )


def plain(answer: Answer, request: ModelRequest) -> Json:
    """Return the answer as one body."""
    return _response(answer, request, [item for item, _ in _items(answer)], status="completed")


def stream(answer: Answer, request: ModelRequest) -> list[bytes]:
    """Return the answer as the chunks of a stream."""
    events: list[Json] = [
        {
            "type": "response.created",
            "response": _response(answer, request, [], status="in_progress"),
        }
    ]
    done = []
    for index, (item, said) in enumerate(_items(answer)):
        opened = {**item, "status": "in_progress"}
        if item["type"] == "message":
            opened["content"] = []
        place = {"output_index": index}
        events.append({"type": "response.output_item.added", **place, "item": opened})
        events += [
            {
                "type": "response.output_text.delta",
                **place,
                "item_id": item["id"],
                "content_index": 0,
                "delta": piece,
            }
            for piece in pieces(said)
        ]
        events.append({"type": "response.output_item.done", **place, "item": item})
        done.append(item)
    completed = _response(answer, request, done, status="completed")
    events.append({"type": "response.completed", "response": completed})
    return [
        sse({**event, "sequence_number": number}, event=event["type"])
        for number, event in enumerate(events)
    ]


def _items(answer: Answer) -> Iterator[tuple[Json, str]]:
    """Give each output item, and the text that is streamed of it."""
    turn = answer.turn
    if answer.thought:
        summary = [{"type": "summary_text", "text": answer.thought}]
        yield {"type": "reasoning", "id": f"rs_t{turn}", "summary": summary}, ""
    for number, said in enumerate(answer.texts, 1):
        content = [{"type": "output_text", "text": said, "annotations": []}]
        yield (
            {
                "type": "message",
                "id": f"msg_t{turn}_{number}",
                "role": "assistant",
                "status": "completed",
                "content": content,
            },
            said,
        )
    for call in answer.calls:
        yield _call_item(call), ""


def _call_item(call: ToolCall) -> Json:
    common: Json = {"call_id": call.id, "name": call.name, "status": "completed"}
    if isinstance(call.arguments, str):
        return {
            "type": "custom_tool_call",
            "id": f"ctc_{call.id}",
            **common,
            "input": call.arguments,
        }
    if call.namespace:
        common["namespace"] = call.namespace
    return {
        "type": "function_call",
        "id": f"fc_{call.id}",
        **common,
        "arguments": compact(dict(call.arguments)),
    }


def _response(answer: Answer, request: ModelRequest, output: list[Json], *, status: str) -> Json:
    usage = answer.usage
    return {
        "id": f"resp_t{answer.turn}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "model": request.model,
        "output": output,
        "usage": None
        if status != "completed"
        else {
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.total,
        },
    }


def read_answer(body: Json, turn: int) -> Answer:
    """Read what a model answered, from a whole body."""
    output = items(body.get("output"))
    said = [content_text(item.get("content")) for item in output if item.get("type") == "message"]
    made = [_call(str(item["type"]), item) for item in output if item.get("type") in _CALLS]
    used = mapping(body.get("usage"))
    return Answer(
        turn=turn,
        texts=tuple(filter(None, said)),
        calls=tuple(
            ToolCall(id=one.id, name=one.name, namespace=one.namespace, arguments=one.arguments)
            for one in made
        ),
        usage=usage_of(used.get("input_tokens"), used.get("output_tokens")),
    )


_ERRORS = {
    401: ("invalid_request_error", "invalid_api_key"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}
"""Type and code of an error, by its status; some clients retry by the type."""


def error(status: int, message: str) -> Json:
    """Return the body of an error."""
    other = ("invalid_request_error" if status < 500 else "server_error", None)
    kind, code = _ERRORS.get(status, other)
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
