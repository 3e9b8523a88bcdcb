"""A delegation that goes on in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable

from pytest_caesar.runs.run import Run
from pytest_caesar.supervision.cancellation import INTERRUPTED_GRACE, Cancellation


class PendingRun:
    """A delegation that goes on in the background."""

    def __init__(self, work: Callable[[], Run], cancelled: Cancellation) -> None:
        self._cancelled = cancelled
        self._run: Run | None = None
        self._error: BaseException | None = None
        self._lock = threading.Lock()
        self._ended = False
        self._then: list[Callable[[], object]] = []
        self._thread = threading.Thread(target=self._work, args=(work,), name="caesar-delegation")
        self._thread.start()

    def _work(self, work: Callable[[], Run]) -> None:
        try:
            self._run = work()
        except BaseException as error:  # noqa: BLE001 - raised again in wait()
            self._error = error
        with self._lock:
            self._ended = True
        for then in self._then:
            then()

    def when_done(self, then: Callable[[], object]) -> None:
        """Have something called, in the thread of the delegation, once ``wait`` need not wait.

        Args:
            then: must not raise, and take next to no time; called at once where all is over.
        """
        with self._lock:
            if not self._ended:
                self._then.append(then)
                return
        then()

    def cancel(self) -> None:
        """End the agent; the run ends as ``cancelled`` and stays so."""
        self._cancelled.set()

    @property
    def done(self) -> bool:
        """Whether ``wait`` would return, or raise, at once."""
        return not self._thread.is_alive()

    def wait(self) -> Run:
        """Wait until everything about the delegation is known.

        Raises:
            CaesarError: the agent could not be started, as ``Orchestrator.delegate`` does.
        """
        try:
            self._thread.join()
        except KeyboardInterrupt:
            self._cancelled.hurry(INTERRUPTED_GRACE)
            raise
        if self._error is not None:
            raise self._error
        assert self._run is not None
        return self._run
