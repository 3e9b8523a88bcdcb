"""Findings of the harness, each with a stable code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One finding about a run, a document or a log; never the agent's own words.

    Attributes:
        code: stable, kebab-case, one of ``CODES``.
        message: one sentence: what was found and what it means.
        path: the file it is about, workspace-relative or absolute, or None.
        line: 1-based line in that file, or None.
    """

    code: str
    message: str
    path: str | None = None
    line: int | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the JSON form: ``code``, ``message``, ``path``, and ``line`` where known."""
        data: dict[str, object] = {"code": self.code, "message": self.message, "path": self.path}
        if self.line is not None:
            data["line"] = self.line
        return data


CODES: dict[str, str] = {
    # documents and event log
    # workspace
    # supervision
    # recovery
    # reconciliation and contradictions
    # mailbox and channel
    "question-invalid": "A file in questions/ is not a question and was not read as one.",
    "answer-invalid": "A file in answers/ is neither an answer nor a note, and reached nobody.",
    "answer-foreign": "A question was answered by somebody who is not the orchestrator.",
    "mailbox-unsafe": "questions/ or answers/ is a link or no folder, and was not entered.",
    "mailbox-unreadable": "questions/ or answers/ could not be read.",
    "mailbox-flooded": "questions/ holds more files than are looked at.",
    # configuration and agents
}
"""Every code with one sentence on its meaning; a test compares it with the sources both ways."""
