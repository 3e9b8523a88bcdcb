"""Delegations that are recorded and played back, without pytest's plugin around them."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.fake_agent.agent import FakeAgents
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.recordings.cassette import Cassette, Mode
from pytest_caesar.runs.run import Run
from pytest_caesar.workspace.repository import Repository


@dataclass
class Stage:
    """Repositories of the same content, new for every execution, and one place for recordings.

    Attributes:
        root: where all of it lies.
        folder: of the recordings.
        fake: makes agents.
        files: what each repository starts with.
    """

    root: Path
    folder: Path
    fake: FakeAgents
    files: dict[str, str | bytes]
    executions: int = 0

    def begin(self, mode: Mode, *, answers: ScriptedAnswers | None = None) -> Execution:
        """Begin one execution of the test."""
        self.executions += 1
        place = self.root / f"execution-{self.executions}"
        place.mkdir()
        repository = Repository.create(place / "repo")
        repository.commit(self.files)
        cassette = Cassette(self.folder, mode, folders={"tmp-path": str(place)})
        numbers = itertools.count(1 + 10 * self.executions)
        orchestrator = Orchestrator(
            project=repository.path,
            new_id=lambda: f"t_{next(numbers):04d}",
            answers=answers,
            performer=functools.partial(cassette.performer, answers=answers),
        )
        return Execution(cassette, orchestrator, repository)


@dataclass
class Execution:
    """One execution of a test."""

    cassette: Cassette
    orchestrator: Orchestrator
    repository: Repository

    def delegate(self, agent: Any, objective: str = "Work", **wishes: Any) -> Run:
        """Delegate."""
        return self.orchestrator.delegate(objective, agent=agent, **wishes)


def same(run: Run) -> dict[str, object]:
    """Return what must be the same of a live run and its replay."""
    return {
        "report": run.report.model_copy(update={"task_id": None}),
        "source": run.source,
        "form": run.form,
        "changes": run.changes,
        "patch": bytes(run.patch),
        "outcome": run.outcome,
        "codes": [item.code for item in run.diagnostics],
        "events": [(item.type, item.seq, item.at) for item in run.events],
        "log": _without_id(run),
        "questions": run.questions,
    }


def _without_id(run: Run) -> bytes:
    log = run.raw_log
    for encoding in ("utf-8", "utf-16-le"):
        log = log.replace(run.task.id.encode(encoding), b"<id>")
    return log
