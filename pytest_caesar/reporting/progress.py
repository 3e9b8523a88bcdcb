"""What an agent is doing, while a test waits for it: only on a terminal, only after a while."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final

from caesar_agent.clock import monotonic
from caesar_agent.console import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest
    from _pytest.capture import CaptureManager
    from _pytest.terminal import TerminalReporter

    from caesar_agent.documents.event import Event

PATIENCE: Final = 3.0
"""Seconds that a delegation lasts before anything is shown of it."""

PAUSE: Final = 1.0
"""Seconds between two lines at least."""

QUIET: Final = 5.0
"""Seconds without a line after which the end of the agent's output is shown instead."""

TOLD: Final = {
    "started": ("command",),
    "thinking": ("text",),
    "message": ("text",),
    "tool_use": ("tool", "input_summary"),
    "file_changed": ("action", "path"),
    "progress": ("message",),
    "question": ("question",),
    "answer": ("answer",),
    "error": ("message",),
    "finished": ("summary",),
}
"""What is told of an event: fields by type; none of any other type."""


class Progress:
    """Writes a line for events of a delegation that takes its time.

    Args:
        terminal: where to write.
        capture: what catches output meanwhile, or None.
        clock: gives seconds; must not be frozen by a test.
    """

    def __init__(
        self,
        terminal: TerminalReporter,
        capture: CaptureManager | None,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._terminal = terminal
        self._capture = capture
        self._clock = clock
        self._started: dict[str, float] = {}
        self._last = float("-inf")
        self._fd = -1

    def __call__(self, event: Event) -> None:
        """Take note of an event, and write it when it is time to."""
        now = self._clock()
        since = now - self._started.setdefault(event.task_id, now)
        if since < PATIENCE or now - self._last < PAUSE:
            return
        self._last = now
        self._show(f"caesar {event.task_id}, {since:.0f} s: {told(event)}")

    def quiet(self, task_id: str, output: Callable[[], bytes]) -> None:
        """Show what an agent printed last that has told nothing for some time.

        Args:
            task_id: of the delegation.
            output: gives the end of its log.
        """
        now = self._clock()
        since = now - self._started.setdefault(task_id, now)
        if since < max(PATIENCE, QUIET) or now - self._last < QUIET:
            return
        self._last = now
        lines = output().decode("utf-8", "backslashreplace").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "")
        told_last = f"printed {last.strip()}" if last else "nothing printed yet"
        self._show(f"caesar {task_id}, {since:.0f} s: {told_last}")

    @contextlib.contextmanager
    def directly(self) -> Iterator[bool]:
        """Write to the terminal itself while the block lasts; yields whether that is possible.

        For agents in this process: descriptors and captured output are theirs meanwhile, and
        what they tell is shown by another thread.
        """
        caught = self._capture.global_and_fixture_disabled() if self._capture else None
        with caught or contextlib.nullcontext():
            try:
                self._fd = os.dup(self._terminal._tw._file.fileno())  # noqa: SLF001 - as below
            except (OSError, ValueError, AttributeError):
                self._fd = -1
        try:
            yield self._fd >= 0
        finally:
            fd, self._fd = self._fd, -1
            if fd >= 0:
                os.close(fd)

    def _show(self, line: str) -> None:
        width = self._terminal._tw.fullwidth  # noqa: SLF001 - as pytest's own live log
        if self._fd >= 0:
            begun = "\n" if self._terminal.currentfspath else ""
            self._terminal.currentfspath = None
            text = f"{begun}{one_line(line, limit=width - 1)}\n"
            os.write(self._fd, text.encode("utf-8", "backslashreplace"))
            return
        if self._capture is None:
            self._write(one_line(line, limit=width - 1))
            return
        with self._capture.global_and_fixture_disabled():
            self._write(one_line(line, limit=width - 1))

    def _write(self, line: str) -> None:
        self._terminal.ensure_newline()
        self._terminal.write_line(line)


def told(event: Event) -> str:
    """Say an event in a few words."""
    words = [event.type.replace("_", " ")]
    for name in TOLD.get(event.type, ()):
        value = getattr(event, name, None)
        if value:
            words.append(str(value))
    pct: float | None = getattr(event, "pct", None) if event.type == "progress" else None
    if pct is not None:
        words.append(f"({pct:g} %)")
    return one_line(" ".join(words))


def progress_of(config: pytest.Config) -> Progress | None:
    """Return what shows progress in this session; None where nobody watches."""
    terminal: TerminalReporter | None = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None or not terminal.isatty or config.get_verbosity() < 0:
        return None
    return Progress(terminal, config.pluginmanager.get_plugin("capturemanager"))
