"""What checks work with: the trials of one agent, each carried out once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_caesar.agents.target import AgentTarget, ProcessAgent
from pytest_caesar.conformance.judgement import Finding, failed, not_exercised, skipped
from pytest_caesar.conformance.profile import CLAIMS, PROFILE_NAME, TABLES, Profile
from pytest_caesar.conformance.registry import LEVELS, Requirement
from pytest_caesar.conformance.scenario_run import Trial, described, was_handed_in
from pytest_caesar.conformance.scenario_runner import Stage
from pytest_caesar.conformance.scenarios import SCENARIOS
from pytest_caesar.conformance.surroundings import reads_stdin
from pytest_caesar.orchestrator.run import Run
from pytest_caesar.orchestrator.settings import OrchestratorSettings

LEAST_TIMEOUT = 10.0
"""Seconds that every scenario after the plain one has at least."""

PATIENCE = 10
"""How much longer than the plain task a scenario may take before it counts as hanging."""


SHORT_LINGER = 0.5
"""Seconds that an agent which did not end after its first report may go on after the others."""


@dataclass(kw_only=True)
class Bench:
    """One agent under judgement.

    Attributes:
        agent: who is judged.
        profile: what it is for.
        folder: where scenarios are carried out; a function makes it at the first of them.
        settings: how the orchestrator treats every delegation.
    """

    agent: AgentTarget
    profile: Profile
    folder: Path | Callable[[], Path]
    settings: OrchestratorSettings = field(default_factory=OrchestratorSettings)
    _trials: dict[str, Trial | Exception] = field(default_factory=dict)
    _handed_on: set[str] = field(default_factory=set)

    @property
    def trials(self) -> dict[str, Trial]:
        """What has been carried out so far, by scenario."""
        return {name: one for name, one in self._trials.items() if isinstance(one, Trial)}

    def new_trials(self) -> list[Trial]:
        """Return what was carried out since this was last asked."""
        new = [trial for name, trial in self.trials.items() if name not in self._handed_on]
        self._handed_on.update(trial.scenario for trial in new)
        return new

    @property
    def plain(self) -> Trial:
        """The plain task, which everything else is compared with."""
        return self.trial("plain")

    def trial(self, name: str) -> Trial:
        """Carry out a scenario, or return what came of it before.

        Raises:
            Exception: the agent could not be started, or the ground not be made; the same
                one again at every call.
        """
        if name not in self._trials:
            timeout = self.profile.timeout
            settings = self.settings
            if name != "plain":
                outcome = self.plain.run.outcome
                timeout = min(timeout, max(LEAST_TIMEOUT, PATIENCE * outcome.duration_ms / 1000))
                if outcome.killed_after_report:
                    # That it does not end is known; forty times the usual patience shows no more.
                    settings = replace(settings, linger=min(settings.linger, SHORT_LINGER))
            if not isinstance(self.folder, Path):
                self.folder = self.folder()
            stage = Stage(
                agent=self.agent_for(name),
                profile=self.profile,
                folder=self.folder,
                settings=settings,
            )
            try:
                self._trials[name] = stage.carry_out(name, SCENARIOS[name], timeout=timeout)
            except Exception as error:  # noqa: BLE001 - a fault of ours is met once, not 86 times
                self._trials[name] = error
        found = self._trials[name]
        if isinstance(found, Exception):
            raise found
        return found

    def take(self, name: str, trial: Trial) -> None:
        """Take a trial that was carried out elsewhere."""
        self._trials[name] = trial

    def agent_for(self, scenario: str) -> AgentTarget:  # noqa: ARG002 - proofs of the kit need it
        """Return who carries out a scenario: the same agent for each."""
        return self.agent

    def judge(self, requirement: Requirement) -> Finding:
        """Judge the agent by one requirement.

        Raises:
            Exception: a fault of the harness or of its surroundings.
        """
        from pytest_caesar.conformance.checks import CHECKS  # noqa: PLC0415 - they import this

        order = list(LEVELS)
        if order.index(requirement.level) > order.index(self.profile.level):
            return skipped(f"{PROFILE_NAME} asks for level {self.profile.level} at most")
        check = CHECKS[requirement.id]
        scenario = check.scenario
        special = SCENARIOS[scenario].special
        capability = requirement.capability or special
        if special and not self.profile.claimed(special):
            if check.otherwise is None:
                return skipped(self.how_to_claim(special))
            scenario = check.otherwise
        if capability == "answer" and not self.profile.claimed("answer"):
            return skipped(
                f"[asks] in {PROFILE_NAME} says nothing of what follows an answer: give answer and "
                "expects"
            )
        reason = self._does_not_apply(scenario)
        if reason:
            return skipped(reason)
        if not check.of_a_dead_agent and not self.plain.handed_in:
            return not_exercised(
                "the plain task left no valid report: see REPORT-001 to REPORT-005"
            )
        trial = self.trial(scenario)
        if trial.destroyed:
            return failed(
                "its first task did away with the whole project, so that no second one could be "
                f"given: leave alone what is not your work\n{trial.described()}"
            )
        return check.function(self, trial)

    def _does_not_apply(self, scenario: str) -> str:
        """Say why a scenario means nothing for this kind of agent, or ""."""
        surroundings = SCENARIOS[scenario].surroundings
        if surroundings is None:
            return ""
        known_cli = isinstance(self.agent, ProcessAgent) and self.agent.cli is not None
        if known_cli and surroundings.task is not None:
            return "a known CLI is told its task in words, and reads no task file"
        if surroundings.closed_stdin and reads_stdin(self.agent):
            return "it is told its task on stdin"
        return ""

    def absent(self, capability: str, what: str, *, told_by: str = "") -> Finding:
        """Return what it means that a capability was not seen.

        Args:
            capability: by name.
            what: what was not seen, as a sentence.
            told_by: the requirement that fails for it, where it is another one.
        """
        if told_by and self.profile.claimed(capability):
            return not_exercised(f"{what}: see {told_by}")
        if self.profile.claimed(capability):
            return failed(f"{PROFILE_NAME} claims {capability!r}, and {what}")
        return skipped(f"{what}; {self.how_to_claim(capability)}")

    def how_to_claim(self, capability: str) -> str:
        """Say how a capability is claimed."""
        if capability in TABLES:
            return (
                f'not claimed: [{capability}] objective = "…" in {PROFILE_NAME} '
                f"({TABLES[capability]})"
            )
        return f'not claimed: claims = ["{capability}"] in {PROFILE_NAME} ({CLAIMS[capability]})'

    def same_as_plain(self, trial: Trial, under: str) -> Finding:
        """Judge whether the agent did under odd conditions what it does under plain ones."""
        plain = self.plain.run
        if plain.report.status == "failed":
            return not_exercised(
                "the plain task ends as failed already: say in "
                f"{PROFILE_NAME} what the agent can do (objective, repository)"
            )
        runs = (*trial.earlier, trial.run) if trial.scenario == "together" else (trial.run,)
        for run in runs:
            problem = self._worse(run, plain, prints_report=trial.prints_report)
            if problem:
                return failed(f"{under}, {problem}\n{described(run)}")
        return Finding(outcome="passed")

    def _worse(self, run: Run, plain: Run, *, prints_report: bool) -> str:
        if run.outcome.timed_out:
            return f"it did not end within {run.task.deadline_ms / 1000:g} s"
        if not was_handed_in(run, prints_report=prints_report):
            return "it handed in no valid report"
        if run.report.status != plain.report.status:
            return f"its report says {run.report.status}, and {plain.report.status} without"
        if run.outcome.status != plain.outcome.status:
            return f"its process {run.outcome.status}, and {plain.outcome.status} without"
        return ""

    def ends_with_a_report(self, trial: Trial, under: str) -> Finding:
        """Judge whether the agent handed in a report of any status."""
        if trial.run.outcome.timed_out:
            return failed(f"{under}, it did not end in time\n{trial.described()}")
        if not trial.handed_in:
            return failed(
                f"{under}, it handed in no valid report; a failed one says why and is enough\n"
                f"{trial.described()}"
            )
        return Finding(outcome="passed")
