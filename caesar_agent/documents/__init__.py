"""The documents of the contract: pydantic models, text in and text out, no I/O.

Bytes and decoded JSON come in, frozen values, problems with their place, and JSON Schemas go out.
Uses diagnostics, errors and ``console``. Every name is imported when it is first used.
PYTEST_DONT_REWRITE
"""

from __future__ import annotations

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
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

_HOMES = {
    "Action": "report",
    "AnswerEvent": "event",
    "AnswerFile": "question",
    "Artifact": "report",
    "Change": "report",
    "Channel": "task",
    "CommandRun": "report",
    "Decoded": "decoding",
    "Document": "base",
    "ErrorEvent": "event",
    "Event": "event",
    "EventType": "event",
    "FileChangedEvent": "event",
    "Finding": "report",
    "FinishedEvent": "event",
    "Flagged": "base",
    "Isolation": "task",
    "MessageEvent": "event",
    "Mode": "task",
    "Part": "base",
    "ProgressEvent": "event",
    "Question": "report",
    "QuestionEvent": "event",
    "QuestionFile": "question",
    "Report": "report",
    "Severity": "report",
    "StartedEvent": "event",
    "Status": "report",
    "Task": "task",
    "ThinkingEvent": "event",
    "ToolUseEvent": "event",
    "Usage": "report",
    "decode": "decoding",
}


# There is no __dir__ on purpose: freezegun reads every attribute that dir() names.
def __getattr__(name: str) -> object:
    import importlib  # noqa: PLC0415

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"caesar_agent.documents.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
