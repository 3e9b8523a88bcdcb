"""Notes what a session collected and what became of each test; also from workers of xdist."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from datetime import datetime, timezone
from typing import Any, Final

import pytest

from caesar_agent.clock import monotonic
from caesar_agent.console import one_line
from pytest_caesar.settings.advice import run_again

WORKER: Final = "caesar_collected"
"""Key of what a worker of pytest-xdist sends at its end."""

MAX_DETAILS: Final = 16 * 1024
"""Characters of what pytest shows of a failure that are kept: the last ones."""


_TRIALS: Final = {
    "success": "passed", "failure": "failed", "error": "error", "skipped": "skipped",
    "stopped": "not run",
}  # fmt: skip
"""Outcomes of trials in the words of tests."""


class SessionRecorder:
    """A plugin that notes what a session did.

    Args:
        config: of this process, which may be a worker.
        agent_of: gives the id of the agent that a test runs with, or None.
        repeated: options that a test needs to run again as it ran.
    """

    def __init__(
        self,
        config: pytest.Config,
        *,
        agent_of: Callable[[pytest.Item], str | None],
        repeated: tuple[str, ...],
    ) -> None:
        self._config = config
        self._agent_of = agent_of
        self._repeated = repeated
        self.started_at = datetime.now(timezone.utc)
        self._start = monotonic()
        self.collected: list[str] = []
        self.deselected: list[str] = []
        self.tests: dict[tuple[str, int], dict[str, Any]] = {}
        self._executions: dict[str, int] = {}

    @property
    def duration(self) -> float:
        """Seconds since the session started."""
        return monotonic() - self._start

    # --- collection --------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, items: list[pytest.Item]
    ) -> Generator[None, None, None]:
        """Note all tests, also those that are left out and those that are added."""
        self._collect(items)
        yield
        self._collect(items)

    def _collect(self, items: Iterable[pytest.Item]) -> None:
        self.collected = list(dict.fromkeys([*self.collected, *(one.nodeid for one in items)]))

    def pytest_deselected(self, items: Iterable[pytest.Item]) -> None:
        """Note what pytest's own options leave out; what a plugin takes out is a split."""
        self._collect(items)
        if _by_pytest():
            self.deselected += [item.nodeid for item in items]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Send it from a worker."""
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            output[WORKER] = [self.collected, self.deselected]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take up what a worker sent: each of them collects everything."""
        sent = getattr(node, "workeroutput", {}).get(WORKER)
        if sent is not None:
            self.collected = list(dict.fromkeys([*self.collected, *sent[0]]))
            self.deselected = list(dict.fromkeys([*self.deselected, *sent[1]]))

    # --- tests -------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put into the first report of a test what only its process knows."""
        report = yield
        if report.when == "setup":
            report.caesar_test = {  # type: ignore[attr-defined]
                "agent": self._agent_of(item),
                "again": run_again(item, self._repeated),
            }
        return report

    def take(self, report: pytest.TestReport) -> None:
        """Note what became of a test; also of one that another worker ran."""
        if report.when == "setup":
            # Another plugin may execute a test again.
            self._executions[report.nodeid] = self._executions.get(report.nodeid, 0) + 1
        execution = self._executions.get(report.nodeid, 1)
        entry = self.tests.get((report.nodeid, execution))
        if entry is None:
            path, line, _ = report.location
            entry = self.tests[report.nodeid, execution] = {
                "test": report.nodeid,
                "execution": execution,
                "agent": None,
                "again": "",
                "outcome": "",
                "duration": 0.0,
                "path": path,
                "line": None if line is None else line + 1,
            }
        entry.update(getattr(report, "caesar_test", {}))
        entry["duration"] = round(entry["duration"] + report.duration, 6)
        trial = getattr(report, "caesar_trial", None)
        if trial is not None:
            self._take_trial(entry, trial)
            return
        outcome = outcome_of(report)
        if outcome and entry["outcome"] not in ("failed", "error"):
            entry["outcome"] = outcome
            if outcome not in ("passed", "xfailed"):
                cause = cause_of(report)
                entry.update({"cause": cause} if cause else {})
        if outcome in ("failed", "error", "rerun"):
            entry.setdefault("details", report.longreprtext[-MAX_DETAILS:])

    def _take_trial(self, entry: dict[str, Any], trial: Mapping[str, Any]) -> None:
        """Note what became of one repeat of a test, whatever form its report has for others."""
        entry.update(trial=trial["number"], base=trial["family"])
        if trial.get("agent"):
            entry["agent"] = trial["agent"]
        outcome = trial.get("outcome")
        if outcome is not None and entry["outcome"] not in ("failed", "error"):
            entry["outcome"] = _TRIALS.get(outcome, outcome)
            if outcome in ("failure", "error"):
                entry["cause"] = one_line(str(trial.get("message", "")), limit=400)
                entry["details"] = str(trial.get("text", ""))[-MAX_DETAILS:]


def _by_pytest() -> bool:
    """Tell whether a hook was called by pytest's own code."""
    frame = sys._getframe(1)  # noqa: SLF001 - the hook does not say who calls it
    while frame.f_back is not None:
        frame = frame.f_back
        module = str(frame.f_globals.get("__name__", ""))
        if not module.startswith(("pluggy", __name__)):
            return module.startswith("_pytest.")
    return False


def outcome_of(report: pytest.TestReport) -> str:
    """Return what one report says of its test in a word, or "" for nothing."""
    if report.outcome not in ("passed", "failed", "skipped"):
        return str(report.outcome)  # "rerun", of a plugin
    expected = hasattr(report, "wasxfail")
    if report.when == "call":
        if report.skipped:
            return "xfailed" if expected else "skipped"
        if report.passed:
            return "xpassed" if expected else "passed"
        return "failed"
    if report.skipped:
        return "xfailed" if expected else "skipped"
    return "error" if report.failed else ""


def cause_of(report: pytest.TestReport) -> str:
    """Return why a test failed or was skipped, on one line."""
    longrepr: object = report.longrepr
    if isinstance(longrepr, tuple):
        return one_line(str(longrepr[-1]), limit=400)
    crash = getattr(longrepr, "reprcrash", None)
    text: str = crash.message if crash is not None else report.longreprtext
    lines = [line for line in text.strip().split("\n") if line.strip()]
    # pytest.fail puts its own name before what it was given.
    return one_line(lines[0].removeprefix("Failed: ") if lines else "", limit=400)
