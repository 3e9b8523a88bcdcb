"""Requests of an agent, as files that anybody may have put there."""

from __future__ import annotations

import json
import tempfile
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.orchestrator.nested.requests import NestedRequests


@pytest.fixture
def box(tmp_path: Path) -> NestedRequests:
    box = NestedRequests(tmp_path, limit=10)
    box.open()
    return box


def ask(folder: Path, request_id: str, **fields: object) -> None:
    value = {"id": request_id, "agent": "a", "objective": "Look", **fields}
    (folder / "delegations" / f"{request_id}.json").write_text(json.dumps(value))


def test_each_request_comes_once_and_in_its_order(box: NestedRequests, tmp_path: Path) -> None:
    ask(tmp_path, "b")
    assert [request.id for request in box.new()] == ["b"]
    ask(tmp_path, "a")
    assert [request.id for request in box.new()] == ["a"]
    assert box.new(final=True) == ()


def test_a_file_that_is_half_written_is_waited_for(box: NestedRequests, tmp_path: Path) -> None:
    file = tmp_path / "delegations" / "a.json"
    file.write_text('{"id": "a", "agent')
    assert box.new() == ()
    ask(tmp_path, "a")
    assert [request.id for request in box.new()] == ["a"]
    assert box.diagnostics == ()


def test_one_answer_counts(box: NestedRequests, tmp_path: Path) -> None:
    assert not box.is_closed("a")
    assert box.answer("a", {"state": "refused", "reason": "first"})
    assert box.is_closed("a")
    assert not box.answer("a", {"state": "refused", "reason": "second"})
    assert json.loads((tmp_path / "delegated" / "a.json").read_text())["reason"] == "first"


def test_an_answer_that_nobody_would_read_is_a_refusal(
    box: NestedRequests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_caesar.orchestrator.nested.requests.MAX_RESULT_BYTES", 200)
    assert box.answer("a", {"state": "done", "report": "x" * 300})
    value = json.loads((tmp_path / "delegated" / "a.json").read_text())
    assert value["state"] == "refused"
    assert "which is too much" in value["reason"]


def test_a_task_directory_that_is_gone_is_told(box: NestedRequests, tmp_path: Path) -> None:
    (tmp_path / "delegations").rmdir()
    tmp_path.rename(tmp_path.with_name("away"))
    assert box.new(final=True) == ()
    assert not box.answer("a", {"state": "refused"})
    assert [finding.code for finding in box.diagnostics] == ["delegation-unsafe"]
    tmp_path.with_name("away").rename(tmp_path)


@given(name=st.text(max_size=20), content=st.binary(max_size=200))
def test_nothing_that_lies_there_raises(name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        box = NestedRequests(Path(folder), limit=10)
        box.open()
        try:
            (Path(folder) / "delegations" / f"{name}.json").write_bytes(content)
        except (OSError, ValueError):
            return
        assert box.new(final=True) == ()
        for finding in box.diagnostics:
            assert not any(unicodedata.category(char) in ("Cc", "Cf") for char in finding.message)
