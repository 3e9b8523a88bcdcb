"""``caesar.event/v1``: one line of the progress stream."""

from __future__ import annotations

from typing import ClassVar, Literal

from caesar_agent.documents.base import Document

EventType = Literal[
    "started", "thinking", "message", "tool_use", "file_changed",
    "progress", "question", "answer", "error", "finished",
]  # fmt: skip


class Event(Document):
    """One event; the fields beside the common ones depend on ``type``."""

    kind: ClassVar[str] = "event"
    version: ClassVar[str] = "caesar.event/v1"

    protocol: Literal["caesar.event/v1"]
    seq: int
    at: str
    task_id: str
    type: str
