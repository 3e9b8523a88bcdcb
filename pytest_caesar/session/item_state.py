"""What one execution of one test has used, and what its report shows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from _pytest.outcomes import Failed

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_caesar.orchestrator.orchestrator import Orchestrator
    from pytest_caesar.recovery.evidence import Recovered
    from pytest_caesar.runs.run import Run
    from pytest_caesar.snapshots.fixture import CaesarSnapshot

IN_FULL = 3
"""Runs of one test that are shown in full when it fails: the last ones, which what failed is
mostly about; the others get two lines each."""


class TestState:
    """What one execution of one test has used so far.

    Attributes:
        orchestrators: those whose runs are told in the test's report.
        snapshots: those whose differences are.
        kept: verdicts on what is kept of runs, as ``caesar_recover`` gave them.
        judges: asked once the test's body has passed; what they return is why the test
            fails. Of a test that fails by itself they are asked for a section.
        rates: what ``caesar_trials`` was asked, as ``--caesar-json`` holds it.
        headlines: first lines of the explanations of its comparisons.
        raised: a judge has failed the test.
        sent: how many runs went into reports.
        described: how many runs were described in sections.
        judged: how many verdicts were.
    """

    __test__ = False

    def __init__(self) -> None:
        self.orchestrators: list[Orchestrator] = []
        self.snapshots: list[CaesarSnapshot] = []
        self.kept: list[Recovered] = []
        self.judges: list[Callable[[], str | None]] = []
        self.rates: list[dict[str, object]] = []
        self.headlines: list[str] = []
        self.raised = False
        self.sent = 0
        self.described = 0
        self.judged = 0

    @property
    def runs(self) -> list[Run]:
        """Every run so far, in order."""
        return [run for orchestrator in self.orchestrators for run in orchestrator.runs]

    def reword(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Put the cause into the first line of a failed assertion about a run."""
        error = excinfo.value
        text = str(error)
        if self.raised and type(error) is Failed:
            excinfo._striptext = "Failed: "  # noqa: SLF001 - no public way
            return
        if type(error) is not AssertionError or not (self.runs or self.headlines):
            return
        from pytest_caesar.reporting.explanations.assertion import (  # noqa: PLC0415 - only on failure
            reworded,
        )

        runs = [run for top in self.runs for run in top.tree]
        written = str(excinfo.traceback[-1].statement).strip()
        statement = written if written.startswith("assert") else ""
        new = reworded(text, statement=statement, runs=runs, headlines=self.headlines)
        if new is not None:
            error.args = (new,)
            # As pytest does for texts that begin with "assert": the first line is the cause.
            excinfo._striptext = "AssertionError: "  # noqa: SLF001 - no public way

    def describe(self, report: pytest.TestReport) -> None:
        """Add sections on what is not described yet to the report of a phase that failed."""
        from pytest_caesar.reporting.sections import (  # noqa: PLC0415 - only on failure
            brief_section,
            run_section,
            verdict_section,
        )

        # First: what a run looks like may well come of it.
        if report.when == "call" and not self.raised:
            for judge in self.judges:
                problem = judge()
                if problem:
                    report.sections.append(("caesar: what else was found", problem))
        runs = self.runs
        for index, run in enumerate(runs):
            if index >= self.described:
                make = run_section if index >= len(runs) - IN_FULL else brief_section
                report.sections.append(make(run))
        self.described = len(runs)
        for index, recovered in enumerate(self.kept):
            if index >= max(self.judged, len(self.kept) - IN_FULL):
                report.sections.append(verdict_section(recovered, index + 1))
        self.judged = len(self.kept)
        for snapshot in self.snapshots:
            report.sections.extend(snapshot.take_sections())


STATE: pytest.StashKey[TestState] = pytest.StashKey()
