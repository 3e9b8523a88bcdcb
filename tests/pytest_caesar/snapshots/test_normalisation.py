"""What varies is replaced, what is the agent's word stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.snapshots.normalisation import Normaliser

FIRST: dict[str, Any] = {
    "protocol": "caesar.report/v1",
    "task_id": "t_4d11aa",
    "status": "success",
    "summary": "Edited /tmp/pytest-of-eve/pytest-4/test_it0/wt/lib/b.py at "
    "2026-05-04T08:00:01.250Z (commit 1111111111222222222233333333334444444444) in 12 s",
    "changes": [{"path": "lib/b.py", "action": "modified"}],
    "usage": {"input_tokens": 900, "output_tokens": 30, "duration_ms": 12000, "cost_usd": 0.25},
    "details": "session 0b9f1c2e-0000-4c55-9d3e-2f6a1b7c8d90, port 127.0.0.1:50001, pid 100",
}
SECOND: dict[str, Any] = {
    "protocol": "caesar.report/v1",
    "task_id": "t_9be0",
    "status": "success",
    "summary": "Edited /private/var/folders/x/pytest-of-mallory/pytest-77/popen-gw3/test_it0/wt/"
    "lib/b.py at 2027-01-31T23:59:59Z (commit aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd) in 9 s",
    "changes": [{"path": "lib/b.py", "action": "modified"}],
    "usage": {"input_tokens": 31, "output_tokens": 7, "duration_ms": 1, "cost_usd": 1.0},
    "details": "session ffffffff-1111-4222-8333-2f6a1b7c8d90, port 127.0.0.1:40500, pid 7",
}


def normalise(value: Any) -> Any:
    return Normaliser().document(value)


def test_two_machines_and_two_days_give_the_same() -> None:
    assert normalise(FIRST) == normalise(SECOND)


@pytest.mark.parametrize(
    "changed",
    [
        {"status": "partial"},
        {"changes": []},
        {"commands_run": [{"command": "make check", "exit_code": 2}]},
        {"findings": [{"severity": "low", "title": "t", "line": 3}]},
    ],
)
def test_what_the_agent_means_is_not_lost(changed: dict[str, Any]) -> None:
    assert normalise({**FIRST, **changed}) != normalise(FIRST)


@pytest.mark.parametrize(
    "prose",
    [
        "Works for the years 2025 and 2026.",
        "Release of 2026-08-09, at 10:30.",
        "See abc1234, or localhost; deadbeef and cafebabe stay.",
        "The timeout was raised from 30 s to 60 s.",
        "Rapid 12, stupid 3.",
        "/tmpfile and /work are no folders of this machine",
    ],
)
def test_a_date_or_a_number_in_prose_is_the_agents_word(prose: str) -> None:
    assert normalise({"summary": prose}) == {"summary": prose}


def test_a_path_of_the_workspace_stays_whatever_it_looks_like() -> None:
    path = "fixtures/0b9f1c2e-7a1d-4c55-9d3e-2f6a1b7c8d90.json"
    assert normalise({"changes": [{"path": path}]}) == {"changes": [{"path": path}]}


def test_the_same_value_gets_the_same_placeholder() -> None:
    one, two = "11111111-aaaa-4aaa-8aaa-000000000001", "22222222-aaaa-4aaa-8aaa-000000000002"
    assert normalise([f"{one} {two}", one.upper()]) == ["<uuid-1> <uuid-2>", "<uuid-1>"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/venv/bin/python3.11 -m x", "<python>/bin/python -m x"),
        ("/venv/bin/python3 /venv/bin/python", "<python>/bin/python <python>/bin/python"),
        ("/venv/bin/python3.11-config", "<python>/bin/python3.11-config"),
        ("/elsewhere/bin/python3.11", "/elsewhere/bin/python3.11"),
    ],
)
def test_the_version_in_an_interpreters_name_is_nobodys_word(text: str, expected: str) -> None:
    assert Normaliser({"/venv": "<python>"}).text(text) == expected


def test_the_longest_root_comes_first() -> None:
    normaliser = Normaliser({"/ws": "<repo>", "/ws/wt/a": "<workspace>", "/": "<root>"})
    assert normaliser.text("/ws/wt/a/x.py /ws/wt/ab /ws.d /ws") == (
        "<workspace>/x.py <repo>/wt/ab /ws.d <repo>"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/tmp/x/tmp/x", "<tmp_path>/tmp/x"),
        ("/tmp/pytest-of-ana/pytest-3/test_it0/f", "<tmp_path>/f"),
        ("/home/ana/tmp/pytest-of-ana/pytest-3/test_it0/f", "<tmp_path>/f"),
        ("/var/pytest-of-ana/pytest-3/test_it0/f", "<tmp_path>/f"),
        ("<code>/tmp/x</code>", "<code><tmp_path></code>"),
    ],
)
def test_what_follows_a_placeholder_is_the_rest_of_its_path(text: str, expected: str) -> None:
    roots = {"/tmp/x": "<tmp_path>", "/tmp": "<tmp>", "/home/ana": "<user-home>"}
    assert Normaliser(roots).text(text) == expected
    assert Normaliser(roots).path(text) == expected
    assert Normaliser(roots).path(expected) == expected


def test_an_abbreviation_of_a_known_commit_is_that_commit() -> None:
    commit = "1234567890abcdef1234567890abcdef12345678"
    normaliser = Normaliser(commits=[commit])
    assert normaliser.text(f"HEAD is {commit}, that is 1234567 and not 7654321") == (
        "HEAD is <commit-1>, that is <commit-1> and not 7654321"
    )


def test_the_id_of_the_task_is_recognised_in_prose_too() -> None:
    value = {"task_id": "t_77", "summary": "t_77 done, t_770 not"}
    assert normalise(value) == {"task_id": "<task-1>", "summary": "<task-1> done, t_770 not"}


def test_an_instant_in_a_field_for_instants_is_replaced_and_anything_else_is_not() -> None:
    assert normalise({"at": "2026-01-01T00:00:00.000Z"}) == {"at": "<time>"}
    assert normalise({"at": "noon"}) == {"at": "noon"}


def test_rules_of_the_user_come_first() -> None:
    normaliser = Normaliser(rules=[(r"build-\d+", "<build>")])
    assert normaliser.document({"path": "x", "summary": "build-77"})["summary"] == "<build>"


@pytest.mark.parametrize(
    "unit", ["/", "/a", "/a+", "a-", "1", "0123456789abcdef", "in 1", "2026-01-", "-/a", "pid "]
)
def test_awkward_texts_take_no_more_than_their_length(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    assert Normaliser({"/tmp/a": "<repo>"}, commits=["0" * 40]).text(text) is not None


TEXTS = st.text(
    alphabet=st.sampled_from(list("abcdef0123456789-:/.TZ<> _stintook")) | st.characters()
) | st.sampled_from([FIRST["summary"], SECOND["summary"], FIRST["details"], "in 3 s in 4 s"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["summary", "task_id", "at", "path", "duration_ms", "details"]), inner
        )
    ),
    max_leaves=12,
)


@given(VALUES)
def test_normalising_twice_is_normalising_once(value: Any) -> None:
    roots = {"/tmp": "<tmp>", "/tmp/a": "<repo>"}
    once = Normaliser(roots).document(value)
    assert Normaliser(roots).document(once) == once


@given(VALUES)
def test_the_shape_of_a_document_stays(value: Any) -> None:
    normalised = normalise(value)
    assert json.dumps(normalised) is not None
    if isinstance(value, dict):
        assert sorted(normalised) == sorted(value)


PIECES = st.sampled_from(
    [
        *("/tmp/x", "/tmp/x/y", "/home/ana", "/pytest-of-ana/pytest-1/test_it0/", "[::1]:99"),
        *("t_0001", "t_1", "<task-1>", "pid 42", "localhost:8080", "in 3 s", "took 4 ms"),
        *("2026-03-01T10:00:00Z", "0b9f1c2e-7a1d-4c55-9d3e-2f6a1b7c8d90", "a" * 40, "aaaaaaa"),
        *(" ", "/", "<", ">", ".", "-", "a", "\n"),
    ]
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_pieces_that_touch_are_replaced_once_and_for_all(text: str) -> None:
    def normalised(value: Any) -> Any:
        roots = {"/tmp/x": "<tmp_path>", "/tmp": "<tmp>", "/home/ana": "<user-home>"}
        return Normaliser(roots, commits=["a" * 40]).document(value)

    once = normalised({"task_id": "t_0001", "summary": text, "changes": [{"path": text}]})
    assert normalised(once) == once
