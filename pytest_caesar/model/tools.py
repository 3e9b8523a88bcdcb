"""From the words of a script to the tools that a request offers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_caesar.model import patches
from pytest_caesar.model.answer import ToolCall
from pytest_caesar.model.conversation import ModelRequest, OfferedTool, call_id
from pytest_caesar.model.places import absolute
from pytest_caesar.model.schemas import smallest
from pytest_caesar.model.script import Call

SERVER = "caesar"
"""The MCP server of the return channel."""

CHANNEL_TOOLS = {"ask": "ask_orchestrator", "progress": "report_progress"}

SHELLS = (
    "exec_command",
    "bash",
    "shell",
    "run_shell_command",
    "run_commands",
    "execute_command",
    "run_terminal_command",
    "run_command",
    "shell_command",
    "local_shell",
    "terminal",
)
WRITERS = ("write_file", "write", "create_file", "create", "write_to_file")
EDITORS = (
    "replace",
    "edit",
    "edit_file",
    "str_replace",
    "replace_in_file",
    "single_find_and_replace",
)
_TEXT_EDITORS = ("str_replace_editor", "str_replace_based_edit_tool", "editor")
_PATCHERS = ("apply_patch",)

COMMAND = ("command", "cmd", "commands")
PATH = ("file_path", "filePath", "filepath", "path", "absolute_path", "target_file")
CONTENT = ("content", "contents", "file_text", "new_text", "text")
OLD = ("old_string", "oldString", "old_str", "oldText", "old_text", "search")
NEW = ("new_string", "newString", "new_str", "newText", "new_text", "replace", "content")

_MCP = re.compile(r"^_?mcp[_-]+")
_ODD = re.compile(r"[^A-Za-z0-9_-]")
"""What CLIs replace in the name of a server."""

_MAX_READ = 4 * 1024 * 1024
"""Bytes of a file that is read for the lines around an edit; a larger one is not."""


class NoSuchTool(Exception):  # noqa: N818 - a finding about a request, made into words by the player
    """The request offers no tool for a call."""

    def __init__(self, call: Call) -> None:
        super().__init__(str(call))
        self.call = call


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A tool and the arguments it is called with."""

    name: str
    arguments: Mapping[str, Any] | str
    namespace: str | None = None

    def as_call(self, turn: int, number: int) -> ToolCall:
        """Return it as a call with an id."""
        return ToolCall(
            id=call_id(turn, number),
            name=self.name,
            namespace=self.namespace,
            arguments=self.arguments,
        )


def use_tool(call: Call, request: ModelRequest) -> Use:
    """Return the tool of a request that does what a call wants.

    Raises:
        NoSuchTool: none does.
    """
    makers: Mapping[str, Callable[[Call, ModelRequest], Use | None]] = {
        "shell": _shell,
        "write": _write,
        "edit": _edit,
        "ask": _channel,
        "progress": _channel,
        "mcp": _mcp,
        "tool": _tool,
    }
    found = makers[call.word](call, request)
    if found is None:
        raise NoSuchTool(call)
    return found


def _shell(call: Call, request: ModelRequest) -> Use | None:
    tool = _named(request, SHELLS)
    return None if tool is None else _run(tool, call.given["command"])


def _run(tool: OfferedTool, command: str) -> Use | None:
    name = _property(tool, COMMAND)
    if name is None:
        return None
    kind = tool.properties[name].get("type") if isinstance(tool.properties[name], dict) else None
    value: Any = command
    if kind == "array":
        # A list of command lines, or the words of one.
        value = [command] if name == "commands" else ["bash", "-lc", command]
    return _filled(tool, {name: value}, hint=command)


def _write(call: Call, request: ModelRequest) -> Use | None:
    path, content = call.given["path"], call.given["content"]
    tool = _named(request, WRITERS)
    if tool is not None:
        before = _read(absolute(path, request)) if tool.name == "create" else None
        editor = _named(request, EDITORS)
        if before and editor is not None:
            # It creates files alone: one that is there has its whole content replaced.
            given = {"path": path, "old": before, "new": content}
            return _edit(Call(word="edit", given=given), request)
        return _write_with(tool, path, content, request)
    tool = _named(request, _TEXT_EDITORS)
    if tool is not None:
        more = {"command": "create"} if "command" in tool.properties else {}
        return _write_with(tool, path, content, request, **more)
    tool = _named(request, _PATCHERS)
    if tool is not None:
        return _patch(tool, patches.add_file(path, content))
    tool = _named(request, SHELLS)
    if tool is not None and len(request.tools) == 1:
        return _run(tool, write_by_shell(path, content))
    return None


def write_by_shell(path: str, content: str) -> str:
    """Return a command line that writes a file."""
    return f"printf %s {shlex.quote(content)} > {shlex.quote(path)}"


def _write_with(
    tool: OfferedTool, path: str, content: str, request: ModelRequest, **more: object
) -> Use | None:
    path_name, content_name = _property(tool, PATH), _property(tool, CONTENT)
    if path_name is None or content_name is None:
        return None
    given = {path_name: _path(tool, path_name, path, request), content_name: content, **more}
    return _filled(tool, given, hint=f"Write {path}")


def _edit(call: Call, request: ModelRequest) -> Use | None:
    path, old, new = call.given["path"], call.given["old"], call.given["new"]
    tool = _named(request, EDITORS) or _named(request, _TEXT_EDITORS)
    if tool is not None:
        path_name = _property(tool, PATH)
        if path_name is None:
            return None
        given: dict[str, Any] = {path_name: _path(tool, path_name, path, request)}
        if tool.name in _TEXT_EDITORS and "command" in tool.properties:
            given["command"] = "str_replace"
        inner = tool.properties.get("edits")
        if isinstance(inner, dict) and isinstance(inner.get("items"), dict):
            part = OfferedTool(name=tool.name, schema=inner["items"])
            pair = _pair(part, old, new)
            return None if pair is None else _filled(tool, {**given, "edits": [pair]})
        pair = _pair(tool, old, new)
        return None if pair is None else _filled(tool, {**given, **pair}, hint=f"Edit {path}")
    tool = _named(request, _PATCHERS)
    if tool is not None:
        before = _read(absolute(path, request))
        return _patch(tool, patches.update_file(path, old, new, before=before))
    return None


def _pair(tool: OfferedTool, old: str, new: str) -> dict[str, Any] | None:
    old_name, new_name = _property(tool, OLD), _property(tool, NEW)
    return None if old_name is None or new_name is None else {old_name: old, new_name: new}


def _patch(tool: OfferedTool, patch: str) -> Use | None:
    if tool.takes_text:
        return Use(name=tool.name, namespace=tool.namespace, arguments=patch)
    name = _property(tool, ("patchText", "input", "patch"))
    return None if name is None else _filled(tool, {name: patch})


def _channel(call: Call, request: ModelRequest) -> Use | None:
    return find_mcp(SERVER, CHANNEL_TOOLS[call.word], dict(call.given), request)


def _mcp(call: Call, request: ModelRequest) -> Use | None:
    return find_mcp(
        call.given["server"], call.given["tool"], dict(call.given["arguments"]), request
    )


def find_mcp(
    server: str, tool: str, arguments: dict[str, Any], request: ModelRequest
) -> Use | None:
    """Return a tool of an MCP server under the name that the CLI gives it, or None."""
    for offered in request.tools.values():
        name = f"{offered.namespace or ''}_{offered.name}"
        group = _MCP.sub("", name.removesuffix(tool)).strip("_-")
        if name.endswith((f"_{tool}", f"-{tool}")) and group == _ODD.sub("_", server):
            return Use(name=offered.name, namespace=offered.namespace, arguments=arguments)
    if request.api == "responses" and "tool_search" in request.tools:
        # codex offers tools of MCP servers only after a search, and takes them without one.
        return Use(name=tool, namespace=f"mcp__{server}", arguments=arguments)
    return None


def _tool(call: Call, request: ModelRequest) -> Use | None:
    offered = request.tools.get(call.given["name"])
    if offered is None:
        return None
    return Use(name=offered.name, namespace=offered.namespace, arguments=call.given["arguments"])


def _named(request: ModelRequest, names: tuple[str, ...]) -> OfferedTool | None:
    offered = {name.lower(): tool for name, tool in request.tools.items()}
    return next((offered[name] for name in names if name in offered), None)


def _property(tool: OfferedTool, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in tool.properties), None)


def _filled(tool: OfferedTool, given: dict[str, Any], *, hint: str = "") -> Use:
    """Return a use of a tool with its other required arguments filled in."""
    filled = {
        name: hint
        if name in ("description", "explanation", "instruction")
        else smallest(tool.properties.get(name))
        for name in tool.required
        if name not in given
    }
    return Use(name=tool.name, namespace=tool.namespace, arguments={**given, **filled})


def _path(tool: OfferedTool, name: str, path: str, request: ModelRequest) -> str:
    """Return a path as a tool wants it: from the root, where its description says so."""
    told = tool.properties[name]
    words = f"{told.get('description', '') if isinstance(told, dict) else ''} {tool.description}"
    return (
        absolute(path, request) if "absolute" in words.lower() or name == "absolute_path" else path
    )


def _read(path: str) -> str | None:
    """Return a text file, as a model would know it that has read it; None for any other."""
    file = Path(path)
    try:
        if not file.is_file() or file.stat().st_size > _MAX_READ:
            return None
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
