"""Handing a part of a task on to another agent, over files of the task directory.

``delegations/<id>.json`` asks, ``delegated/<id>.json`` answers; whoever creates the second
one first decides what became of it. An orchestrator that takes delegations makes the folder
``delegations`` before it starts the agent; where it is missing, nobody would answer.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.clock import monotonic
from caesar_agent.console import one_line, printable
from caesar_agent.documents.fields import MAX_INTEGER
from caesar_agent.documents.report_builder import check_text, check_timeout, texts
from caesar_agent.errors import DocumentError, MisuseError
from caesar_agent.events.narration import MAX_SUMMARY
from caesar_agent.mailbox import files
from caesar_agent.mailbox.errors import InvalidTextError, MailboxError
from caesar_agent.mailbox.values import encode, now
from caesar_agent.task_directory import MAX_DOCUMENT_BYTES, read_bounded

if TYPE_CHECKING:
    from caesar_agent.documents.delegation import DelegatedFile
    from caesar_agent.documents.report import Report
    from caesar_agent.documents.report_builder import ReportBuilder
    from caesar_agent.documents.task import Mode
    from caesar_agent.events.narration import Narrator

REQUESTS = "delegations"
"""Folder of what is asked for; its being there says that somebody answers."""

RESULTS = "delegated"
"""Folder of what came of it."""

MAX_RESULT_BYTES = MAX_DOCUMENT_BYTES + 2**20
"""Size of an answer that is read at most: a report, and what stands around it."""

SETTLE = 2.0
"""How long, in seconds, an answer that is not complete is read again."""

_LONGEST_PAUSE = 0.1
"""Between two looks, in seconds; another agent takes its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegated:
    """What came of a task that was handed on; a refusal is an outcome too, and not an error.

    Attributes:
        agent: the name that was asked for.
        refusal: why nothing came of it, in a sentence; "" when the other agent worked.
        task_id: its task; "" when none was given.
        report: its report, ``changes`` as observed; None when nothing came of it.
        source: where the report came from, ``file`` or ``synthesized`` say; "" without one.
        process: how its process ended, ``succeeded`` or ``timed_out`` say; "" without one.
        verified: git has verified the changes of the report.
    """

    agent: str
    refusal: str = ""
    task_id: str = ""
    report: Report | None = None
    source: str = ""
    process: str = ""
    verified: bool = False

    @property
    def ok(self) -> bool:
        """The other agent ended well, and its report says ``success``."""
        return (
            self.process == "succeeded"
            and self.report is not None
            and self.report.status == "success"
        )

    @property
    def summary(self) -> str:
        """Its summary, or the refusal."""
        return self.refusal if self.report is None else self.report.summary


class Delegator:
    """Hands parts of one task on, writes events of it, and declares the changes of the others.

    Args:
        directory: the task directory of the agent that delegates.
        narrator: writes the events.
        report_builder: where the changes of the others are declared.
        remaining: gives the seconds until the deadline.
    """

    def __init__(
        self,
        directory: Path,
        *,
        narrator: Narrator,
        report_builder: ReportBuilder,
        remaining: Callable[[], float],
    ) -> None:
        self._directory = directory
        self._narrator = narrator
        self._report_builder = report_builder
        self._remaining = remaining

    def delegate(
        self,
        name: str,
        objective: str,
        *,
        number: int,
        context: str,
        constraints: Sequence[str],
        acceptance_criteria: Sequence[str],
        mode: Mode | None,
        timeout: float | None,
    ) -> Delegated:
        """Do what ``Agent.delegate`` says; ``number`` is that of this delegation, for its events."""
        check_text("delegate", "the name", name)
        check_text("delegate", "the objective", objective)
        request = DelegationRequest(self._directory, name)
        data = request.encode(
            objective,
            **_checked(
                context=context,
                constraints=constraints,
                acceptance_criteria=acceptance_criteria,
                mode=mode,
                timeout=timeout,
            ),
        )
        told = {
            "tool": "delegate",
            "id": f"delegate_{number}",
            "input_summary": one_line(f"{name}: {objective}", limit=MAX_SUMMARY),
        }
        self._narrator.tell("tool_use", **told, status="started")
        status = "failed"
        try:
            result = request.ask(data) or _wait(request, self._remaining())
            status = "succeeded" if result.ok else "failed"
        finally:
            self._narrator.tell("tool_use", **told, status=status)
        for change in result.report.changes if result.report is not None else ():
            # A report that git did not verify may say anything.
            if change.path.strip():
                self._report_builder.change(change.path, change.action, change.summary)
        return result


def _checked(
    *,
    context: str,
    constraints: Sequence[str],
    acceptance_criteria: Sequence[str],
    mode: Mode | None,
    timeout: float | None,
) -> dict[str, object]:
    """Return what goes into the request; raises ``MisuseError``."""
    if not isinstance(context, str):
        raise MisuseError(
            method="delegate", problem=f"context must be a string, not {type(context).__name__}"
        )
    value: dict[str, object] = {
        "context": context,
        "constraints": list(texts("delegate", "constraints", constraints)),
        "acceptance_criteria": list(texts("delegate", "acceptance_criteria", acceptance_criteria)),
    }
    if mode is not None:
        if mode not in ("read-only", "write"):
            raise MisuseError(
                method="delegate", problem=f"mode is {mode!r:.80}, expected read-only or write"
            )
        value["mode"] = mode
    if timeout is not None:
        check_timeout("delegate", timeout)
        # Longer than can be written is all the time that is left.
        if timeout * 1000 <= MAX_INTEGER:
            value["timeout_ms"] = max(1, round(timeout * 1000))
    return value


def _wait(request: DelegationRequest, timeout: float) -> Delegated:
    try:
        return request.wait(timeout)
    except BaseException:
        # Nobody would read what the other agent does from now on.
        request.withdraw()
        raise


class DelegationRequest:
    """One delegation, for the one who asks.

    Args:
        directory: the task directory of the one who asks.
        agent: exact name of the agent that is asked for.
    """

    def __init__(self, directory: Path, agent: str) -> None:
        self.id = str(uuid.uuid4())
        self._directory = directory
        self._agent = agent

    def encode(self, objective: str, **more: object) -> bytes:
        """Return the file that asks; ``MisuseError`` when it is too long."""
        value = {"id": self.id, "agent": self._agent, "objective": objective}
        try:
            return encode("delegation", {**value, **more, "asked_at": now()})
        except InvalidTextError as error:
            raise MisuseError(method="delegate", problem=error.problem) from error

    def ask(self, request: bytes) -> Delegated | None:
        """Put the request where the orchestrator finds it; a refusal when there is none."""
        try:
            with files.folder(self._directory, REQUESTS) as folder:
                if folder is None:
                    return self._refused(
                        "This orchestrator takes no delegations; do the work yourself."
                    )
                files.create(folder, f"{self.id}.json", request)
        except (OSError, MailboxError) as error:
            return self._refused(f"The request cannot be written: {printable(str(error))}.")
        return None

    def wait(self, timeout: float) -> Delegated:
        """Wait for what comes of it, ``timeout`` seconds at most; then it is withdrawn."""
        start = monotonic()
        end = start + max(0.0, timeout)
        while (result := self._look()) is None:
            left = end - monotonic()
            if left <= 0:
                return self._late()
            time.sleep(min(_LONGEST_PAUSE, max(0.002, (monotonic() - start) / 50), left))
        return result

    def withdraw(self) -> bool:
        """Say that nobody waits any more; False when an answer was first."""
        note = {"id": self.id, "state": "withdrawn"}
        try:
            with files.folder(self._directory, RESULTS, create=True) as folder:
                if folder is None:
                    return True
                data = (json.dumps(note) + "\n").encode()
                return files.create(folder, f"{self.id}.json", data)
        except (OSError, MailboxError):
            return True

    def _late(self) -> Delegated:
        end = monotonic() + SETTLE
        if not self.withdraw():
            while monotonic() < end:
                result = self._look()
                if result is not None:
                    return result
                time.sleep(0.01)
        return self._refused("Nothing came back before the deadline; it was withdrawn.")

    def _look(self) -> Delegated | None:
        try:
            with files.folder(self._directory, RESULTS) as folder:
                if folder is None:
                    return None
                name = Path(f"{self.id}.json")
                reading = read_bounded(name, max_bytes=MAX_RESULT_BYTES, dir_fd=folder)
        except (OSError, MailboxError) as error:
            return self._refused(f"The answer cannot be read: {printable(str(error))}.")
        if reading.problem is not None:
            return self._refused(f"The answer cannot be read: {reading.problem.message}.")
        return None if reading.data is None else self._parse(reading.data)

    def _parse(self, data: bytes) -> Delegated | None:
        from caesar_agent.documents.delegation import DelegatedFile  # noqa: PLC0415 - slow

        try:
            found: DelegatedFile = DelegatedFile.parse(data)
        except DocumentError:
            # Where the file system has no links, it may be half written.
            return None
        if found.state == "withdrawn":
            return self._refused("It was withdrawn.")
        if found.state == "refused" or found.report is None:
            return self._refused(found.reason or "It was refused without a reason.")
        return Delegated(
            agent=self._agent,
            task_id=found.task_id,
            report=found.report,
            source=found.source,
            process=found.process,
            verified=found.verified,
        )

    def _refused(self, reason: str) -> Delegated:
        return Delegated(agent=self._agent, refusal=reason)
