from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path

import pytest

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.errors import CaesarError, DocumentError
from pytest_caesar.fake_agent.agent import FakeAgents
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.recovery.evidence import Source
from pytest_caesar.runs.run import Run
from pytest_caesar.trials.outcome import outcome_of
from pytest_caesar.workspace.repository import Repository

STREAM = "Synthesized. Its stream says that it failed: "


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Delegate once to an agent that hangs, in a test that has little time left."""
    folder = tmp_path_factory.mktemp("outcome")
    repository = Repository.create(folder / "repo")
    repository.commit({"a.txt": "a"})
    fakes = FakeAgents(folder / "agents")
    settings = OrchestratorSettings(seconds_left=lambda: 2.6, grace=0.1)
    orchestrator = Orchestrator(fakes(fakes.hang()), project=repository.path, settings=settings)
    return orchestrator.delegate("Hang")


def without_findings(run: Run, *, summary: str = "", source: Source = Source.FILE) -> Run:
    report = run.report.model_copy(update={"summary": summary})
    return replace(run, diagnostics=(), report=report, source=source)


def test_a_deadline_that_the_tests_own_timeout_cut_is_an_error(run: Run) -> None:
    assert "deadline-cut" in run.codes
    assert outcome_of(AssertionError(), (run,)) == ("error", "of the harness (deadline-cut)")


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (AssertionError("no"), ("failure", "")),
        (ValueError("no"), ("failure", "")),
        (DocumentError(kind="report", code="x", where="", problem="y"), ("failure", "")),
        (CaesarError(text="not startable"), ("error", "of the harness")),
        (OSError(errno.ENOSPC, "full"), ("error", "of the disk")),
        (OSError(errno.EMFILE, "files"), ("error", "of the machine")),
        (FileNotFoundError(errno.ENOENT, "file"), ("failure", "")),
    ],
)
def test_a_failure_of_the_agent_is_told_from_an_error_of_the_harness(
    run: Run, error: BaseException, outcome: tuple[str, str]
) -> None:
    assert outcome_of(error, (without_findings(run),)) == outcome


def test_an_error_is_also_one_behind_what_a_test_raised_of_it() -> None:
    full = OSError(errno.ENOSPC, "full")
    told = RuntimeError("no repository")
    told.__cause__ = full
    assert outcome_of(told, ()) == ("error", "of the disk")


@pytest.mark.parametrize(
    ("summary", "source", "outcome"),
    [
        (f"{STREAM}connect ECONNREFUSED 127.0.0.1:443.", Source.SYNTHESIZED, "error"),
        (f"{STREAM}stream disconnected before completion.", Source.SYNTHESIZED, "error"),
        (f"{STREAM}the tests failed.", Source.SYNTHESIZED, "failure"),
        # An agent that only says so has failed like any other.
        (f"{STREAM}connect ECONNREFUSED 127.0.0.1:443.", Source.FILE, "failure"),
        ("The test server said ECONNREFUSED.", Source.SYNTHESIZED, "failure"),
    ],
)
def test_a_network_that_was_gone_counts_where_the_stream_of_a_cli_says_so(
    run: Run, summary: str, source: Source, outcome: str
) -> None:
    changed = without_findings(run, summary=summary, source=source)
    assert outcome_of(AssertionError(), (changed,))[0] == outcome


def test_a_return_channel_that_did_not_start_is_an_error(run: Run, tmp_path: Path) -> None:
    lost = Diagnostic(code="channel-not-started", message="no channel")
    assert outcome_of(None, (replace(run, diagnostics=(lost,)),))[0] == "error"
