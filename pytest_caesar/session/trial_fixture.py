"""What ``caesar_trials`` is: one delegation, many times, each on its own copy of the repository."""

from __future__ import annotations

import itertools
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from caesar_agent.errors import CaesarError
from pytest_caesar.agents.target import FunctionAgent
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.session.fixtures import make_orchestrator
from pytest_caesar.session.remote_executor import carrier_of
from pytest_caesar.session.session import CaesarSession
from pytest_caesar.settings.settings import MAX_TRIALS
from pytest_caesar.trials.document import judged_as_json
from pytest_caesar.trials.many import Trials
from pytest_caesar.trials.side_by_side import SideBySide, side_by_side

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_caesar.agents.target import AgentTarget
    from pytest_caesar.answers.scripted_answers import ScriptedAnswers
    from pytest_caesar.trials.rate_gate import Outcome
    from pytest_caesar.trials.table import Judged
    from pytest_caesar.workspace.repository import Repository


class TrialCountError(CaesarError):
    """A number of trials, or of jobs, is none.

    Attributes:
        name: of the argument.
        found: what it is.
    """

    name: str
    found: object

    def message(self) -> str:
        """Say what was found, and what was expected."""
        return f"{self.name}={self.found!r}: expected a whole number from 1 to {MAX_TRIALS}"


class CaesarTrials:
    """Delegates one task many times, and returns the runs; the object behind ``caesar_trials``."""

    def __init__(
        self,
        session: CaesarSession,
        request: pytest.FixtureRequest,
        *,
        repository: Repository,
        agent: AgentTarget,
    ) -> None:
        self._session = session
        self._request = request
        self._repository = repository
        self._agent = agent
        self._numbers = itertools.count(1)
        self._asked = 0
        self._folder: Path = request.getfixturevalue("tmp_path") / "caesar" / "trials"

    def __call__(
        self,
        objective: str,
        *,
        n: int,
        jobs: int | None = None,
        executor: object = None,
        ship: Iterable[Path | str] = (),
        **fields: Any,
    ) -> Trials:
        """Delegate a task ``n`` times, each on its own copy of ``caesar_repo``.

        Args:
            objective: what the agent is to do.
            n: how many trials.
            jobs: how many at once; None for what ``--caesar-jobs`` says. A Python function in
                this process is always called one at a time.
            executor: carries the trials out somewhere else: a ``concurrent.futures.Executor``, a
                ``distributed.Client``, or a text as for ``--caesar-executor``, which is used
                when it is None. How many at once is then its own affair.
            ship: files that the agent needs there.
            fields: as ``caesar_orchestrator.delegate`` takes them.

        Raises:
            CaesarError: the delegation was refused before anything was started.
        """
        for name, value in (("n", n), ("jobs", jobs)):
            if value is not None and not (isinstance(value, int) and 1 <= value <= MAX_TRIALS):
                raise TrialCountError(name=name, found=value)
        executor = executor if executor is not None else self._session.settings.executor
        if executor is not None:
            return self._elsewhere(objective, n, executor, ship, fields)
        trials = {number: self._orchestrator() for number in range(1, n + 1)}
        # Refused once and plainly, not as an error of every trial.
        target = self._ready(trials[1]).check(objective, **fields)
        if isinstance(target, FunctionAgent) and not target.subprocess:
            found = self._one_at_a_time(trials, objective, fields)
        else:
            found = side_by_side(
                trials,
                lambda number: self._ready(trials[number]).start(objective, **fields),
                jobs=jobs or self._session.settings.jobs_here,
            )
        return Trials(
            found.runs,
            found.errors,
            name=self._request.node.nodeid,
            agent=target.id,
            noted=self._note,
        )

    def _elsewhere(
        self,
        objective: str,
        n: int,
        executor: object,
        ship: Iterable[Path | str],
        fields: dict[str, Any],
    ) -> Trials:
        """Send the trials to an executor; what comes back is in the test's report as usual."""
        from pytest_caesar.trials.remote import dispatch, parcel  # noqa: PLC0415 - seldom

        given = fields.pop("agent", None) or self._agent
        agent = str(given) if isinstance(given, str | Path) else given
        parcel.check_fields(fields)
        files = parcel.shipped(agent, ship)
        bundle, head = parcel.bundle_of(self._repository)
        answers = None
        if "caesar_answers" in self._request.fixturenames:
            answers = self._request.getfixturevalue("caesar_answers")
        data = parcel.answers_as_data(answers)
        parts = {number: next(self._numbers) for number in range(1, n + 1)}
        parcels = {
            number: parcel.Parcel(
                number=number,
                task_id=f"t_{part:04d}",
                version=parcel.own_version(),
                bundle=bundle,
                head=head,
                agent=agent,
                files=files,
                python=sys.executable,
                objective=objective,
                fields=fields,
                answers=data,
                pass_env=self._session.settings.pass_env,
                sandbox=self._session.settings.sandbox,
            )
            for number, part in parts.items()
        }
        keeper = make_orchestrator(
            self._session, self._request, project=self._repository.path, agent=self._agent
        )
        with carrier_of(executor, start=self._session.settings.start) as carrier:
            found = dispatch.dispatched(
                parcels, carrier, folder=self._folder / f"{parts[1]:02d}-elsewhere"
            )
        keeper.runs.extend(found.runs[number] for number in sorted(found.runs))
        if answers is not None:
            answers.count_questions(q for run in found.runs.values() for q in run.questions)
        return Trials(
            found.runs,
            found.errors,
            name=self._request.node.nodeid,
            agent=agent if isinstance(agent, str) else agent.id,
            noted=self._note,
        )

    def _orchestrator(self) -> Orchestrator:
        """Make the orchestrator of one trial; its copy is made when the trial begins."""
        part = next(self._numbers)
        answers: ScriptedAnswers | None = None
        if "caesar_answers" in self._request.fixturenames:
            answers = self._request.getfixturevalue("caesar_answers").once_more()
        made = make_orchestrator(
            self._session,
            self._request,
            project=self._folder / f"{part:02d}",
            agent=self._agent,
            trial=f"trial{part:02d}",
            answers=answers,
        )
        made.new_id = _ids(part)
        return made

    def _ready(self, orchestrator: Orchestrator) -> Orchestrator:
        """Give a trial its copy of the repository."""
        if not orchestrator.project.exists():
            shutil.copytree(self._repository.path, orchestrator.project, symlinks=True)
        return orchestrator

    def _one_at_a_time(
        self, trials: Mapping[int, Orchestrator], objective: str, fields: dict[str, Any]
    ) -> SideBySide:
        """Call a function of this process once for each trial."""
        found = SideBySide()
        for number, orchestrator in trials.items():
            try:
                found.runs[number] = self._ready(orchestrator).delegate(objective, **fields)
            except (CaesarError, OSError) as error:  # noqa: PERF203 - of this trial alone
                found.errors[number] = error
        return found

    def _note(self, judged: Judged, outcomes: Mapping[int, Outcome]) -> None:
        """Have a rate told at the end of the session, and kept with ``--caesar-json``."""
        self._asked += 1
        name = judged.nodeid if self._asked == 1 else f"{judged.nodeid} #{self._asked}"
        entry = judged_as_json(replace(judged, nodeid=name, family=name), outcomes)
        self._session.state_of(self._request.node).rates.append(entry)


def _ids(part: int) -> Callable[[], str]:
    """Return a source of ids: that of the trial first."""
    numbers = itertools.count(1)
    first = f"t_{part:04d}"

    def new_id() -> str:
        number = next(numbers)
        return first if number == 1 else f"{first}_{number}"

    return new_id
