from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from caesar_agent import cli
from caesar_agent.va.schema import DOCUMENTS, schema

UNIT = {"id": "T-1", "objective": "Fix it", "acceptanceCriteria": ["tests pass"]}
EVIDENCE = {"taskId": "T-1", "status": "completed"}
EXECUTION = {"taskId": "T-1", "correlationId": "c", "currentState": "pending", "transitions": []}
MESSAGE = {
    "protocol": "va-agent-protocol",
    "version": "0.1.0",
    "type": "dispatch",
    "timestamp": "2026-08-09T10:00:00Z",
    "correlationId": "c",
    "payload": {"task": UNIT},
}
VALID = {
    "va-task-unit": UNIT,
    "va-evidence": EVIDENCE,
    "va-lifecycle": EXECUTION,
    "va-message": MESSAGE,
}


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_schema_prints_what_the_models_say(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schema", name]) == 0

    printed = json.loads(capsys.readouterr().out)
    assert printed == schema(name)
    assert printed["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert printed["additionalProperties"] is False
    for field in printed["properties"].values():
        assert field["description"]


def test_there_is_no_strict_variant(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schema", "va-evidence", "--strict"]) == 2

    assert capsys.readouterr().err == (
        "there is no strict variant of va-evidence: its documents hold fields of any name, "
        "which structured outputs do not take\n"
    )


@pytest.mark.parametrize(("kind", "value"), VALID.items())
@pytest.mark.parametrize("told", [True, False])
def test_validate_knows_every_document_told_or_not(
    *,
    kind: str,
    value: Any,
    told: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.json").write_text(json.dumps(value))

    assert cli.main(["validate", *(["--as", kind] if told else []), "x.json"]) == 0
    assert capsys.readouterr().out == f"x.json: valid {kind}\n"


def test_validate_says_what_is_wrong_in_the_words_of_the_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.json").write_text(json.dumps({**MESSAGE, "type": "cancel"}))

    assert cli.main(["validate", "m.json"]) == 1
    assert capsys.readouterr().out == (
        "m.json: invalid va-message: at payload.taskId: a required field is missing "
        "[missing] (and 1 more)\n"
    )


def test_a_report_in_a_file_of_that_name_is_no_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("report.json").write_text(json.dumps(EVIDENCE))

    assert cli.main(["validate", "report.json"]) == 1
    assert capsys.readouterr().out.startswith("report.json: invalid report: ")
