"""Ways to run pytest inside a test."""

from __future__ import annotations

import pytest
import tblib.pickling_support  # noqa: F401 - what it registers with copyreg outlives an inner run

# Imported here once: each inner run forgets what it imported itself.
import pytest_caesar.reporting.explanations.comparison
import pytest_caesar.reporting.sections
import pytest_caesar.reporting.summary
import pytest_caesar.session.fixtures
import pytest_caesar.session.records
import pytest_caesar.session.verdicts  # noqa: F401
from tests.pytest_caesar.plugin.running import QUIET, Runs


@pytest.fixture
def run(pytester: pytest.Pytester) -> Runs:
    """Run pytest in the folder of the test, in this process."""

    def runs(*args: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess(*QUIET, *args)

    return runs


@pytest.fixture(params=["alone", "two workers"])
def run_both(request: pytest.FixtureRequest, pytester: pytest.Pytester) -> Runs:
    """Run pytest in the folder of the test, alone and with two workers."""
    workers = () if request.param == "alone" else ("-n", "2")

    def runs(*args: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess(*QUIET, *workers, *args)

    return runs
