"""Who carries a task out: the agent itself, or something that stands in for it."""

from __future__ import annotations

from typing import Protocol

from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.orchestrator.starting import Start, run_agent
from pytest_caesar.runs.activity import Activity
from pytest_caesar.runs.run import Run
from pytest_caesar.supervision.outcome import Outcome
from pytest_caesar.workspace.values import Workspace


class Performer(Protocol):
    """Carries one task out, between the preparation and the recovery of the report."""

    @property
    def starts_agent(self) -> bool:
        """The agent's program is needed."""

    def perform(self, start: Start, workspace: Workspace) -> Outcome:
        """Do the work, until nothing of it goes on any more.

        Raises:
            CaesarError: it could not be started.
        """

    def findings(self, found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
        """Return what the harness found, with what only the performer knows."""

    def activity(self, seen: Activity) -> Activity:
        """Return what was seen of the work, with what only the performer knows."""

    def complete(self, run: Run) -> Run:
        """Take notice of what came of it; return the run that is handed on."""


class LiveAgent:
    """The agent itself."""

    starts_agent = True

    def perform(self, start: Start, workspace: Workspace) -> Outcome:  # noqa: ARG002 - of others
        """Run it until its whole process tree is gone."""
        return run_agent(start)

    def findings(self, found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
        """Return them as they are."""
        return found

    def activity(self, seen: Activity) -> Activity:
        """Return it as it is."""
        return seen

    def complete(self, run: Run) -> Run:
        """Return the run as it is."""
        return run
