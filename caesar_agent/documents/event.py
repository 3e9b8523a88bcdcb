"""``caesar.event/v1``: one line of the progress stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from caesar_agent.documents.base import Document
from caesar_agent.documents.fields import WRITTEN_AS_NULL, Array, Count, Integer, Timestamp
from caesar_agent.documents.report import Action, Status

if TYPE_CHECKING:
    from typing_extensions import Self

EventType = Literal[
    "started", "thinking", "message", "tool_use", "file_changed",
    "progress", "question", "answer", "error", "finished",
]  # fmt: skip
ToolStatus = Literal["started", "succeeded", "failed"]


class Event(Document):
    """One event; also what an event of a type unknown to this version is kept as.

    ``Event.parse`` and ``Event.from_value`` return the class of the event's type
    (``StartedEvent``, …), with the fields of that type.

    Attributes:
        protocol: version of the document, always ``caesar.event/v1``.
        seq: number of the event within the log, at least 0.
        at: when it happened, RFC 3339.
        task_id: the task it belongs to.
        type: what happened.

    Source: OACP specification, "events.jsonl".
    """

    kind: ClassVar[str] = "event"
    version: ClassVar[str] = "caesar.event/v1"

    protocol: Literal["caesar.event/v1"]
    seq: Count
    at: Timestamp
    task_id: str
    type: str

    @classmethod
    def from_value(cls, value: object) -> Self:
        """Validate a decoded JSON value as an event of its type.

        Called on ``Event`` it takes every type, called on a class of one type only that.
        """
        named: Any = value.get("type") if isinstance(value, dict) else None
        model = EVENT_CLASSES.get(named) if isinstance(named, str) else None
        if model is None or not issubclass(model, cls):
            return super().from_value(value)
        return super(Event, model).from_value(value)


class StartedEvent(Event):
    """The agent was started.

    Attributes:
        agent: identifier of the agent.
        command: its command line; default "".
    """

    type: Literal["started"]
    agent: str
    command: str = ""


class ThinkingEvent(Event):
    """The agent thinks.

    Attributes:
        text: what it thinks.
    """

    type: Literal["thinking"]
    text: str


class MessageEvent(Event):
    """The agent says something.

    Attributes:
        text: what it says.
    """

    type: Literal["message"]
    text: str


class ToolUseEvent(Event):
    """A call of a tool started or ended.

    Attributes:
        tool: name of the tool; "" where the agent's own stream does not repeat it.
        input_summary: the input in a few words; default "".
        status: ``started`` (default), ``succeeded`` or ``failed``.
        id: the agent's identifier of the call, which pairs start and end; default "".
    """

    type: Literal["tool_use"]
    tool: str
    input_summary: str = ""
    status: ToolStatus = "started"
    id: str = ""


class FileChangedEvent(Event):
    """The agent changed a file.

    Attributes:
        path: the file, relative to the workspace.
        action: what happened to it; one of created, modified, deleted, renamed.
    """

    type: Literal["file_changed"]
    path: str
    action: Action


class ProgressEvent(Event):
    """How far the work is.

    Attributes:
        message: what is being done.
        pct: share of the work that is done, from 0 to 100; absent when not known.
    """

    type: Literal["progress"]
    message: str
    pct: Annotated[float, Field(ge=0, le=100)] | None = None


class QuestionEvent(Event):
    """A question was asked over the return channel.

    Attributes:
        id: identifier of the question.
        question: what is asked.
        options: possible answers; empty (default) when the answer is free.
    """

    type: Literal["question"]
    id: str
    question: str
    options: Array[str] = ()


class AnswerEvent(Event):
    """A question was answered.

    Attributes:
        id: identifier of the question.
        answer: the answer.
    """

    type: Literal["answer"]
    id: str
    answer: str


class ErrorEvent(Event):
    """Something went wrong.

    Attributes:
        message: what went wrong.
        fatal: whether the work ends with it; default false.
    """

    type: Literal["error"]
    message: str
    fatal: bool = False


class FinishedEvent(Event):
    """The agent ended.

    Attributes:
        status: how, as in a report.
        summary: the outcome in a sentence; default "".
        exit_code: exit code of the process; null or absent when it is not known.
    """

    type: Literal["finished"]
    status: Status
    summary: str = ""
    exit_code: Integer | None = Field(default=None, json_schema_extra=WRITTEN_AS_NULL)


EVENT_CLASSES: dict[str, type[Event]] = {
    "started": StartedEvent,
    "thinking": ThinkingEvent,
    "message": MessageEvent,
    "tool_use": ToolUseEvent,
    "file_changed": FileChangedEvent,
    "progress": ProgressEvent,
    "question": QuestionEvent,
    "answer": AnswerEvent,
    "error": ErrorEvent,
    "finished": FinishedEvent,
}
"""The class of each type that this version knows."""
