"""JSON as people read it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from caesar_agent.documents.layout import LARGE, readable

LONG = [{"path": f"é{number}", "odd": ["\u2028", None, 1.5]} for number in range(LARGE)]


@pytest.mark.parametrize(
    "value",
    [
        {"a": 1, "changes": LONG, "b": {"c": [], "d": {}, "e": ["x", "y"]}},
        {"a": {"deep": {"changes": LONG}}, "b": 2},
        LONG,
        {"changes": LONG[:-1]},
        [],
        "text",
    ],
)
def test_a_long_list_has_an_entry_a_line_and_nothing_is_lost(value: Any) -> None:
    text = readable(value, ensure_ascii=False)
    assert json.loads(text) == value
    long = json.dumps(value).count('"path"') >= LARGE
    assert (json.dumps(LONG[7], ensure_ascii=False) in text) is long
    if not long:
        assert text == json.dumps(value, indent=2, ensure_ascii=False)


def test_lines_are_indented_as_ever() -> None:
    lines = readable({"a": {"b": [1]}, "long": [0] * LARGE}).splitlines()
    assert lines[:5] == ["{", '  "a": {', '    "b": [', "      1", "    ]"]
    assert lines[-3:] == ["    0", "  ]", "}"]
