"""The documents of the contract: pydantic models, text in and text out, no I/O."""

from __future__ import annotations

from caesar_agent.documents.event import Event, EventType
from caesar_agent.documents.report import (
    Action,
    Artifact,
    Change,
    CommandRun,
    Finding,
    Question,
    Report,
    Severity,
    Status,
    Usage,
)
from caesar_agent.documents.task import Channel, Isolation, Mode, Task

__all__ = [
    "Action",
    "Artifact",
    "Change",
    "Channel",
    "CommandRun",
    "Event",
    "EventType",
    "Finding",
    "Isolation",
    "Mode",
    "Question",
    "Report",
    "Severity",
    "Status",
    "Task",
    "Usage",
]
