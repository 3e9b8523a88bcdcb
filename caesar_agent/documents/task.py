"""``caesar.task/v1``: one task, as the orchestrator hands it to an agent."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from caesar_agent.documents.base import Document, Part
from caesar_agent.documents.fields import (
    WRITTEN_AS_NULL,
    Array,
    Count,
    NotEmpty,
    Positive,
    Timestamp,
)

Mode = Literal["read-only", "write"]
Isolation = Literal["inplace", "worktree"]


class Channel(Part):
    """Coordinates of the return channel: an MCP server that the agent may start.

    Attributes:
        transport: how to speak to it, always ``mcp-stdio``.
        command: program to start.
        args: its arguments; empty by default.
        server_name: name to give the server in the agent's configuration; default "caesar".

    Source: OACP specification, "task.json", on ``channel``.
    """

    transport: Literal["mcp-stdio"]
    command: str
    args: Array[str] = ()
    server_name: str = "caesar"


class Task(Document):
    """One task given to one agent.

    Attributes:
        protocol: version of the document, always ``caesar.task/v1``.
        id: identifier of the task.
        created_at: when the task was given, RFC 3339.
        role: profile that was asked for; absent when the agent was chosen by name.
        agent: identifier of the agent that was selected.
        objective: what is to be done, at least one character.
        context: excerpts, history, links; default "".
        constraints: what must be respected; empty by default.
        acceptance_criteria: what must hold for ``success``; empty by default.
        mode: whether the agent may write, ``read-only`` or ``write``.
        isolation: where it works: ``inplace`` in the project itself, ``worktree`` in a
            git worktree made for the task.
        network: whether the network is available; false is only said when it is known
            to be cut; default true.
        workspace: absolute path of the folder to work in.
        base_ref: SHA of the commit that the worktree started from; absent without one.
        deadline_ms: time the agent has, in milliseconds, at least 1.
        depth: depth of delegation; default 0, which is the main agent.
        report_path: absolute path where the report is expected.
        events_path: absolute path of the event log.
        channel: coordinates of the return channel; null or absent without one.

    Source: OACP specification, "task.json".
    """

    kind: ClassVar[str] = "task"
    version: ClassVar[str] = "caesar.task/v1"

    protocol: Literal["caesar.task/v1"]
    id: str
    created_at: Timestamp
    role: str | None = None
    agent: str
    objective: NotEmpty
    context: str = ""
    constraints: Array[str] = ()
    acceptance_criteria: Array[str] = ()
    mode: Mode
    isolation: Isolation
    network: bool = True
    workspace: str
    base_ref: str | None = None
    deadline_ms: Positive
    depth: Count = 0
    report_path: str
    events_path: str
    channel: Channel | None = Field(default=None, json_schema_extra=WRITTEN_AS_NULL)
