"""``caesar.report/v1``: what an agent says it did."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.base import Document, Part
from caesar_agent.documents.fields import (
    WRITTEN_AS_NULL,
    Array,
    Count,
    Integer,
    NotBlank,
    Positive,
)

Status = Literal["success", "partial", "failed", "blocked"]
Action = Literal["created", "modified", "deleted", "renamed"]
Severity = Literal["info", "low", "medium", "high", "critical"]


class Change(Part):
    """One declared change.

    Attributes:
        path: file that changed, relative to the workspace; any spelling, also "".
        action: what happened to it; one of created, modified, deleted, renamed.
        summary: why, in a few words; default "".

    Source: OACP specification, "report.json".
    """

    path: str
    action: Action
    summary: str = ""


class CommandRun(Part):
    """One command the agent ran.

    Attributes:
        command: the command line, as a person would type it.
        exit_code: its exit code; null or absent when it is not known.
        note: anything worth saying about it; default "".

    Source: OACP specification, "report.json".
    """

    command: str
    exit_code: Integer | None = Field(default=None, json_schema_extra=WRITTEN_AS_NULL)
    note: str = ""


class Finding(Part):
    """One finding.

    Attributes:
        severity: one of info, low, medium, high, critical.
        title: the finding in one line.
        file: file it is about, relative to the workspace; absent when it is about none.
        line: line in that file, counted from 1; absent when it is about no line.
        detail: the rest; default "".

    Source: OACP specification, "report.json".
    """

    severity: Severity
    title: str
    file: str | None = None
    line: Positive | None = None
    detail: str = ""


class Question(Part):
    """One question that the agent leaves open.

    Attributes:
        id: identifier of the question within the report.
        question: what must be decided.
        options: possible answers; empty (default) when the answer is free.

    Source: OACP specification, "report.json".
    """

    id: str
    question: str
    options: Array[str] = ()


class Artifact(Part):
    """One file worth keeping.

    Attributes:
        path: the file, relative to the workspace.
        description: what it holds; default "".

    Source: OACP specification, "report.json".
    """

    path: str
    description: str = ""


class Usage(Part):
    """What the work consumed.

    Attributes:
        input_tokens: tokens read by the model; absent when not known.
        output_tokens: tokens written by the model; absent when not known.
        cost_usd: price in US dollars; absent when not known.
        duration_ms: time the work took, in milliseconds; absent when not known.

    Source: OACP specification, "report.json".
    """

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cost_usd: Annotated[float, Field(ge=0)] | None = None
    duration_ms: Count | None = None


class Report(Document):
    """What an agent says it did. Only ``protocol``, ``status`` and ``summary`` are required.

    Attributes:
        protocol: version of the document, always ``caesar.report/v1``.
        task_id: the task that is reported on; default "".
        status: success when the acceptance criteria are met; partial when some of the
            work is done and ``next_steps`` says what remains; failed when the agent did
            not succeed and sees no way out; blocked when a decision beyond its scope is
            needed, which ``questions`` asks.
        summary: the outcome in one or two sentences, not blank.
        details: the rest of the account; default "".
        changes: files that the agent says it changed; empty by default.
        commands_run: commands that the agent says it ran; empty by default.
        findings: what it noticed; empty by default.
        questions: decisions that it needs; empty by default.
        next_steps: what remains to be done; empty by default.
        artifacts: files worth keeping; empty by default.
        usage: what the work consumed; absent when not known.

    Source: OACP specification, "report.json".
    """

    kind: ClassVar[str] = "report"
    version: ClassVar[str] = "caesar.report/v1"

    protocol: Literal["caesar.report/v1"]
    task_id: str = ""
    status: Status
    summary: NotBlank
    details: str = ""
    changes: Array[Change] = ()
    commands_run: Array[CommandRun] = ()
    findings: Array[Finding] = ()
    questions: Array[Question] = ()
    next_steps: Array[str] = ()
    artifacts: Array[Artifact] = ()
    usage: Usage | None = None

    def remarks(self) -> tuple[Diagnostic, ...]:
        """Name the declared paths that no file can have, because they hold a NUL."""
        places = [
            f"{name}[{index}].path"
            for name, paths in (
                ("changes", [change.path for change in self.changes]),
                ("artifacts", [artifact.path for artifact in self.artifacts]),
            )
            for index, path in enumerate(paths)
            if "\0" in path
        ]
        if not places:
            return ()
        others = f" and {len(places) - 1} more" if len(places) > 1 else ""
        message = f"{places[0]}{others}: a path with a NUL character names no file"
        return (Diagnostic(code="path-with-nul", message=message),)
