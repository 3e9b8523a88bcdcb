"""Tests that run several times: one item for each trial, and what its report carries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_caesar.runs.run import REMARKS
from pytest_caesar.session.item_state import STATE
from pytest_caesar.session.session import UNDER_TEST
from pytest_caesar.session.trial_board import Board, SharedBoard, worker_board
from pytest_caesar.settings.shard import declared_shard
from pytest_caesar.settings.trial_parameter import PARAMETER, trial_number, without_trial
from pytest_caesar.trials.outcome import outcome_of
from pytest_caesar.trials.rate_gate import Gate
from pytest_caesar.trials.used import usage_of

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from pytest_caesar.session.session import CaesarSession

DELEGATES: Final = "caesar_orchestrator"
"""What a test uses that ``--caesar-trials`` repeats."""

RUNS_ITS_OWN: Final = "caesar_trials"
"""What a test uses that runs trials itself."""

NAME: Final = "caesar-trial-items"

MESSAGE: Final = 2_000
"""Characters of a failure's message that tell one cause from another."""

IN_FULL: Final = 20_000
"""Characters of a failure that a trial's report carries: its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One execution of a test among several.

    Attributes:
        of: the test's id without the trial.
        number: from 1.
        label: such as ``trial03``, as the item's id has it.
        gate: what is asked of all of them.
        agent: id of the agent under test, or None.
        family: ``of`` without the agent, so that agents can be compared on one test.
        counts: trials that this session runs; a verdict needs all, or another shard's.
        pending: the others run in other shards.
    """

    of: str
    number: int
    label: str
    gate: Gate
    agent: str | None
    family: str
    counts: int = 0
    pending: bool = False

    @property
    def judged(self) -> bool:
        """Whether a failure of this trial is one of many, and not the test's."""
        return self.pending or self.counts == self.gate.trials


TRIAL: pytest.StashKey[Trial] = pytest.StashKey()
"""The trial that an item is; not there for an ordinary test."""

NOT_NEEDED: pytest.StashKey[bool] = pytest.StashKey()
"""There where a trial was left out because the verdict was known."""


# --- what is asked ---------------------------------------------------------------------


def repeat(metafunc: pytest.Metafunc, session: CaesarSession) -> None:
    """Make one item for each trial of a test, after every other parameter.

    Raises:
        pytest.fail.Exception: the markers and options contradict each other.
    """
    gate = gate_of(metafunc.definition, session.settings.trials, metafunc.fixturenames)
    if gate is None:
        return
    items = session.config.pluginmanager.get_plugin(NAME)
    if items is None:
        items = TrialItems(session)
        session.config.pluginmanager.register(items, NAME)
    items.gates[metafunc.definition.nodeid] = gate
    numbers = range(1, gate.trials + 1)
    metafunc.fixturenames.append(PARAMETER)
    metafunc.parametrize(
        PARAMETER, numbers, ids=[label_of(number, gate) for number in numbers], indirect=True
    )


def label_of(number: int, gate: Gate) -> str:
    """Return what stands for a trial in an id, such as ``trial03``."""
    return f"trial{number:0{max(2, len(str(gate.trials)))}}"


def gate_of(definition: pytest.Item, option: int | None, fixtures: Sequence[str]) -> Gate | None:
    """Return what is asked of a test's trials, or None for a test that runs once.

    Args:
        definition: of the test; its nearest marker overrides those further away.
        option: ``--caesar-trials``, which overrides the number of a marker; 1 repeats nothing.
        fixtures: names of what the test uses, directly or not.

    Raises:
        pytest.fail.Exception: what is asked cannot be met, or contradicts itself.
    """
    asked: dict[str, Any] = {}
    for mark in definition.iter_markers("caesar"):
        asked = {**mark.kwargs, **asked}
    marked = asked.get("trials")
    delegates = DELEGATES in fixtures and RUNS_ITS_OWN not in fixtures
    trials = option if option is not None and (marked or delegates) else marked
    if trials is None or trials == 1:
        return None
    if RUNS_ITS_OWN in fixtures:
        _refuse(definition, f"the marker asks for trials, and {RUNS_ITS_OWN} runs its own: use one")
    rate, confidence = asked.get("min_rate"), asked.get("confidence")
    if confidence is not None and rate is None:
        _refuse(definition, "the marker caesar has a confidence and no min_rate to be sure of")
    gate = Gate(
        trials=trials,
        min_rate=None if rate is None else Fraction(str(rate)),
        confidence=None if confidence is None else float(confidence),
        undecided=asked.get("undecided", "fail"),
        stop=asked.get("stop", True),
    )
    if gate.problem:
        _refuse(definition, gate.problem)
    return gate


def _refuse(definition: pytest.Item, problem: str) -> None:
    pytest.fail(f"{definition.nodeid}: {problem}", pytrace=False)


# --- items and their reports -----------------------------------------------------------


class TrialItems:
    """Knows which items are trials, leaves out those not needed, and reports what became of them.

    Attributes:
        gates: what is asked of each test, by the id of its function.
    """

    def __init__(self, session: CaesarSession) -> None:
        self._session = session
        self.gates: dict[str, Gate] = {}
        self._board: Board = (
            worker_board(session.config) if session.is_worker else session.open_ledger().board
        )

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the trials that were selected; with fewer than asked for, each is a test."""
        groups: dict[str, list[tuple[pytest.Item, Trial]]] = {}
        for item in session.items:
            if trial := self._trial(item):
                groups.setdefault(trial.of, []).append((item, trial))
        sharded = declared_shard(session.config) is not None
        expected = {}
        for of, members in groups.items():
            count = len(members)
            for item, trial in members:
                whole = replace(trial, counts=count, pending=sharded and count < trial.gate.trials)
                item.stash[TRIAL] = whole
            if whole.judged:
                nodeids = {str(trial.number): item.nodeid for item, trial in members}
                expected[of] = {**facts(whole, item), "items": nodeids}
        if isinstance(self._board, SharedBoard):
            self._board.announce(session.config.workerinput["workerid"], expected)  # type: ignore[attr-defined]
        else:
            self._session.open_ledger().expect(expected)

    def _trial(self, item: pytest.Item) -> Trial | None:
        number = trial_number(item)
        if number is None:
            return None
        function = item.nodeid[: len(item.nodeid) - len(item.name)]
        gate = self.gates[f"{function}{getattr(item, 'originalname', item.name)}"]
        label = label_of(number, gate)
        of = without_trial(item, item.nodeid)
        agents = self._session.agents
        index = item.callspec.params.get(UNDER_TEST)  # type: ignore[attr-defined]
        several = isinstance(index, int) and len(agents) > 1
        agent = agents[index].id if several else agents[0].id if len(agents) == 1 else None
        return Trial(
            of=of,
            number=number,
            label=label,
            gate=gate,
            agent=agent,
            family=without_agent(of, agent) if several and agent else of,
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Leave a trial out whose test has its verdict."""
        trial = item.stash.get(TRIAL, None)
        if trial is not None and trial.judged and trial.gate.stop and self._board.known(trial.of):
            item.stash[NOT_NEEDED] = True
            message = "not needed: the verdict on the trials is known"
            raise pytest.skip.Exception(message, _use_item_location=True)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Say which trial it was; let a trial that failed be no failing test."""
        report = yield
        trial = item.stash.get(TRIAL, None)
        if trial is None:
            return report
        report.sections[:] = [
            (title.replace("caesar run ", f"caesar run of {trial.label}: ", 1), text)
            if title.startswith("caesar run ")
            else (title, text)
            for title, text in report.sections
        ]
        if not trial.judged:
            return report
        told: dict[str, Any] = {**facts(trial, item), "number": trial.number}
        told["label"] = trial.label
        told["phase"] = report.when
        self._tell(item, call, report, told)
        report.caesar_trial = told  # type: ignore[attr-defined]
        return report

    def _tell(
        self,
        item: pytest.Item,
        call: pytest.CallInfo[None],
        report: pytest.TestReport,
        told: dict[str, Any],
    ) -> None:
        """Add what became of the trial in this phase, and take the failure off its report."""
        state = item.stash.get(STATE, None)
        runs = state.runs if state is not None else []
        if report.skipped and not hasattr(report, "wasxfail"):
            told["outcome"] = "stopped" if item.stash.get(NOT_NEEDED, False) else "skipped"
            return
        if report.when == "call":
            told["usage"] = usage_of(runs)
        expected = report.skipped and hasattr(report, "wasxfail")  # marked xfail by the test
        if not (report.failed or expected):
            if report.when == "call":
                told["outcome"] = "success"
            return
        outcome, why = (
            ("error", "")
            if report.when != "call"
            else outcome_of(call.excinfo and call.excinfo.value, runs)
        )
        message = _message(report)
        if report.when != "call":
            why = f"in its {'set-up' if report.when == 'setup' else 'teardown'}"
        told.update(
            outcome=outcome,
            why=why,
            message=message[:MESSAGE],
            codes=sorted(
                {code for run in runs for one in run.tree for code in one.codes - REMARKS}
            ),
            text=report.longreprtext[-IN_FULL:],
        )
        first = message.splitlines()[0] if message else ""
        report.outcome = "skipped"
        report.wasxfail = f"trial: {outcome}{f' {why}' if why else ''}: {first}"[:MESSAGE]


def _message(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(crash.message if crash is not None else report.longrepr)


def facts(trial: Trial, item: pytest.Item) -> dict[str, Any]:
    """Return what is known of a test with trials before any ran, as plain data."""
    path, line, domain = item.location
    return {
        "test": trial.of,
        "family": trial.family,
        "agent": trial.agent,
        "gate": trial.gate.as_json(),
        "pending": trial.pending,
        "location": [path, line, without_trial(item, domain)],
        "items": {},
    }


def without_agent(nodeid: str, agent: str) -> str:
    """Return the id of a test without that of its agent among the parameters."""
    head, bracket, rest = nodeid.rpartition("[")
    parameters = f"-{rest.removesuffix(']')}-"
    if not bracket or f"-{agent}-" not in parameters:
        return nodeid
    left = parameters.replace(f"-{agent}-", "-", 1).strip("-")
    return f"{head}[{left}]" if left else head
