"""The runs of the kit in what a session hands on: ``--caesar-json``, ``--caesar-keep``, JUnit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_caesar.conformance.result_file import as_capped
from pytest_caesar.conformance.scenario_run import Trial
from pytest_caesar.records import junit_property, keep, record

if TYPE_CHECKING:
    import pytest

    from pytest_caesar.session import CaesarSession


def hand_on(
    session: CaesarSession,
    item: pytest.Item,
    report: pytest.TestReport,
    trials: Iterable[Trial],
) -> None:
    """Tell of the runs of trials as of those of a test, with the check that asked for them first.

    Args:
        session: what it is asked for.
        item: the check.
        report: the report on the item, which takes the records along.
        trials: what was carried out for it.
    """
    settings = session.settings
    runs = [(trial.scenario, run) for trial in trials for run in (*trial.earlier, trial.run)]
    if settings.keep is not None:
        session.problems += keep((run for _, run in runs), settings.keep, report)
    if settings.json_path is not None:
        report.caesar_runs = [  # type: ignore[attr-defined]
            as_capped(
                {**record(run, number=number, report=report, whole=True), "scenario": scenario}
            )
            for number, (scenario, run) in enumerate(runs, 1)
        ]
    if settings.junit and item.config.getoption("xmlpath", None):
        item.user_properties.extend(junit_property(run) for _, top in runs for run in top.tree)
