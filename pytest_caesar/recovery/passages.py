"""Which texts of a log count as the agent's own words."""

from __future__ import annotations

from dataclasses import dataclass

from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.recovery.evidence import Evidence
from pytest_caesar.recovery.extraction import Passage


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A log, read.

    Attributes:
        dialect: its native stream, or ``plain``.
        passages: the agent's own words, in the order in which they were printed.
        final: its structured or last message, when the stream marks one.
        last_words: its last message, to be quoted; "" when the log is plain.
        failed: why the stream says that the agent failed, or None.
        diagnostics: what was strange.
    """

    dialect: str
    passages: tuple[Passage, ...]
    final: str | None = None
    last_words: str = ""
    failed: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


def read_log(evidence: Evidence) -> Script:
    """Read the log, and the message file of the CLI where there is one."""
    log = evidence.raw_log
    passages = [Passage(text=log, start=0, end=len(log), verbatim=True)]
    if evidence.final_message:
        passages.append(Passage(text=evidence.final_message, start=len(log), end=len(log)))
    return Script(dialect="plain", passages=tuple(passages))
