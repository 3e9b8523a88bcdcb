"""What an agent tells while it works: events, as far as anybody listens."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.console import printable, tell
from caesar_agent.errors import CaesarError, DocumentError
from caesar_agent.processes.interruption import shielded

if TYPE_CHECKING:
    from caesar_agent.events.log import EventLog

MAX_LOOK_BYTES = 1 << 20
"""How much of an existing log is searched for ``started``: it is the first event."""

MAX_SUMMARY = 200
"""Longest ``input_summary`` of an event, in characters, as other agents have it."""


class Narrator:
    """Writes events; where they cannot be written it says so once and the work goes on.

    Args:
        path: ``$CAESAR_EVENTS_PATH``, or None when nobody listens.
        task_id: id of the task.
    """

    def __init__(self, path: Path | None, task_id: str) -> None:
        self._path = path
        self._task_id = task_id
        self._log: EventLog | None = None

    def tell(self, type: str, **fields: object) -> None:  # noqa: A002 - the name in the contract
        """Append one event."""
        if self._path is None:
            return
        from caesar_agent.events.log import EventLog  # noqa: PLC0415 - only where it is used

        try:
            with shielded():
                self._log = self._log or EventLog(self._path, task_id=self._task_id)
                self._log.append(type=type, **fields)
        except DocumentError as error:
            self._warn(f"an event of type {type} was not written: {error}")
        except (OSError, CaesarError, ValueError) as error:
            self._warn(f"events cannot be written to {self._path}: {error}; the work goes on")
            self._path = None

    def _warn(self, text: str) -> None:
        tell(f"caesar: {printable(text)}\n")

    def emit_started(self, *, agent: str, command: str) -> None:
        """Append ``started``, unless the orchestrator has."""
        if self._path is not None and not _has_started(self._path):
            self.tell("started", agent=agent, command=command)


def _has_started(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        # What is no regular file is refused, and told of, by the first append.
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        lines = os.read(descriptor, MAX_LOOK_BYTES).split(b"\n") if regular else []
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return any(b'"started"' in line and _type(line) == "started" for line in lines)


def _type(line: bytes) -> object:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value.get("type") if isinstance(value, dict) else None
