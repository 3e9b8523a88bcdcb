"""The trials of a session as their reports come in, and the verdict on each test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import pytest
from _pytest._code.code import TerminalRepr

from pytest_caesar.session.trial_board import Board, LocalBoard, SharedBoard
from pytest_caesar.trials.causes import FailedTrial
from pytest_caesar.trials.document import judged_as_json, judged_from_json
from pytest_caesar.trials.rate_gate import Gate, Outcome, Verdict, judge, known
from pytest_caesar.trials.table import Judged, cause_lines, headline, lines

if TYPE_CHECKING:
    from _pytest._io import TerminalWriter

SHOWN: Final = 10
"""Causes that a missed verdict shows in full: one trial of each."""


@dataclass(slots=True)
class _Group:
    """The trials of one test, as far as they are known."""

    facts: Mapping[str, Any]
    gate: Gate
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    ended: dict[int, Outcome] = field(default_factory=dict)
    failed: dict[int, FailedTrial] = field(default_factory=dict)
    sections: dict[int, list[tuple[str, str]]] = field(default_factory=dict)
    usage: dict[int, Mapping[str, float]] = field(default_factory=dict)
    items: dict[int, str] = field(default_factory=dict)
    duration: float = 0.0
    verdict: Verdict | None = None

    @property
    def judged(self) -> Judged:
        return Judged(
            nodeid=self.facts["test"],
            family=self.facts["family"],
            agent=self.facts["agent"],
            verdict=self.verdict or self.judge(),
            failed=tuple(self.failed[number] for number in sorted(self.failed)),
            usage={number: self.usage[number] for number in sorted(self.usage)},
        )

    def judge(self) -> Verdict:
        return judge(self.gate, self.ended, pending=bool(self.facts["pending"]))


class Missed(TerminalRepr):
    """What a failing verdict shows: its line, and one failure of each cause in full."""

    @dataclass(frozen=True, slots=True)
    class Crash:
        """What the summary of pytest shows behind the test's name."""

        path: str
        lineno: int
        message: str

    def __init__(self, path: str, line: int, first: str, text: str) -> None:
        self.reprcrash = self.Crash(path, line, first)
        self.text = text

    def __str__(self) -> str:
        return f"{self.reprcrash.message}\n{self.text}".rstrip()

    def toterminal(self, tw: TerminalWriter) -> None:
        """Write it."""
        for line in str(self).splitlines():
            tw.line(line)


class TrialLedger:
    """Takes up what became of each trial, and reports the verdict on each test once.

    Lives where reports arrive: in the one process, or in the controller of the workers.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._groups: dict[str, _Group] = {}
        self._rates: list[dict[str, Any]] = []
        self.board: Board = LocalBoard()

    # --- while trials run --------------------------------------------------------------

    def expect(self, tests: Mapping[str, Mapping[str, Any]]) -> None:
        """Take up which tests have trials, before any of them ran."""
        for test, facts in tests.items():
            if test not in self._groups:
                group = _Group(facts, Gate.from_json(facts["gate"]))
                group.items.update({int(number): of for number, of in facts["items"].items()})
                self._groups[test] = group

    def take(self, report: pytest.TestReport) -> None:
        """Take up one phase of one trial; report the verdict once it was the last one."""
        told: Mapping[str, Any] = report.caesar_trial
        self._meet_workers(report)
        self.expect({told["test"]: told})
        group, number = self._groups[told["test"]], int(told["number"])
        group.items.setdefault(number, report.nodeid)
        group.duration += report.duration
        self._note(group, number, told, report)
        if report.when != "teardown":
            return
        outcome = group.outcomes.get(number, "error")
        if outcome == "stopped" and not known(group.gate, group.ended):
            return  # nobody but this ledger says so: it never ran
        group.ended[number] = outcome
        if group.gate.stop and known(group.gate, group.ended):
            self.board.settle(told["test"])
        if len(group.ended) == group.gate.trials:
            self._report(told["test"], group)

    def note(self, rates: Iterable[dict[str, Any]]) -> None:
        """Take up rates that a test asked of ``caesar_trials``."""
        self._rates += rates

    def _note(
        self, group: _Group, number: int, told: Mapping[str, Any], report: pytest.TestReport
    ) -> None:
        if told.get("usage"):
            group.usage[number] = told["usage"]
        outcome = told.get("outcome")
        if outcome is None:
            return
        if outcome in ("failure", "error") and number not in group.failed:
            group.failed[number] = FailedTrial(
                number=number,
                outcome=outcome,
                message=told["message"],
                codes=tuple(told["codes"]),
                text=told["text"],
            )
            group.sections[number] = list(report.sections)
        # What the set-up or the call said counts, but for a success that could not be put away.
        if group.outcomes.get(number) in (None, "success"):
            group.outcomes[number] = outcome

    def _meet_workers(self, report: pytest.TestReport) -> None:
        node = getattr(report, "node", None)
        if node is None or isinstance(self.board, SharedBoard):
            return
        self.board = SharedBoard(str(node.workerinput["testrunuid"]))
        self.expect(self.board.announced())

    # --- verdicts ----------------------------------------------------------------------

    def close(self, *, stopped: bool) -> None:
        """Report what is still to be reported, and have ``--lf`` run all trials of a miss.

        Args:
            stopped: the session ends early (``-x``, Ctrl-C), so that its exit code is not 0
                already: what never began is no finding then.
        """
        for test in [test for test, group in self._groups.items() if group.verdict is None]:
            group = self._groups[test]
            if not stopped or group.judge().state != "incomplete":
                self._report(test, group)
            elif not group.ended:
                del self._groups[test]
        for test, group in self._groups.items():
            fails = group.verdict is not None and group.verdict.fails
            self._remember(test, failed=False)
            for nodeid in group.items.values():
                self._remember(nodeid, failed=fails)
        if isinstance(self.board, SharedBoard):
            self.board.remove()

    def _remember(self, nodeid: str, *, failed: bool) -> None:
        """Have pytest's ``--lf`` run an item the next time, or not."""
        plugin = self._config.pluginmanager.getplugin("lfplugin")
        if plugin is not None:
            outcome: Literal["failed", "skipped"] = "failed" if failed else "skipped"
            # Asked by its hook: what it keeps them under differs between versions of pytest.
            plugin.pytest_runtest_logreport(
                report=pytest.TestReport(nodeid, ("", None, ""), {}, outcome, None, "call")
            )

    def _report(self, test: str, group: _Group) -> None:
        """Report the verdict on a test as pytest reports a test."""
        group.verdict = verdict = group.judge()
        if verdict.state in ("rated", "pending"):
            return
        self._config.pluginmanager.getplugin("session").testscollected += 1  # for its percentage
        path, line, domain = group.facts["location"]
        what = headline(verdict)
        outcome, sections = "passed", []
        longrepr: Missed | tuple[str, int, str] | None = None
        if verdict.fails:
            outcome, longrepr = "failed", Missed(path, (line or 0) + 1, what, _details(group))
            sections = _sections(group)
        elif verdict.state in ("undecided", "skipped"):
            outcome, longrepr = "skipped", (path, (line or 0) + 1, f"Skipped: {what}")
        hook = self._config.hook
        for when in ("setup", "call", "teardown"):
            report = pytest.TestReport(
                nodeid=test,
                location=(path, line, domain),
                keywords={},
                outcome=outcome if when == "call" else "passed",  # type: ignore[arg-type]
                longrepr=longrepr if when == "call" else None,
                when=when,
                sections=sections if when == "call" else [],
                duration=group.duration if when == "call" else 0.0,
            )
            report.caesar_verdict = judged_as_json(group.judged, group.ended)  # type: ignore[attr-defined]
            hook.pytest_runtest_logreport(report=report)
        if verdict.fails:
            self._stop_workers()

    def _stop_workers(self) -> None:
        """Stop the session where ``-x`` or ``--maxfail`` says so; alone, pytest does it itself."""
        distributed = self._config.pluginmanager.getplugin("dsession")
        running = self._config.pluginmanager.getplugin("session")
        if distributed is not None and running is not None and running.shouldfail:
            distributed.shouldstop = distributed.shouldstop or running.shouldfail

    # --- at the end --------------------------------------------------------------------

    def lines(self) -> list[str]:
        """Return the table of trials for the end of the session."""
        rates = [judged_from_json(entry) for entry in self._rates]
        return lines([*(group.judged for group in self._groups.values()), *rates])

    def as_json(self) -> list[dict[str, Any]]:
        """Return every test with trials, as ``--caesar-json`` holds it."""
        groups = [judged_as_json(group.judged, group.ended) for group in self._groups.values()]
        return [*groups, *self._rates]


def _details(group: _Group) -> str:
    causes = group.judged.causes
    parts = [
        f"--- trial {cause.first.number}, one of {len(cause.trials)}\n{cause.first.text}"
        for cause in causes[:SHOWN]
    ]
    return "\n\n".join(filter(None, ("\n".join(cause_lines(causes, SHOWN)), *parts)))


def _sections(group: _Group) -> list[tuple[str, str]]:
    """Return what the first trial of each cause showed of its runs."""
    return [
        section
        for cause in group.judged.causes[:SHOWN]
        for section in group.sections.get(cause.first.number, ())
    ]
