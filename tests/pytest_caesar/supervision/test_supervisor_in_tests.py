"""Supervision inside tests that have a timeout of their own."""

from __future__ import annotations

import sys

import pytest

from tests.pytest_caesar.supervision.supervising import CHILDREN, Bench, eventually

CONFTEST = "pytest_plugins = ['pytest_caesar.session.item_deadline']"

TEST = """
import os, sys
import pytest
from pathlib import Path
from pytest_caesar.supervision.supervisor import ProcessSpec, supervise
from pytest_caesar.supervision.time_left import fit
from pytest_caesar.session.item_deadline import seconds_left

@pytest.mark.timeout({timeout})
def test_it():
    folder = Path({folder!r})
    timeout, grace = fit(600, 5, seconds_left()) if {fitted} else (600, 5)
    with (folder / "log").open("ab") as log:
        outcome = supervise(
            ProcessSpec(
                argv=(sys.executable, "-I", "-S", {child!r}), cwd=folder,
                env={{"CAESAR_TASK_DIR": str(folder), "PATH": os.environ["PATH"]}},
                stdout=log.fileno(), stderr=log.fileno(), task_directory=folder,
            ),
            timeout=timeout, grace=grace,
        )
    assert outcome.status == "timed_out"
"""


def run(
    pytester: pytest.Pytester, bench: Bench, *options: str, timeout: float, fitted: bool
) -> pytest.RunResult:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(
        TEST.format(
            folder=str(bench.task_directory),
            child=str(CHILDREN / "stubborn.py"),
            timeout=timeout,
            fitted=fitted,
        )
    )
    command = (sys.executable, "-m", "pytest", "-p", "no:caesar", "-p", "no:cacheprovider")
    return pytester.run(*command, *options)


def test_an_agent_is_ended_and_told_before_its_test_is_shot(
    pytester: pytest.Pytester, bench: Bench
) -> None:
    result = run(pytester, bench, timeout=4, fitted=True)
    result.assert_outcomes(passed=1)
    assert len(bench.pids()) == 2
    assert bench.living() == []


@pytest.mark.parametrize("method", ["signal", "thread"])
def test_no_agent_survives_a_test_that_is_shot(
    pytester: pytest.Pytester, bench: Bench, method: str
) -> None:
    result = run(pytester, bench, f"--timeout-method={method}", timeout=1, fitted=False)
    assert result.ret == 1
    assert "Timeout" in result.stdout.str()
    assert len(bench.pids()) == 2
    assert eventually(lambda: not bench.living())
