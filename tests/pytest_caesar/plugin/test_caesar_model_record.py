"""``caesar_model.record``: a conversation is kept as a script, and played back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_caesar.model.scripted_model import ScriptedModel
from tests.pytest_caesar.plugin.running import Runs
from tests.pytest_caesar.plugin.test_caesar_model import CLI

SECRET = "sk-real-key-0123456789abcdef"


def inner(url: str, objective: str = "Look") -> str:
    """Return a test that records; its model is at a URL."""
    return f"""
def test_it(caesar_repo, caesar_orchestrator, caesar_model):
    caesar_repo.commit({{"a.txt": "one"}})
    caesar_model.record({url!r})
    run = caesar_orchestrator.delegate({objective!r}, agent={CLI!r})
    assert run.succeeded
    assert run.source == "file"
    assert (run.workspace / "b.txt").read_text() == "two"
"""


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """Return what stands for a real model: a scripted one, with a key."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    model = ScriptedModel()
    model.say("Looking.").shell("cat a.txt; pwd")
    model.tool("write_file", file_path="{{caesar:workspace}}/b.txt", content="two")
    model.report("success", f"Done with {SECRET}.", changes=[("b.txt", "created")])
    return model


def test_a_conversation_is_recorded_as_a_script_and_played_without_the_model(
    pytester: pytest.Pytester, run: Runs, real: ScriptedModel
) -> None:
    with real:
        path = pytester.makepyfile(inner(f"{real.url}/v1"))
        run("--caesar-record=once").assert_outcomes(passed=1)
        assert real.requests[0].body.get("stream") is None
    kept = next(path.parent.rglob("*.model.json"))
    assert kept.name == "test_it.model.json"
    text = kept.read_text()
    assert SECRET not in text
    assert str(pytester.path) not in text
    value = json.loads(text)
    assert value["turns"][:2] == [
        {"say": "Looking.", "calls": [{"shell": {"command": "cat a.txt; pwd"}}]},
        {"calls": [{"write": {"path": "b.txt", "content": "two"}}]},
    ]
    assert value["turns"][2]["report"]["status"] == "success"
    assert "## Objective\n\nLook\n" in value["brief"]
    assert "{{caesar:workspace}}" in value["brief"]

    run().assert_outcomes(passed=1)  # nobody listens at the real address any more


def test_another_brief_says_what_differs(
    pytester: pytest.Pytester, run: Runs, real: ScriptedModel
) -> None:
    with real:
        pytester.makepyfile(inner(f"{real.url}/v1"))
        run("--caesar-record=once").assert_outcomes(passed=1)
    pytester.makepyfile(inner("http://127.0.0.1:9/v1", objective="Look twice"))
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "caesar_model: the brief is not the one of test_it.model.json: it was 'Look', *",
        ]
    )


@pytest.mark.parametrize(
    ("options", "ci", "told"),
    [
        ((), "", "*nothing was recorded in *test_it.model.json: run with --caesar-record=once*"),
        (("--caesar-record=once",), "true", "*test_it.model.json would be recorded, and in CI *"),
    ],
)
def test_what_cannot_be_played_or_recorded_is_said(
    options: tuple[str, ...],
    ci: str,
    told: str,
    pytester: pytest.Pytester,
    run: Runs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CI", ci)
    pytester.makepyfile(inner("http://127.0.0.1:9/v1"))
    result = run(*options)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([told])
    assert not list(Path(pytester.path).rglob("*.model.json"))
