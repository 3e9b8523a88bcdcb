"""``docs/recordings.md`` tells what there is."""

from __future__ import annotations

import re

import pytest

from pytest_caesar.recordings.cassette import Cassette
from pytest_caesar.recordings.errors import RecordingMismatchError
from pytest_caesar.recordings.recording import FILES, task_facts
from pytest_caesar.recordings.secret_variables import secrets_of
from pytest_caesar.recordings.storage import HEAD
from pytest_caesar.settings.settings import RECORD_MODES
from tests.conftest import ROOT
from tests.pytest_caesar.recordings.staging import Stage

PAGE = (ROOT / "docs" / "recordings.md").read_text("utf-8")


def section(heading: str) -> str:
    return re.split(r"\n##+ ", PAGE.partition(f"# {heading}\n")[2])[0]


def test_every_mode_is_told() -> None:
    assert tuple(re.findall(r"^\| `(\w+)` \|", section("Modes"), re.MULTILINE)) == RECORD_MODES


def test_every_file_is_told() -> None:
    rows = re.findall(r"^\| (`.*?) \|", section("What is kept"), re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([^`]+)`", row)} == {HEAD, *FILES}


def test_every_word_of_a_secret_is_told_and_counts() -> None:
    text = section("What is replaced")
    words = re.findall(r"`([A-Z]+)`", text.partition("its name holds")[2].partition("number")[0])
    assert len(words) == 15
    assert all(secrets_of({f"MY_{word}": "abcdefgh"}) for word in words)


def test_the_message_of_a_mismatch_is_the_one_shown(stage: Stage) -> None:
    agent = stage.fake(stage.fake.report())
    stage.begin("once").delegate(agent, "Fix the parser")
    with pytest.raises(RecordingMismatchError) as caught:
        stage.begin("none").delegate(agent, "Fix the lexer")
    shown = re.findall(r"^```\n(__caesar__.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    message = re.sub(r"^.*?: ", "", str(caught.value))
    assert [re.sub(r"^.*?: ", "", one) for one in shown] == [f"{message}\n"]


def test_what_must_match_is_told(stage: Stage) -> None:
    execution = stage.begin("once")
    run = execution.delegate(stage.fake(stage.fake.report()), role=None)
    words = {"base_tree": "id of their tree", "channel": "return channel"}
    text = " ".join(section("What must match").split())
    for name in task_facts(run.task, base_tree="", model=None):
        assert words.get(name, name.replace("_", " ")) in text, name
    assert isinstance(execution.cassette, Cassette)
