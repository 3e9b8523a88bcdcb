"""What an agent asks leave for, and which of its options says yes or no; pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from pytest_caesar.runs.permission import Permission, PermissionRequest

READING: Final = frozenset({"read", "search", "fetch", "think"})
"""Kinds of calls that change no file; a read-only task refuses all others."""

MAX_TEXT: Final = 400
"""Characters of a title, a path or a command that are kept."""

Scripted: TypeAlias = "Callable[[PermissionRequest], tuple[bool, str] | None]"
"""Says yes or no, and why; None where no script is for it."""


def request_of(params: Mapping[str, Any], workspace: str) -> PermissionRequest:
    """Read what is asked for; whatever is odd about it becomes ``other``."""
    call = params.get("toolCall")
    call = call if isinstance(call, dict) else {}
    kind = call.get("kind")
    given = call.get("rawInput")
    raw = given if isinstance(given, dict) else {}
    places = call.get("locations")
    paths = [
        place["path"]
        for place in (places if isinstance(places, list) else ())
        if isinstance(place, dict) and isinstance(place.get("path"), str)
    ]
    command = raw.get("command")
    if isinstance(command, list):
        command = " ".join(word for word in command if isinstance(word, str))
    title = call.get("title")
    root = workspace.rstrip("/") + "/"
    texts = [path.removeprefix(root) for path in paths]
    texts += [text for text in (command, title) if isinstance(text, str) and text]
    return PermissionRequest(
        kind=kind if isinstance(kind, str) and kind.isidentifier() else "other",
        texts=tuple(text[:MAX_TEXT] for text in texts)
        or (json.dumps(raw, ensure_ascii=True)[:MAX_TEXT],),
    )


def decide(request: PermissionRequest, *, read_only: bool, scripted: Scripted | None) -> Permission:
    """Decide by the script of the test where there is one, else by the mode of the task."""
    said = scripted(request) if scripted is not None else None
    if said is not None:
        allowed, reason = said
        return Permission(request=request, allowed=allowed, reason=reason)
    if read_only and request.kind not in READING:
        return Permission(request=request, allowed=False, reason="the task is read-only")
    return Permission(request=request, allowed=True, reason="")


CANCELLED: Final[Mapping[str, Any]] = {"outcome": {"outcome": "cancelled"}}
"""The outcome that is neither yes nor no."""


def answer(permission: Permission, options: object) -> Mapping[str, Any]:
    """Return the outcome that an agent is told; the narrowest option of the right kind."""
    wanted = ("allow_once", "allow_always") if permission.allowed else (
        "reject_once", "reject_always"
    )  # fmt: skip
    offered = [
        one for one in (options if isinstance(options, list) else ()) if isinstance(one, dict)
    ]
    for kind in wanted:
        for one in offered:
            if one.get("kind") == kind and isinstance(one.get("optionId"), str):
                return {"outcome": {"outcome": "selected", "optionId": one["optionId"]}}
    return CANCELLED
