"""Ways to run the kit inside a test."""

from __future__ import annotations

import pytest

# Imported here once: each inner run forgets what it imported itself.
import pytest_caesar.conformance.collection
import pytest_caesar.session.fixtures  # noqa: F401
from tests.pytest_caesar.conformance.proof import Proof, proof
from tests.pytest_caesar.plugin.running import QUIET, Runs


@pytest.fixture
def run(pytester: pytest.Pytester) -> Runs:
    """Run pytest in the folder of the test, in this process."""

    def runs(*args: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess(*QUIET, *args)

    return runs


@pytest.fixture(scope="session")
def right_one(tmp_path_factory: pytest.TempPathFactory) -> Proof:
    """Return what a right agent did, carried out once for all that looks at it."""
    return proof(tmp_path_factory.mktemp("right"))


@pytest.fixture(scope="session")
def right_at_units(tmp_path_factory: pytest.TempPathFactory) -> Proof:
    """Return what a right agent did with task units."""
    cache = proof(tmp_path_factory.mktemp("units"))
    cache.base = "unit"
    return cache
