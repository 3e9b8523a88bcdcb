"""The documents of the contract: pydantic models, text in and text out, no I/O."""

from __future__ import annotations

from caesar_agent.documents.base import Document, Flagged, Part
from caesar_agent.documents.decoding import Decoded, decode
from caesar_agent.documents.event import (
    AnswerEvent,
    ErrorEvent,
    Event,
    EventType,
    FileChangedEvent,
    FinishedEvent,
    MessageEvent,
    ProgressEvent,
    QuestionEvent,
    StartedEvent,
    ThinkingEvent,
    ToolUseEvent,
)
from caesar_agent.documents.question import AnswerFile, QuestionFile
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
    "AnswerEvent",
    "AnswerFile",
    "Artifact",
    "Change",
    "Channel",
    "CommandRun",
    "Decoded",
    "Document",
    "ErrorEvent",
    "Event",
    "EventType",
    "FileChangedEvent",
    "Finding",
    "FinishedEvent",
    "Flagged",
    "Isolation",
    "MessageEvent",
    "Mode",
    "Part",
    "ProgressEvent",
    "Question",
    "QuestionEvent",
    "QuestionFile",
    "Report",
    "Severity",
    "StartedEvent",
    "Status",
    "Task",
    "ThinkingEvent",
    "ToolUseEvent",
    "Usage",
    "decode",
]
