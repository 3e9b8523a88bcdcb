"""Gemini: ``POST …/models/MODEL:generateContent`` and ``:streamGenerateContent``.

Source: the API's reference. Calls have no ids of the model here; Gemini CLI makes its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pytest_caesar.model.answer import Answer, ToolCall, pieces, usage_of
from pytest_caesar.model.conversation import (
    Json,
    ModelRequest,
    OfferedTool,
    PastCall,
    PastTurn,
    call_id,
    tools_by_name,
)
from pytest_caesar.model.wires.untrusted import compact, content_text, items, mapping, sse, text

_MODEL = re.compile(r"models/([^/:]+):")


def read(body: Json, path: str) -> ModelRequest:
    """Read a request."""
    found = _MODEL.search(path)
    config = mapping(body.get("generationConfig"))
    declared = [
        declaration
        for tool in items(body.get("tools"))
        for declaration in items(tool.get("functionDeclarations"))
    ]
    users = [
        said
        for content in items(body.get("contents"))
        if content.get("role", "user") == "user" and (said := content_text(content.get("parts")))
    ]
    return ModelRequest(
        api="gemini",
        model=found[1] if found else "",
        system=content_text(mapping(body.get("systemInstruction")).get("parts")),
        users=tuple(users),
        tools=tools_by_name([_tool(declaration) for declaration in declared]),
        schema=mapping(config.get("responseJsonSchema") or config.get("responseSchema")) or None,
        history=tuple(_history(items(body.get("contents")))),
        stream=":streamGenerateContent" in path,
    )


def _tool(told: dict[str, Any]) -> OfferedTool:
    return OfferedTool(
        name=text(told.get("name")),
        description=text(told.get("description")),
        schema=mapping(told.get("parametersJsonSchema") or told.get("parameters")),
    )


def _history(contents: list[dict[str, Any]]) -> Iterator[PastTurn]:
    for index, content in enumerate(contents):
        if content.get("role") != "model":
            continue
        parts = items(content.get("parts"))
        calls = [mapping(part["functionCall"]) for part in parts if "functionCall" in part]
        answers = _answers(contents[index + 1 :])
        yield PastTurn(
            text=content_text([part for part in parts if part.get("thought") is not True]),
            calls=tuple(
                PastCall(
                    id=text(call.get("id")),
                    name=text(call.get("name")),
                    arguments=mapping(call.get("args")),
                    result=answers[number] if number < len(answers) else None,
                )
                for number, call in enumerate(calls)
            ),
        )


def _answers(contents: list[dict[str, Any]]) -> list[str]:
    """Return the results that follow a turn of the model, in order."""
    found = []
    for content in contents:
        if content.get("role") == "model":
            break
        for part in items(content.get("parts")):
            if "functionResponse" in part:
                response = mapping(mapping(part["functionResponse"]).get("response"))
                output = response.get("output", response.get("error"))
                found.append(output if isinstance(output, str) else compact(response))
    return found


def plain(answer: Answer, request: ModelRequest) -> Json:
    """Return the answer as one body."""
    return _body(answer, request, _parts(answer), last=True)


def stream(answer: Answer, request: ModelRequest) -> list[bytes]:
    """Return the answer as the chunks of a stream."""
    parts: list[Json] = []
    for part in _parts(answer):
        if "text" in part:
            parts += [{**part, "text": piece} for piece in pieces(part["text"])]
        else:
            parts.append(part)
    chunks = [_body(answer, request, [part], last=False) for part in parts]
    chunks.append(_body(answer, request, [{"text": ""}], last=True))
    return [sse(chunk) for chunk in chunks]


def read_answer(body: Json, turn: int) -> Answer:
    """Read what a model answered, from a whole body."""
    candidates = items(body.get("candidates"))
    parts = items(mapping(candidates[0].get("content")).get("parts")) if candidates else []
    said = content_text([part for part in parts if part.get("thought") is not True])
    made = [mapping(part["functionCall"]) for part in parts if "functionCall" in part]
    used = mapping(body.get("usageMetadata"))
    return Answer(
        turn=turn,
        texts=(said,) if said else (),
        calls=tuple(
            ToolCall(
                id=text(call.get("id")) or call_id(turn, number),
                name=text(call.get("name")),
                arguments=mapping(call.get("args")),
            )
            for number, call in enumerate(made, 1)
        ),
        usage=usage_of(used.get("promptTokenCount"), used.get("candidatesTokenCount")),
    )


def _parts(answer: Answer) -> list[Json]:
    parts: list[Json] = []
    if answer.thought:
        parts.append({"text": answer.thought, "thought": True})
    if answer.text:
        parts.append({"text": answer.text})
    parts += [
        {"functionCall": {"id": call.id, "name": call.name, "args": _args(call.arguments)}}
        for call in answer.calls
    ]
    return parts


def _args(given: object) -> Json:
    return {"input": given} if isinstance(given, str) else dict(mapping(given))


def _body(answer: Answer, request: ModelRequest, parts: list[Json], *, last: bool) -> Json:
    candidate: Json = {"index": 0, "content": {"role": "model", "parts": parts}}
    body: Json = {
        "responseId": f"resp-t{answer.turn}",
        "modelVersion": request.model,
        "candidates": [candidate],
    }
    if last:
        candidate["finishReason"] = "STOP"
        body["usageMetadata"] = {
            "promptTokenCount": answer.usage.input_tokens,
            "candidatesTokenCount": answer.usage.output_tokens,
            "totalTokenCount": answer.usage.total,
        }
    return body


_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


def error(status: int, message: str) -> Json:
    """Return the body of an error."""
    return {"error": {"code": status, "message": message, "status": _STATUS.get(status, "UNKNOWN")}}
