"""A check as an item of pytest: one requirement, for one agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from caesar_agent.errors import CaesarError
from pytest_caesar.conformance.checks import CHECKS
from pytest_caesar.conformance.judgement import Finding
from pytest_caesar.conformance.known_failures import BASELINE_NAME
from pytest_caesar.conformance.registry import Requirement
from pytest_caesar.conformance.result import Result
from pytest_caesar.conformance.result_file import transcript
from pytest_caesar.conformance.scenario_cache import Bench
from pytest_caesar.orchestrator import reaper

if TYPE_CHECKING:
    from pytest_caesar.conformance.collection import Conformance


class Module(pytest.Collector):
    """Stands for the file that there is not."""

    def collect(self) -> list[pytest.Item]:
        """Return nothing: the items are added when all others are there."""
        return []


class CheckItem(pytest.Item):
    """One requirement, for one agent."""

    def __init__(
        self, *, requirement: Requirement, bench: Bench, kit: Conformance, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.requirement = requirement
        self.bench = bench
        self.kit = kit
        self.finding: Finding | None = None
        for mark in (requirement.level, requirement.area.lower(), requirement.kind):
            self.add_marker(mark)

    @property
    def known(self) -> str | None:
        """Why a failure is known, or None."""
        return self.kit.baseline.knows(self.requirement.id, self.bench.agent.id)

    def setup(self) -> None:
        """Carry out what has to be looked at, and judge it: what fails here is no verdict."""
        self.finding = None
        reaper.prepare()
        if self.kit.session.is_worker:
            reaper.watch_parent()
        try:
            self.finding = self.bench.judge(self.requirement)
        except (CaesarError, OSError) as error:
            fault = str(error)
        else:
            return
        # In the setup phase this is an error, which is no failure of the agent.
        first = self.kit.faults.setdefault((self.bench.agent.id, fault), self.name)
        if first != self.name:
            pytest.fail(f"the same fault as at {first}, which is not the agent's", pytrace=False)
        pytest.fail(
            "a fault of the harness or of its surroundings, so that nothing is known of the "
            f"agent:\n{fault}",
            pytrace=False,
        )

    def runtest(self) -> None:
        """Say what was found."""
        finding = self.finding
        assert finding is not None
        if finding.outcome == "failed":
            if self.requirement.kind == "advisory":
                pytest.xfail(f"advice: {finding.message}")
            if self.known is not None:
                pytest.xfail(f"known failure: {self.known or 'listed in the baseline'}")
            pytest.fail(f"{finding.message}\nclause: {self.requirement.clause}", pytrace=False)
        if self.known is not None and finding.outcome in ("passed", "skipped"):
            pytest.fail(
                f"{self.requirement.id} is listed in {BASELINE_NAME} and does not fail any more "
                f"({finding.outcome}): remove its line",
                pytrace=False,
            )
        if finding.outcome == "not exercised":
            pytest.skip(f"not exercised: {finding.message}")
        if finding.outcome == "skipped":
            pytest.skip(finding.message)

    def result(self, message: str, *, skipped: bool) -> Result:
        """Return what became of it, as plain data."""
        check = CHECKS[self.requirement.id]
        finding = self.finding
        if finding is None:
            # A mark of the user's own may skip an item before anything was asked.
            outcome = "skipped" if skipped else "error"
            return Result(
                id=self.requirement.id,
                agent=self.bench.agent.id,
                outcome=outcome,
                message=message,
                scenario=check.scenario,
            )
        trial = self.bench.trials.get(check.scenario) or self.bench.trials.get("plain")
        tell = finding.outcome in ("failed", "not exercised") and trial is not None
        return Result(
            id=self.requirement.id,
            agent=self.bench.agent.id,
            outcome=finding.outcome,
            message=finding.message,
            known=self.known,
            scenario=trial.scenario if trial else check.scenario,
            transcript=transcript(trial.run) if tell and trial else None,
        )

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Name the requirement in headings."""
        return self.path, None, f"{self.name}: {self.requirement.text}"
