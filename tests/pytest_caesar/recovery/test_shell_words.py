"""Command lines, as a shell would take them apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.recovery.shell_words import (
    may_hide,
    names,
    simple_commands,
    split,
    unwrapped,
    words,
)

OWN, OTHERS = True, False


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("/bin/bash -lc 'pytest -q'", "pytest -q"),
        ("/usr/bin/zsh -lc \"pytest -k 'a'\"", "pytest -k 'a'"),
        ("bash -e -c 'make'", "make"),
        ("bash run.sh", "bash run.sh"),
        ("python -c 'print(1)'", "python -c 'print(1)'"),
        ("bash -c 'a' b", "bash -c 'a' b"),
        ('bash -lc "', 'bash -lc "'),
    ],
)
def test_one_shell_is_taken_off(command: str, expected: str) -> None:
    assert unwrapped(command) == expected


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("pytest -q", " pytest   -q\n", True),
        ("pytest 'a b'", 'pytest "a b"', True),
        ("pytest tests", "pytest 'tests'", True),
        ("pytest 'a b'", "pytest a b", False),
        ("echo '$HOME'", "echo $HOME", False),
        ("pytest -q | tail", "pytest -q '|' tail", False),
        ("pytest", "python -m pytest", False),
        ("pytest", "bash -c pytest", False),
        ("X=1 pytest", "pytest", False),
    ],
)
def test_commands_are_the_same_by_their_words(one: str, other: str, same: bool) -> None:  # noqa: FBT001
    assert (words(one) == words(other)) is same


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest -q", [("pytest -q", OWN)]),
        ("cd src && A=1 B='x y' pytest", [("pytest", OWN)]),
        ("bash -lc 'cd x && pytest -q'", [("pytest -q", OWN)]),
        ("env -u HOME A=1 pytest", [("pytest", OWN)]),
        ("timeout -k 5 60 nice -n 3 pytest", [("pytest", OWN)]),
        ("python3.12 -m pytest -q", [("python3.12 -m pytest -q", OWN), ("pytest -q", OWN)]),
        ("uv run --with x pytest", [("uv run --with x pytest", OWN), ("pytest", OWN)]),
        ("pytest -q | tail -3", [("pytest -q", OTHERS), ("tail -3", OWN)]),
        ("pytest; echo done", [("pytest", OTHERS), ("echo done", OWN)]),
        ("pytest || true", [("pytest", OTHERS), ("true", OTHERS)]),
        ("pytest &", [("pytest", OTHERS)]),
        ("pytest && ruff check .", [("pytest", OWN), ("ruff check .", OWN)]),
        ("cd x; pytest;", [("pytest", OWN)]),
        ("! pytest", [("pytest", OTHERS)]),
        ("pytest > out.txt 2>&1", [("pytest", OWN)]),
        ("pytest &> out.txt", [("pytest", OWN)]),
        ("(cd x && pytest)", [("pytest", OWN)]),
        ("cat > a <<'EOF'\npytest\nEOF\nls", [("cat", OTHERS), ("ls", OWN)]),
        ("if pytest; then echo y; fi", [("pytest", OTHERS), ("echo y", OTHERS), ("fi", OWN)]),
        ("pytest 'a && b'", [("pytest 'a && b'", OWN)]),
        ("cd x", []),
        ("", []),
        ("echo 'open", []),
    ],
)
def test_every_program_is_found_with_whose_exit_code_the_line_has(
    command: str, expected: list[tuple[str, bool]]
) -> None:
    found = [(item.argv, item.own_status) for item in simple_commands(command)]

    assert found == [(split(text), own) for text, own in expected]


@pytest.mark.parametrize(
    ("command", "hides"),
    [
        ("git status", False),
        ("sed -i s/a/b/ x.py", False),
        ("cat pytest_notes.md", False),
        ("npm install left-pad", False),
        ("python -c 'print(1)'", False),
        ("/usr/bin/ls", False),
        ("uv run pytest -x", True),
        ("python -m pytest", True),
        ("make test", True),
        ("npm test", True),
        ("./check.sh", True),
        (".venv/bin/tool", True),
        ("bash check.sh", True),
        ("python manage.py test", True),
        ("x" * 70_000, True),
    ],
)
def test_what_may_run_a_program_unseen(command: str, hides: bool) -> None:  # noqa: FBT001
    assert may_hide(command, frozenset({"pytest"})) is hides


def test_the_names_of_a_command_are_those_of_its_programs_and_wrappers() -> None:
    assert names("cd src && .venv/bin/python -m pytest -q") == {"python", "pytest"}


@given(st.text(alphabet="ab '\"\\|&;<>()$\n-=!{}", max_size=40))
def test_no_text_is_too_strange(text: str) -> None:
    words(text)
    names(text)
    may_hide(text, frozenset({"a"}))
    unwrapped(text)
