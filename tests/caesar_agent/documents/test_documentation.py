from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from caesar_agent.diagnostics import CODES
from caesar_agent.documents import AnswerFile, Part, QuestionFile, Report, Task, decoding, fields
from caesar_agent.documents.event import EVENT_CLASSES, Event
from caesar_agent.documents.report import Artifact, Change, CommandRun, Finding, Question, Usage
from caesar_agent.documents.schema import schema
from caesar_agent.documents.task import Channel
from caesar_agent.errors import DocumentError

PAGE = (Path(__file__).parents[3] / "docs" / "documents.md").read_text()


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize(
    ("title", "models"),
    [
        ("`caesar.task/v1`", [Task, Channel]),
        ("`caesar.report/v1`", [Report, Change, CommandRun, Finding, Question, Artifact, Usage]),
        ("`caesar.event/v1`", [Event, *EVENT_CLASSES.values()]),
        ("Questions and answers", [QuestionFile, AnswerFile]),
    ],
)
def test_the_page_names_every_field(title: str, models: list[type[Part]]) -> None:
    text = section(title)
    for model in models:
        for name in model.model_fields:
            assert f"`{name}`" in text, f"{model.__name__}.{name}"


def test_the_tables_say_what_is_required_and_what_the_default_is() -> None:
    for title, model in (("`caesar.task/v1`", Task), ("`caesar.report/v1`", Report)):
        rows = dict(
            re.findall(r"^\| `(\w+)` \| .+? \| (.+?) \| .+\|$", section(title), re.MULTILINE)
        )
        plain = schema(model.kind)
        assert list(rows) == list(plain["properties"])
        for name, default in rows.items():
            field = plain["properties"][name]
            assert (default == "required") == (name in plain["required"]), name
            if "default" in field:
                written = {"": '`""`', True: "`true`", 0: "`0`"}.get(
                    field["default"] if not isinstance(field["default"], list) else None, "`[]`"
                )
                assert default == written, name


def test_the_codes_on_the_page_are_codes() -> None:
    codes = set(re.findall(r"^\| `([a-z]+(?:-[a-z]+)+)` \|", PAGE, re.MULTILINE))

    assert codes
    assert codes <= CODES.keys()


def test_the_bounds_on_the_page_are_the_bounds() -> None:
    assert f"more than {decoding.MAX_DEPTH} levels" in PAGE
    assert f"a number beyond a double, some {sys.float_info.max:.1e}".replace("+", "") in PAGE
    assert "2^53 - 1" in PAGE
    assert fields.MAX_INTEGER == 2**53 - 1


def test_the_example_on_the_page_fails_as_it_says() -> None:
    document = re.search(r"Report\.parse\((b'.*')\)", PAGE)
    assert document is not None
    with pytest.raises(DocumentError) as caught:
        Report.parse(document[1][2:-1])

    assert f"print(error.code, error.where)  # {caught.value.code} {caught.value.where}\n" in PAGE
    assert str(caught.value).startswith("invalid report at status: expected 'success', 'partial',")
