"""The runs of many trials of one delegation, and what can be asked of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, overload

from caesar_agent.errors import CaesarError
from pytest_caesar.recovery.usage import Usage, added
from pytest_caesar.runs.run import REMARKS, Run
from pytest_caesar.trials.causes import FailedTrial
from pytest_caesar.trials.outcome import outcome_of
from pytest_caesar.trials.rate import Rate
from pytest_caesar.trials.rate_gate import Gate, Outcome, judge
from pytest_caesar.trials.table import CAUSES, Judged, cause_lines
from pytest_caesar.trials.used import usage_of

if TYPE_CHECKING:
    from typing import TypeAlias

Check: TypeAlias = "Callable[[Run], object]"
"""Tells whether a run is as it should be; one that raises AssertionError says no."""


class TrialsError(CaesarError):
    """Too many trials were errors of the harness to say anything of the agent.

    Attributes:
        errors: trials that were.
        trials: of how many.
        first: what the first of them says.
    """

    errors: int
    trials: int
    first: str

    def message(self) -> str:
        """Say how many, and why the first was one."""
        return (
            f"{self.errors} of {self.trials} trials were errors of the harness, so nothing is "
            f"known of the agent: {self.first}"
        )


class Trials(Sequence[Run]):
    """The runs of trials, in the order of their numbers.

    Args:
        runs: by the number of the trial, from 1.
        errors: trials that the harness could not carry out, by number.
        name: of the test, for ``--caesar-json``.
        agent: id of the agent.
        noted: takes each rate that is asked for, with the outcomes of the trials.
    """

    def __init__(
        self,
        runs: Mapping[int, Run],
        errors: Mapping[int, BaseException],
        *,
        name: str = "",
        agent: str | None = None,
        noted: Callable[[Judged, Mapping[int, Outcome]], None] | None = None,
    ) -> None:
        self._runs = {number: runs[number] for number in sorted(runs)}
        self.errors = {number: errors[number] for number in sorted(errors)}
        self._in_order = tuple(self._runs.values())
        self._name = name
        self._agent = agent
        self._noted = noted

    @overload
    def __getitem__(self, index: int) -> Run: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Run]: ...

    def __getitem__(self, index: int | slice) -> Run | Sequence[Run]:
        """Return a run, or some; trials that were errors have none."""
        return self._in_order[index]

    def __len__(self) -> int:
        return len(self._in_order)

    def __repr__(self) -> str:
        errors = f", {len(self.errors)} errors of the harness" if self.errors else ""
        return f"<Trials of {self._agent}: {len(self)} runs{errors}>"

    @property
    def usage(self) -> Usage:
        """What all trials used together; None where one of them does not know."""
        return added(run.total_usage for run in self)

    def rate(self, check: Check) -> Rate:
        """Return how often a check holds.

        Errors of the harness are not counted: where the check does not hold of a run that was
        one, and trials that could not be carried out.

        Raises:
            TrialsError: more than a fifth of the trials were errors.
        """
        outcomes: dict[int, Outcome] = dict.fromkeys(self.errors, "error")
        failed = [
            FailedTrial(number=number, outcome="error", message=str(error))
            for number, error in self.errors.items()
        ]
        for number, run in self._runs.items():
            holds, message = _holds(check, run)
            outcomes[number] = "success" if holds else outcome_of(None, (run,))[0]
            if not holds:
                failed.append(
                    FailedTrial(
                        number=number,
                        outcome=outcomes[number],
                        message=message or _word(run),
                        codes=tuple(sorted(run.codes - REMARKS)),
                    )
                )
        total = len(outcomes)
        verdict = judge(Gate(trials=total), outcomes)
        judged = Judged(
            nodeid=self._name,
            family=self._name,
            agent=self._agent,
            verdict=verdict,
            failed=failed,
            usage={number: usage_of((run,)) for number, run in self._runs.items()},
        )
        if self._noted is not None:
            self._noted(judged, outcomes)
        if verdict.state == "error" or not verdict.counted:
            first = next((one.message for one in failed if one.outcome == "error"), "none ran")
            raise TrialsError(errors=verdict.errors, trials=total, first=first)
        return Rate(verdict, tuple(cause_lines(judged.causes, CAUSES)))

    def failures(self, check: Check) -> tuple[Run, ...]:
        """Return the runs for which a check does not hold, in order."""
        return tuple(run for run in self if not _holds(check, run)[0])


def _word(run: Run) -> str:
    """Say how a run ended, the same for all that ended the same way."""
    return (
        f"{run.report.status} from {run.source}, process {run.outcome.status.replace('_', ' ')}: "
        f"{run.summary}"
    )


def _holds(check: Check, run: Run) -> tuple[bool, str]:
    try:
        return bool(check(run)), ""
    except AssertionError as error:
        return False, str(error)
