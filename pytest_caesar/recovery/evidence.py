"""What recovery is given, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.report import Change, Report


class Status(str, Enum):
    """What the report says; compares equal to the plain word."""

    SUCCESS = "success"
    PARTIAL = "partial"
    FAILED = "failed"
    BLOCKED = "blocked"

    __str__ = str.__str__


class Source(str, Enum):
    """Where the report came from; compares equal to the plain word."""

    CHANNEL = "channel"
    SCHEMA = "schema"
    FILE = "file"
    EXTRACTED = "extracted"
    SYNTHESIZED = "synthesized"

    __str__ = str.__str__


Form = Literal["fence", "object"]

_BYTES = ("raw_log", "stderr_log", "report_file", "submission", "final_message")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that is left of a delegation once its process tree is gone.

    Attributes:
        task_id: the task that was given; "" takes a report of any task.
        mode: ``read-only`` or ``write``; decides what "no change" means.
        raw_log: the bytes that were read of ``raw.log`` (the last 64 MiB at most).
        raw_log_offset: where ``raw_log`` starts in the file, in bytes.
        stderr_log: the last bytes of ``stderr.log``, where the agent has a stream of its own.
        brief: the brief as it was sent, or None when unknown.
        dialect: name of the native stream, ``plain``, or None to detect it.
        report_file: bytes of ``report.json``; None when it could not be read.
        report_file_problem: why there is no ``report_file``; None when it is simply absent.
        submission: bytes of ``submission.json``, or None.
        submission_problem: as for ``report_file_problem``.
        final_message: bytes of the file the CLI itself wrote its last message to, or None.
        final_message_problem: as for ``report_file_problem``.
        schema_expected: the CLI was asked for a structured final message.
        exit_code, signal, timed_out, cancelled: how the process ended.
        killed_after_report: it was ended after it had delivered its report.
        exit_meaning: what the exit code means where the agent's CLI is known, or "".
        changes: what was observed, or None when git could not tell.
        search_log: look for a report in the log and in the final message at all.
    """

    task_id: str = ""
    mode: Literal["read-only", "write"] = "write"
    raw_log: bytes = b""
    raw_log_offset: int = 0
    stderr_log: bytes = b""
    brief: str | None = None
    dialect: str | None = None
    report_file: bytes | None = None
    report_file_problem: Diagnostic | None = None
    submission: bytes | None = None
    submission_problem: Diagnostic | None = None
    final_message: bytes | None = None
    final_message_problem: Diagnostic | None = None
    schema_expected: bool = False
    exit_code: int | None = 0
    signal: str | None = None
    timed_out: bool = False
    cancelled: bool = False
    killed_after_report: bool = False
    exit_meaning: str = ""
    changes: tuple[Change, ...] | None = None
    search_log: bool = True

    def __post_init__(self) -> None:
        """Refuse text where recovery counts bytes; ``TypeError``."""
        for name in _BYTES:
            value = getattr(self, name)
            if not isinstance(value, bytes) and (value is not None or name.endswith("_log")):
                raise TypeError(
                    f"{name} is of type {type(value).__name__}: expected bytes, as they are in "
                    'the file (b"…", text.encode(), path.read_bytes())'
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """The verdict.

    Attributes:
        report: as the agent gave it, or synthesized.
        source: where it came from.
        form: ``fence`` or ``object`` when ``source`` is ``extracted``, else None.
        offsets: start and end in ``raw.log``, in bytes, or None.
        diagnostics: what was wrong with every better source, in order.
    """

    report: Report
    source: Source
    form: Form | None = None
    offsets: tuple[int, int] | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def status(self) -> Status:
        """What the report says."""
        return Status(self.report.status)

    @property
    def summary(self) -> str:
        """The report's summary."""
        return self.report.summary

    def __repr__(self) -> str:
        codes = list(dict.fromkeys(item.code for item in self.diagnostics))
        more = [f"{len(codes) - 3} more findings"] if len(codes) > 3 else []
        told = ", ".join([f"{self.report.status} from {self.source}", *codes[:3], *more])
        return f"<Recovered: {told}>"
