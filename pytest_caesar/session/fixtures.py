"""What the fixtures of the plugin make; imported when the first of them is used."""

from __future__ import annotations

import functools
import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.recordings.choice import cassette_of, record_mode, recording_folder
from pytest_caesar.reporting.progress import progress_of
from pytest_caesar.runs.budget import Budget, BudgetSpentError
from pytest_caesar.session import item_deadline
from pytest_caesar.session.session import CaesarSession, NoAgent
from pytest_caesar.settings.continuous_integration import is_ci
from pytest_caesar.settings.marker import limits_of
from pytest_caesar.settings.settings import orchestrator_settings
from pytest_caesar.snapshots.fixture import CaesarSnapshot
from pytest_caesar.supervision import reaper
from pytest_caesar.supervision.cancellation import listening

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence

    from pytest_caesar.agents.target import AgentTarget
    from pytest_caesar.model.scripted_model import ScriptedModel
    from pytest_caesar.programs.programs import Programs
    from pytest_caesar.recovery.tool_call import ToolCall
    from pytest_caesar.recovery.usage import Usage
    from pytest_caesar.runs.run import Run


def make_orchestrator(
    session: CaesarSession,
    request: pytest.FixtureRequest,
    *,
    project: Path,
    agent: AgentTarget,
    trial: str = "",
    answers: ScriptedAnswers | None = None,
) -> Orchestrator:
    """Make the orchestrator of one test; its runs are told in the test's report.

    Args:
        session: what the plugin keeps.
        request: of the fixture.
        project: what is delegated on.
        agent: who works by default.
        trial: names one of many orchestrators of the test, which has recordings of its own.
        answers: a script in the place of the one that ``caesar_answers`` holds.
    """
    options: dict[str, Any] = {}
    if "caesar_clock" in request.fixturenames:
        options["clock"] = request.getfixturevalue("caesar_clock")
    if answers is not None:
        options["answers"] = answers
    elif "caesar_answers" in request.fixturenames:
        options["answers"] = request.getfixturevalue("caesar_answers")
    # A scripted model is recorded by itself, and the agent works with it.
    scripted = "caesar_model" in request.fixturenames
    cassette = None if scripted else cassette_of(request, session.settings, part=trial)
    if cassette is not None:
        options["performer"] = functools.partial(cassette.performer, answers=options.get("answers"))
        session.state_of(request.node).judges.append(cassette.judge)
    reaper.prepare()
    signals = listening()
    signals.__enter__()
    request.addfinalizer(lambda: signals.__exit__(None, None, None))
    if session.is_worker:
        reaper.watch_parent()
    kind: Callable[..., Orchestrator] = Orchestrator
    if session.orchestrator_type is not None:
        kind = functools.partial(
            session.orchestrator_type, tmp_path=request.getfixturevalue("tmp_path")
        )
    orchestrator = kind(
        None if isinstance(agent, NoAgent) else agent,
        project=project,
        settings=orchestrator_settings(
            session.settings,
            on_event=None if session.is_worker else progress_of(request.config),
            seconds_left=functools.partial(item_deadline.seconds_left, request.node.nodeid),
            model_url=_model_url(request),
            programs=_programs(request),
            model_witness=_model_witness(request),
            model_listener=_model_listener(request),
            budget=_budget(session, request),
            prices=session.prices,
            extensions=session.hooks.extensions(),
        ),
        new_id=counted_ids(),
        **options,
    )
    session.state_of(request.node).orchestrators.append(orchestrator)
    return orchestrator


def _model_url(request: pytest.FixtureRequest) -> Callable[[str, str], str] | None:
    if "caesar_model" not in request.fixturenames:
        return None
    model: ScriptedModel = request.getfixturevalue("caesar_model")
    return model.url_for


def _model_witness(
    request: pytest.FixtureRequest,
) -> Callable[[str], tuple[tuple[ToolCall, ...], Usage]] | None:
    if "caesar_model" not in request.fixturenames:
        return None
    model: ScriptedModel = request.getfixturevalue("caesar_model")
    return model.witness


def _model_listener(request: pytest.FixtureRequest) -> Callable[[socket.socket], None] | None:
    if "caesar_model" not in request.fixturenames:
        return None
    model: ScriptedModel = request.getfixturevalue("caesar_model")
    return model.listen_at


def _budget(session: CaesarSession, request: pytest.FixtureRequest) -> Budget | None:
    """Return the budget of a test; where that of the session is spent, the test is an error."""
    limits = limits_of(request.node)
    if not limits and session.spending is None:
        return None
    budget = Budget(limits, session.spending)
    try:
        budget.check()
    except BudgetSpentError as error:
        pytest.fail(str(error), pytrace=False)
    return budget


def _programs(request: pytest.FixtureRequest) -> Programs | None:
    if "caesar_programs" not in request.fixturenames:
        return None
    programs: Programs = request.getfixturevalue("caesar_programs")
    return programs


def make_programs(session: CaesarSession, request: pytest.FixtureRequest) -> Programs:
    """Make the programs of one test; a fake that was never called fails it."""
    from pytest_caesar.programs.programs import Programs  # noqa: PLC0415 - a server

    programs = Programs()
    request.addfinalizer(programs.close)
    state = session.state_of(request.node)
    state.judges.append(lambda: programs.judge(stopped=_stopped(state.runs)))
    return programs


def make_answers(session: CaesarSession, request: pytest.FixtureRequest) -> ScriptedAnswers:
    """Make the script of answers of one test; what goes wrong with it fails the test."""
    answers = ScriptedAnswers()
    session.state_of(request.node).judges.append(answers.judge)
    return answers


def make_model(session: CaesarSession, request: pytest.FixtureRequest) -> ScriptedModel:
    """Make the scripted model of one test; what goes wrong with its script fails the test."""
    from pytest_caesar.model.scripted_model import ScriptedModel  # noqa: PLC0415 - a server
    from pytest_caesar.session.model_recording import SUFFIX, ModelRecording  # noqa: PLC0415 - so

    state, item = session.state_of(request.node), request.node
    mode = record_mode(item, session.settings)
    folders = {"rootdir": str(request.config.rootpath)}
    if "tmp_path" in request.fixturenames:
        folders["tmp-path"] = str(request.getfixturevalue("tmp_path"))
    recording = ModelRecording(
        recording_folder(item.path, item.nodeid, item.name).with_suffix(SUFFIX),
        "once" if mode == "once" else "all" if mode == "all" else "none",
        in_ci=is_ci(os.environ),
        folders=folders,
        runs=lambda: state.runs,
    )
    model = ScriptedModel(recording=recording)
    state.judges.append(lambda: recording.judge(model) or model.judge(stopped=_stopped(state.runs)))
    return model


def _stopped(runs: Sequence[Run]) -> bool:
    """Tell whether an agent was stopped at a budget, so that it did not do all that is scripted."""
    return any("budget-exceeded" in run.codes for top in runs for run in top.tree)


def counted_ids() -> Callable[[], str]:
    """Return a source of the ids ``t_0001``, ``t_0002`` and so on."""
    numbers = itertools.count(1)
    return lambda: f"t_{next(numbers):04d}"


def make_snapshot(
    session: CaesarSession,
    request: pytest.FixtureRequest,
    rules: Sequence[tuple[str, str]],
) -> CaesarSnapshot:
    """Make the snapshots of one test."""
    state = session.state_of(request.node)
    snapshot = CaesarSnapshot.of(
        request, state.orchestrators, repeated=session.settings.repeated, rules=rules
    )
    state.snapshots.append(snapshot)
    return snapshot
