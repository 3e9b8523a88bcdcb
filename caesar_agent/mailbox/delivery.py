"""Handing in the report, by file or through the return channel."""

from __future__ import annotations

from pathlib import Path

from caesar_agent.documents.report import Report
from caesar_agent.errors import DeliveryError
from caesar_agent.task_directory import write_atomic


class Delivery:
    """Where the report of one task goes.

    Args:
        path: ``$CAESAR_REPORT_PATH``.
        directory: the task directory when the task has a return channel, else None.
    """

    def __init__(self, path: Path, directory: Path | None) -> None:
        self._path = path
        self._directory = directory
        self.submitted: Report | None = None

    def submit(self, report: Report) -> None:
        """Hand in a report now, through the channel where there is one.

        Raises:
            DeliveryError: it cannot be written.
            ForeignReportError: it is the report of another task.
        """
        if self._directory is None:
            self._write(report)
        else:
            from caesar_agent.mailbox.mailbox import (  # noqa: PLC0415 - only where it is used
                Mailbox,
            )

            try:
                Mailbox(self._directory).submit(report)
            except OSError as error:
                raise self._error(error) from error
            if self._path != self._directory / "report.json":
                self._write(report)
        self.submitted = report

    def deliver(self, report: Report) -> None:
        """Hand in the last word of the agent.

        Raises:
            DeliveryError: it cannot be written.
        """
        if self.submitted is None:
            self._write(report)
        elif report != self.submitted:
            # What was submitted would win over a mere file.
            self.submit(report)

    def _write(self, report: Report) -> None:
        # A lone surrogate, such as in the name of a file that is not UTF-8, becomes a
        # JSON escape and reads back as it was.
        data = report.to_json().encode("utf-8", "backslashreplace")
        try:
            write_atomic(self._path, data)
        except OSError as error:
            raise self._error(error) from error

    def _error(self, error: OSError) -> DeliveryError:
        return DeliveryError(path=str(self._path), reason=error.strerror or str(error))
