"""``caesar.task/v1``: one task, as the orchestrator hands it to an agent."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from caesar_agent.documents.base import Document, Part

Mode = Literal["read-only", "write"]
Isolation = Literal["inplace", "worktree"]


class Channel(Part):
    """Coordinates of the return channel."""

    transport: Literal["mcp-stdio"]
    command: str
    args: tuple[str, ...] = ()
    server_name: str = "caesar"


class Task(Document):
    """One task given to one agent."""

    kind: ClassVar[str] = "task"
    version: ClassVar[str] = "caesar.task/v1"

    protocol: Literal["caesar.task/v1"]
    id: str
    created_at: str
    role: str | None = None
    agent: str
    objective: str = Field(min_length=1)
    context: str = ""
    constraints: tuple[str, ...] = ()
    acceptance_criteria: tuple[str, ...] = ()
    mode: Mode
    isolation: Isolation
    network: bool = True
    workspace: str
    base_ref: str | None = None
    deadline_ms: int = Field(gt=0)
    depth: int = 0
    report_path: str
    events_path: str
    channel: Channel | None = None
