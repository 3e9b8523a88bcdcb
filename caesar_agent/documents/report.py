"""``caesar.report/v1``: what an agent says it did."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from caesar_agent.documents.base import Document, Part

Status = Literal["success", "partial", "failed", "blocked"]
Action = Literal["created", "modified", "deleted", "renamed"]
Severity = Literal["info", "low", "medium", "high", "critical"]


class Change(Part):
    """One declared change."""

    path: str
    action: Action
    summary: str = ""


class CommandRun(Part):
    """One command the agent ran."""

    command: str
    exit_code: int | None = None
    note: str = ""


class Finding(Part):
    """One finding."""

    severity: Severity
    title: str
    file: str | None = None
    line: int | None = Field(default=None, gt=0)
    detail: str = ""


class Question(Part):
    """One question that the agent leaves open."""

    id: str
    question: str
    options: tuple[str, ...] = ()


class Artifact(Part):
    """One file worth keeping."""

    path: str
    description: str = ""


class Usage(Part):
    """What the work consumed."""

    input_tokens: int | None = Field(default=None, ge=0)
    output_tokens: int | None = Field(default=None, ge=0)
    duration_ms: int | None = Field(default=None, ge=0)
    cost_usd: float | None = Field(default=None, ge=0)


class Report(Document):
    """What an agent says it did."""

    kind: ClassVar[str] = "report"
    version: ClassVar[str] = "caesar.report/v1"

    protocol: Literal["caesar.report/v1"]
    task_id: str = ""
    status: Status
    summary: str = Field(min_length=1)
    details: str = ""
    changes: tuple[Change, ...] = ()
    commands_run: tuple[CommandRun, ...] = ()
    findings: tuple[Finding, ...] = ()
    questions: tuple[Question, ...] = ()
    next_steps: tuple[str, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    usage: Usage | None = None
