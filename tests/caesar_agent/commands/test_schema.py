from __future__ import annotations

import json

import pytest

from caesar_agent import cli
from caesar_agent.documents.schema import DOCUMENTS, schema


@pytest.mark.parametrize("strict", [False, True], ids=["plain", "strict"])
@pytest.mark.parametrize("name", list(DOCUMENTS))
def test_schema_prints_one_json_schema(
    name: str, capsys: pytest.CaptureFixture[str], *, strict: bool
) -> None:
    assert cli.main(["schema", name, *(["--strict"] if strict else [])]) == 0
    assert json.loads(capsys.readouterr().out) == schema(name, strict=strict)


def test_an_unknown_document_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["schema", "message"])
    assert caught.value.code == 2
    assert "invalid choice: 'message'" in capsys.readouterr().err


def test_the_command_offers_every_document_that_has_a_schema() -> None:
    from caesar_agent.commands.schema import NAMES

    assert tuple(DOCUMENTS) == NAMES
