"""What a stream says of each call of a tool, typed and whole; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from typing import Literal

from caesar_agent.documents.timestamps import parse_timestamp

MAX_ARGUMENTS = 64 * 1024
"""Bytes of the arguments of one call that are kept, as JSON."""

MAX_OUTPUT = 16 * 1024
"""Bytes of the output of one call that are kept: its end."""

MAX_KEPT = 32 * 1024 * 1024
"""Bytes of arguments and output of all calls that are kept; of later calls both are left out."""

MAX_CALLS = 100_000
"""Calls that are kept."""

CallStatus = Literal["started", "succeeded", "failed"]

OWN_SERVER = "caesar"
"""The MCP server of the return channel: it runs no commands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a tool.

    Attributes:
        tool: its name, as the program gives it.
        arguments: what it was called with, cut to 64 KiB; None where it is not told.
        status: ``started`` when no end was told.
        exit_code: of a command, where the program tells it; else None.
        output: the end of what came out of it, at most 16 KiB; None where it is not told.
        at: when it started, as the program says; None where it does not.
        duration: seconds until its end was told; None where that is not known.
        command: the command line of a shell tool, its program's own wrapper taken off.
        hides: nobody can see into it: a sub-agent, or a tool of somebody else's server.
        nested: a sub-agent made it.
        cut: arguments or output are not whole.
        begun, done: where it started and ended among all starts and ends; ``done`` is None
            when no end was told.
    """

    tool: str
    arguments: Mapping[str, object] | None = field(default=None, repr=False)
    status: CallStatus = "started"
    exit_code: int | None = None
    output: str | None = field(default=None, repr=False)
    at: datetime | None = None
    duration: float | None = None
    command: str | None = None
    hides: bool = field(default=False, repr=False)
    nested: bool = field(default=False, repr=False)
    cut: bool = field(default=False, repr=False)
    begun: int = field(default=0, repr=False)
    done: int | None = field(default=None, repr=False)

    @property
    def ended_at(self) -> datetime | None:
        """When it ended, as the program says."""
        if self.at is None or self.duration is None:
            return None
        return self.at + timedelta(seconds=self.duration)


class CallLog:
    """Collects the calls of one stream, in the order of their starts.

    Attributes:
        dropped: calls that were not kept, because there were too many.
        sub_agents: a sub-agent was called, whose tokens the stream may not show.
    """

    def __init__(self) -> None:
        self._calls: list[ToolCall] = []
        self._running: dict[str, int] = {}
        self._position = 0
        self._kept = 0
        self.dropped = 0
        self.sub_agents = False

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """All of them."""
        return tuple(self._calls)

    def start(
        self,
        key: str,
        tool: str,
        arguments: Mapping[str, object] | None = None,
        *,
        command: str | None = None,
        at: datetime | None = None,
        hides: bool = False,
        sub_agent: bool = False,
        nested: bool = False,
    ) -> None:
        """Note that a call starts; one with the key of a call that runs is that call."""
        self.sub_agents = self.sub_agents or sub_agent
        if key and key in self._running:
            return
        if len(self._calls) >= MAX_CALLS:
            self.dropped += 1
            return
        self._position += 1
        kept, cut = self._arguments(arguments)
        call = ToolCall(
            tool=tool,
            arguments=kept,
            at=at,
            command=command if command is None else _head(command, MAX_ARGUMENTS),
            hides=hides or sub_agent,
            nested=nested,
            cut=cut,
            begun=self._position,
        )
        self._running[key] = len(self._calls)
        self._calls.append(call)

    def end(
        self,
        key: str,
        *,
        succeeded: bool,
        exit_code: object = None,
        output: str | None = None,
        at: datetime | None = None,
        duration: float | None = None,
    ) -> None:
        """Note the end of a call that was started under this key; others are passed over."""
        index = self._running.pop(key, None)
        if index is None:
            return
        self._position += 1
        call = self._calls[index]
        if duration is None and at is not None and call.at is not None:
            duration = max(0.0, (at - call.at).total_seconds())
        kept, cut = self._output(output)
        code = exit_code if isinstance(exit_code, int) and type(exit_code) is not bool else None
        self._calls[index] = replace(
            call,
            status="succeeded" if succeeded else "failed",
            exit_code=code,
            output=kept,
            duration=duration,
            cut=call.cut or cut,
            done=self._position,
        )

    def _arguments(
        self, arguments: Mapping[str, object] | None
    ) -> tuple[Mapping[str, object] | None, bool]:
        if arguments is None:
            return None, False
        size = len(json.dumps(arguments, ensure_ascii=True))
        if size > MAX_ARGUMENTS:
            share = MAX_ARGUMENTS // max(1, len(arguments))
            arguments = {
                name: _head(value, share)
                for name, value in list(arguments.items())[:MAX_OUTPUT]
                if isinstance(value, str)
            }
            return (arguments, True) if self._room(MAX_ARGUMENTS) else (None, True)
        return (arguments, False) if self._room(size) else (None, True)

    def _output(self, output: str | None) -> tuple[str | None, bool]:
        if output is None:
            return None, False
        kept = _tail(output, MAX_OUTPUT)
        return (kept, len(kept) < len(output)) if self._room(len(kept)) else (None, True)

    def _room(self, size: int) -> bool:
        self._kept += size
        return self._kept <= MAX_KEPT


def _head(text: str, limit: int) -> str:
    """Return the beginning of a text, of at most so many bytes."""
    if len(text) * 4 <= limit:
        return text
    return text.encode("utf-8", "surrogatepass")[:limit].decode("utf-8", "ignore")


def _tail(text: str, limit: int) -> str:
    """Return the end of a text, of at most so many bytes."""
    if len(text) * 4 <= limit:
        return text
    return text.encode("utf-8", "surrogatepass")[-limit:].decode("utf-8", "ignore")


def from_milliseconds(value: object) -> datetime | None:
    """Return the time of so many milliseconds since 1970, or None for what is none."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        return datetime.fromtimestamp(value / 1000, timezone.utc)
    except (ValueError, OverflowError, OSError):
        return None


def from_text(value: object) -> datetime | None:
    """Return the time of an RFC 3339 text with a zone, or None for what is none."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        return parse_timestamp(value)
    except ValueError:
        return None
