"""A check as an item of pytest: one requirement, for one agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from caesar_agent.errors import CaesarError
from pytest_caesar.conformance.judgement import Judgement
from pytest_caesar.conformance.judging import CHECKS, judge
from pytest_caesar.conformance.known_failures import BASELINE_NAME, KnownFailures
from pytest_caesar.conformance.requirements import Requirement
from pytest_caesar.conformance.result import Result
from pytest_caesar.conformance.result_file import transcript
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.supervision import reaper


@dataclass(kw_only=True)
class Shared:
    """What the items of one session share.

    Attributes:
        known_failures: those that are listed.
        is_worker: this process is a worker of pytest-xdist.
        faults: where a fault of the surroundings was met first, by agent and text.
    """

    known_failures: KnownFailures
    is_worker: bool
    faults: dict[tuple[str, str], str] = field(default_factory=dict)


class Module(pytest.Collector):
    """Stands for the file that there is not."""

    def collect(self) -> list[pytest.Item]:
        """Return nothing: the items are added when all others are there."""
        return []


class CheckItem(pytest.Item):
    """One requirement, for one agent."""

    def __init__(
        self, *, requirement: Requirement, cache: ScenarioCache, shared: Shared, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.requirement = requirement
        self.cache = cache
        self.shared = shared
        self.judgement: Judgement | None = None
        for mark in (requirement.level, requirement.area.lower(), requirement.kind):
            self.add_marker(mark)

    @property
    def known(self) -> str | None:
        """Why a failure is known, or None."""
        return self.shared.known_failures.knows(self.requirement.id, self.cache.agent.id)

    def setup(self) -> None:
        """Carry out what has to be looked at, and judge it: what fails here is no verdict."""
        if self.judgement is not None:
            # Another plugin runs the check again: so does the agent.
            self.cache.forget(CHECKS[self.requirement.id].scenario)
        self.judgement = None
        reaper.prepare()
        if self.shared.is_worker:
            reaper.watch_parent()
        try:
            self.judgement = judge(self.requirement, self.cache)
        except (CaesarError, OSError) as error:
            fault = str(error)
        else:
            return
        # In the setup phase this is an error, which is no failure of the agent.
        first = self.shared.faults.setdefault((self.cache.agent.id, fault), self.name)
        if first != self.name:
            pytest.fail(f"the same fault as at {first}, which is not the agent's", pytrace=False)
        pytest.fail(
            "a fault of the harness or of its surroundings, so that nothing is known of the "
            f"agent:\n{fault}",
            pytrace=False,
        )

    def runtest(self) -> None:
        """Say what was found."""
        judgement = self.judgement
        assert judgement is not None
        if judgement.outcome == "failed":
            if self.requirement.kind == "advisory":
                pytest.xfail(f"advice: {judgement.message}")
            if self.known is not None:
                pytest.xfail(f"known failure: {self.known or 'listed in the baseline'}")
            pytest.fail(f"{judgement.message}\nclause: {self.requirement.clause}", pytrace=False)
        if self.known is not None and judgement.outcome in ("passed", "skipped"):
            pytest.fail(
                f"{self.requirement.id} is listed in {BASELINE_NAME} and does not fail any more "
                f"({judgement.outcome}): remove its line",
                pytrace=False,
            )
        if judgement.outcome == "not exercised":
            pytest.skip(f"not exercised: {judgement.message}")
        if judgement.outcome == "skipped":
            pytest.skip(judgement.message)

    def result(self, message: str, *, skipped: bool) -> Result:
        """Return what became of it, as plain data."""
        check = CHECKS[self.requirement.id]
        judgement = self.judgement
        if judgement is None:
            # A mark of the user's own may skip an item before anything was asked.
            outcome = "skipped" if skipped else "error"
            return Result(
                id=self.requirement.id,
                agent=self.cache.agent.id,
                outcome=outcome,
                message=message,
                scenario=check.scenario,
            )
        seen = self.cache.runs.get(check.scenario) or self.cache.runs.get(self.cache.base)
        tell = judgement.outcome in ("failed", "not exercised") and seen is not None
        return Result(
            id=self.requirement.id,
            agent=self.cache.agent.id,
            outcome=judgement.outcome,
            message=judgement.message,
            varied=self.cache.varied,
            known=self.known,
            scenario=seen.scenario if seen else check.scenario,
            transcript=transcript(seen.run) if tell and seen else None,
        )

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Name the requirement in headings."""
        return self.path, None, f"{self.name}: {self.requirement.text}"
