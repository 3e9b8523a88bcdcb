"""What an agent has told so far, and the report that is made of it; pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar, get_args

from pydantic import ValidationError

from caesar_agent.documents.base import Part
from caesar_agent.documents.decoding import decode
from caesar_agent.documents.problems import as_document_error
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
from caesar_agent.errors import DocumentError, MisuseError

AnyPart = TypeVar("AnyPart", bound=Part)

MERGED: dict[tuple[str, str], Action | None] = {
    ("created", "modified"): "created",
    ("created", "deleted"): None,
    ("modified", "created"): "modified",
    ("deleted", "created"): "modified",
    ("renamed", "modified"): "renamed",
}
"""What two declarations for one path come to; None for no change at all. The later one
counts where a pair is not named."""


class ReportBuilder:
    """Everything that goes into the report, in the order in which it was told.

    Every method that is handed something the contract does not know raises
    ``MisuseError`` at once, with the name of the method of ``Agent``.
    """

    def __init__(self) -> None:
        self.changes: dict[str, Change] = {}
        self.commands: list[CommandRun] = []
        self.findings: list[Finding] = []
        self.questions: list[Question] = []
        self.next_steps: list[str] = []
        self.artifacts: list[Artifact] = []
        self.usage: Usage | None = None
        self.outputs: dict[str, object] = {}

    def change(self, path: str, action: Action, summary: str) -> None:
        """Declare a change; a second one for the same path is merged with the first."""
        check_text("file_changed", "path", path)
        _check_choice("file_changed", "action", action, get_args(Action))
        new = _part("file_changed", Change, path=path, action=action, summary=summary)
        old = self.changes.get(path)
        if old is None:
            self.changes[path] = new
            return
        merged = MERGED.get((old.action, action), action)
        if merged is None:
            del self.changes[path]
        else:
            self.changes[path] = new.model_copy(
                update={"action": merged, "summary": summary or old.summary}
            )

    def command(self, command: str, exit_code: int | None, note: str) -> None:
        """Record a command that was run."""
        self.commands.append(
            _part("command", CommandRun, command=command, exit_code=exit_code, note=note)
        )

    def finding(
        self, severity: Severity, title: str, file: str | None, line: int | None, detail: str
    ) -> None:
        """Record a finding."""
        _check_choice("finding", "severity", severity, get_args(Severity))
        check_text("finding", "title", title)
        self.findings.append(
            _part(
                "finding",
                Finding,
                severity=severity,
                title=title,
                file=file,
                line=line,
                detail=detail,
            )
        )

    def question(
        self,
        text: str,
        options: Sequence[str],
        *,
        method: str = "question",
        id: str | None = None,  # noqa: A002
    ) -> Question:
        """Record an open question; its id is ``q1``, ``q2``, … unless it has one."""
        check_text(method, "the question", text)
        question = _part(
            method,
            Question,
            id=id or f"q{len(self.questions) + 1}",
            question=text,
            options=texts(method, "options", options),
        )
        self.questions.append(question)
        return question

    def next_step(self, text: str) -> None:
        """Record something that is left to do."""
        check_text("next_step", "the step", text)
        self.next_steps.append(text)

    def artifact(self, path: str, description: str) -> None:
        """Record a file worth keeping."""
        check_text("artifact", "path", path)
        self.artifacts.append(_part("artifact", Artifact, path=path, description=description))

    def add_usage(self, **amounts: float | None) -> None:
        """Add to what the work consumed so far."""
        # The single amounts are checked too: a negative one must not hide in the sum.
        _part("usage", Usage, **amounts)
        total: dict[str, float] = {}
        for name, amount in amounts.items():
            before = getattr(self.usage, name, None)
            if amount is not None or before is not None:
                total[name] = (before or 0) + (amount or 0)
        self.usage = _part("usage", Usage, **total)

    def output(self, key: str, value: object) -> None:
        """Record a value of the agent's own; it must be JSON."""
        check_text("output", "the key", key)
        try:
            # What cannot be read back is not written either.
            self.outputs[key] = decode(json.dumps(value), kind="value").value
        except (TypeError, ValueError, RecursionError, DocumentError) as error:
            raise MisuseError(
                method="output", problem=f"the value of {key!r} cannot be written as JSON: {error}"
            ) from error

    def report(
        self,
        status: Status,
        summary: str,
        *,
        task_id: str,
        details: str = "",
        next_steps: Sequence[str] = (),
    ) -> Report:
        """Make a report of what was gathered so far."""
        check_text(status, "the summary", summary)
        more = {"outputs": dict(self.outputs)} if self.outputs else {}
        return _part(
            status,
            Report,
            protocol="caesar.report/v1",
            task_id=task_id,
            status=status,
            summary=summary,
            details=details,
            changes=tuple(self.changes.values()),
            commands_run=tuple(self.commands),
            findings=tuple(self.findings),
            questions=tuple(self.questions),
            next_steps=(*self.next_steps, *texts(status, "next_steps", next_steps)),
            artifacts=tuple(self.artifacts),
            usage=self.usage,
            **more,
        )


def check_text(method: str, name: str, value: object) -> None:
    """Refuse what is no text, and text that says nothing."""
    if not isinstance(value, str):
        raise MisuseError(
            method=method, problem=f"{name} must be a string, not {type(value).__name__}"
        )
    if not value.strip():
        raise MisuseError(method=method, problem=f"{name} is empty")


def texts(method: str, name: str, values: Sequence[str]) -> tuple[str, ...]:
    """Return a sequence of strings as a tuple; one string alone is a mistake."""
    if isinstance(values, Iterable) and not isinstance(values, str):
        listed = tuple(values)
        if all(isinstance(value, str) for value in listed):
            return listed
    raise MisuseError(
        method=method, problem=f"{name} must be a list of strings, not {values!r:.80}"
    )


def check_timeout(method: str, value: object, *, zero: bool = False) -> None:
    """Refuse what is no number of seconds; infinity is one, and 0 where it is allowed."""
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else -1
    if not (number > 0 or (zero and number == 0)):
        least = ">= 0" if zero else "> 0"
        raise MisuseError(method=method, problem=f"timeout is {value!r:.80} s, expected {least}")


def _check_choice(method: str, name: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        raise MisuseError(
            method=method, problem=f"unknown {name} {value!r:.80}; known are {', '.join(known)}"
        )


def _part(method: str, model: Callable[..., AnyPart], **fields: object) -> AnyPart:
    try:
        return model(**fields)
    except ValidationError as error:
        first = as_document_error("report", error)
        raise MisuseError(method=method, problem=f"{first.where}: {first.problem}") from None
