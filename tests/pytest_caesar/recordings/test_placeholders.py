"""Placeholders for folders, ids and secrets."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.recordings.placeholders import PlaceError, Places

FOLDERS = {"workspace": "/tmp/x/repo/.caesar/wt/t_1", "project": "/tmp/x/repo", "home": "/root"}
SECRET = 's3cr3t/with"odd+chars'
PLACES = Places(FOLDERS, task_id="t_1", secrets={"API_KEY": SECRET})

pieces = st.lists(
    st.sampled_from(
        [
            b"{{caesar:",
            b"{{",
            b"}}",
            b"workspace}}",
            b"{",
            b":",
            b" ",
            b"t_1",
            b"\xff",
            b"{{caesar:{{",
        ]
        + [path.encode() for path in FOLDERS.values()]
    ),
    max_size=12,
).map(b"".join)


@given(pieces | st.binary(max_size=100))
def test_what_is_hidden_comes_back(data: bytes) -> None:
    assert PLACES.show(PLACES.hide(data)) == data


def test_folders_come_back_as_those_of_another_machine() -> None:
    hidden = PLACES.hide(b"see /tmp/x/repo/.caesar/wt/t_1/a.py, task t_1")
    assert hidden == b"see {{caesar:workspace}}/a.py, task {{caesar:task-id}}"
    other = Places({"workspace": "/elsewhere"}, task_id="t_9", secrets={})
    assert other.show(hidden) == b"see /elsewhere/a.py, task t_9"


@pytest.mark.parametrize("data", [b"/tmp/x/repository", b"/a/tmp/x/repo2", b"at_1", b"t_12"])
def test_what_only_begins_alike_stays(data: bytes) -> None:
    assert PLACES.hide(data) == data


def test_a_folder_is_recognised_in_other_spellings() -> None:
    places = Places({"project": "/tmp/é x"}, task_id="t_1", secrets={})
    here = Places({"project": "/tmp/ü"}, task_id="t_1", secrets={})
    data = json.dumps("/tmp/é x").encode() + rb" \/tmp\/" + "é x /tmp/%C3%A9%20x".encode()
    hidden = places.hide(data)
    assert b"tmp" not in hidden
    assert places.show(hidden) == data
    assert here.show(hidden) == rb'"/tmp/\u00fc" \/tmp\/' + "ü /tmp/%C3%BC".encode()


@pytest.mark.parametrize(
    "spelled",
    [
        SECRET.encode(),
        json.dumps(SECRET)[1:-1].encode(),
        base64.b64encode(SECRET.encode()),
        b"s3cr3t%2Fwith%22odd%2Bchars",
    ],
    ids=["plain", "json", "base64", "address"],
)
def test_a_secret_goes_and_stays_away_in_every_spelling(spelled: bytes) -> None:
    hidden = PLACES.hide(b"key=" + spelled + b";")
    assert hidden == b"key={{caesar:secret:API_KEY}};"
    assert PLACES.show(hidden) == hidden
    assert PLACES.secret_in(b"x" + spelled) == "API_KEY"
    assert PLACES.secret_in(hidden) is None


def test_a_key_of_several_lines_goes_line_by_line() -> None:
    key = "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA7\nx9\n-----END KEY-----\n"
    places = Places({}, task_id="t_1", secrets={"DEPLOY_KEY": key})
    for shown in (key, key.replace("\n", "\n+"), json.dumps(key)):
        assert b"MIIEpAIBAAKCAQEA7" not in places.hide(shown.encode())
    assert places.hide(b"x9") == b"x9"


def test_every_text_of_a_value_is_changed() -> None:
    value = {"a": ["in /tmp/x/repo", {"b": "t_1"}], "n": 1, "none": None, "odd": "\udcff"}
    hidden = PLACES.hide_value(value)
    assert hidden["a"] == ["in {{caesar:project}}", {"b": "{{caesar:task-id}}"}]
    assert PLACES.show_value(hidden) == value


@pytest.mark.parametrize("data", [b"{{caesar:nowhere}}", b"{{caesar:", b"{{caesar:home:odd}}"])
def test_a_placeholder_that_there_is_not_is_an_error(data: bytes) -> None:
    with pytest.raises(PlaceError, match="there is no placeholder"):
        PLACES.show(data)


def test_folders_that_are_too_short_to_mean_anything_are_left() -> None:
    places = Places({"home": "/"}, task_id="t_1", secrets={})
    assert places.hide(b"/ /a") == b"/ /a"
