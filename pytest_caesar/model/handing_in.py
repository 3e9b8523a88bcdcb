"""How a report is handed in: by the best way that a request allows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_caesar.model.conversation import ModelRequest
from pytest_caesar.model.places import report_file
from pytest_caesar.model.schemas import with_every_property
from pytest_caesar.model.script import Call
from pytest_caesar.model.tools import SERVER, NoSuchTool, Use, find_mcp, use_tool, write_by_shell

SUBMIT = "submit_report"


@dataclass(frozen=True, slots=True, kw_only=True)
class HandIn:
    """A way to hand in: a call, or the text of the last message.

    Attributes:
        use: a call that hands in; a last message follows in a turn of its own.
        text: the last message.
        alone: nothing else may be in the message.
    """

    use: Use | None = None
    text: str = ""
    alone: bool = False


def hand_in(report: Mapping[str, Any], request: ModelRequest) -> HandIn:
    """Choose how to hand in a report.

    In this order: the tool ``submit_report``; the schema that the request holds the last
    message to; the file that the brief names; a fenced block.
    """
    if any(SUBMIT in said for said in request.users) or _offers_submit(request):
        use = find_mcp(SERVER, SUBMIT, dict(report), request)
        if use is not None:
            return HandIn(use=use)
    if is_for_a_report(request.schema):
        text = json.dumps(with_every_property(request.schema, report), ensure_ascii=False)
        return HandIn(text=text, alone=True)
    text = json.dumps(report, ensure_ascii=False, indent=2)
    path = report_file(request)
    use = None if path is None else _write(path, text, request)
    if use is not None:
        return HandIn(use=use)
    return HandIn(text=f"```json caesar:report\n{text}\n```")


def _offers_submit(request: ModelRequest) -> bool:
    return any(name.endswith(SUBMIT) for name in request.tools)


def is_for_a_report(schema: Mapping[str, Any] | None) -> bool:
    """Tell whether a schema has the shape of a report."""
    properties = (schema or {}).get("properties")
    return isinstance(properties, dict) and {"protocol", "status", "summary"} <= set(properties)


def _write(path: str, text: str, request: ModelRequest) -> Use | None:
    content = text + "\n"
    written = _used(Call(word="write", given={"path": path, "content": content}), request)
    command = write_by_shell(path, content)
    return written or _used(Call(word="shell", given={"command": command}), request)


def _used(call: Call, request: ModelRequest) -> Use | None:
    try:
        return use_tool(call, request)
    except NoSuchTool:
        return None
