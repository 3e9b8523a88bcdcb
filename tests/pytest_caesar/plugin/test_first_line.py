"""The first line of a failure is its cause, wherever it is read."""

from __future__ import annotations

import copy
import pickle
import xml.etree.ElementTree as ET

import pytest

from pytest_caesar import DelegationError, FakeAgents, Orchestrator
from pytest_caesar.reporting.cause import cause
from tests.pytest_caesar.plugin.running import QUIET, Runs

TESTS = """
import pytest

@pytest.fixture
def run(caesar_repo, caesar_orchestrator, caesar_fake_agent):
    fake = caesar_fake_agent
    caesar_repo.commit({"a.txt": "a"})
    return caesar_orchestrator.delegate("Work", agent=fake(fake.print("done\\n"), fake.write("b")))

def test_a(run):
    assert run.succeeded

def test_b(run):
    assert run.succeeded, "mine"

@pytest.mark.caesar(strict=True)
def test_c(run):
    pass

def test_d(run):
    assert run.succeeded and run.source == "file"
"""

CAUSE = "partial: no file at $CAESAR_REPORT_PATH"


def short(result: pytest.RunResult) -> dict[str, str]:
    """Return what the short summary says, by test."""
    lines = [line for line in result.outlines if line.startswith("FAILED ")]
    return {line.split("::")[1][:6]: line.partition(" - ")[2] for line in lines}


@pytest.mark.parametrize("options", [(), ("-n2", "--tb=native"), ("--tb=line",)])
def test_the_summary_of_80_columns_shows_it(
    pytester: pytest.Pytester, run: Runs, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)
    pytester.makepyfile(test_it=TESTS)
    said = short(run(*options, "--junitxml=junit.xml"))
    assert said["test_a"].startswith(CAUSE[:38])
    assert said["test_b"] == "mine"
    assert said["test_c"] == "1 undeclared change: b (created)"
    junit = ET.parse(pytester.path / "junit.xml")
    messages = [node.get("message", "") for node in junit.iter("failure")]
    assert sum(CAUSE in message for message in messages) == 3
    assert messages[
        [case.get("name") for case in junit.iter("testcase")].index("test_a")
    ].startswith(f"{CAUSE} (assert run.succeeded, t_0001)")


def test_it_is_appended_where_assertions_are_not_rewritten(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(test_it=TESTS)
    # Of its own: the rewriting of a process holds for all that it imports.
    result = pytester.runpytest_subprocess(*QUIET, "--assert=plain", "-k", "test_a")
    result.stdout.fnmatch_lines([f"E*{CAUSE} (run t_0001)"])


def test_names_of_other_tools_are_attribute_errors(
    caesar_orchestrator: Orchestrator, caesar_fake_agent: FakeAgents
) -> None:
    fake = caesar_fake_agent
    run = caesar_orchestrator.delegate("Work", agent=fake(fake.report()))
    with pytest.raises(AttributeError, match=r"^a run has no stdout: use run\.raw_log"):
        run.stdout  # type: ignore[attr-defined]  # noqa: B018 - the point
    assert not hasattr(run, "success")
    assert copy.copy(run).status == pickle.loads(pickle.dumps(run)).status == "success"
    assert cause(run) == ""


def test_a_public_error_survives_pickling_under_its_public_name() -> None:
    error = pickle.loads(pickle.dumps(DelegationError(problem="no")))
    assert (type(error), str(error)) == (DelegationError, "no")
    assert f"{type(error).__module__}.{type(error).__qualname__}" == "pytest_caesar.DelegationError"
