from __future__ import annotations

from pathlib import Path

import pytest

from pytest_caesar.agents.functions import find_function, looks_like_function, name_of_function
from tests.pytest_caesar.agents.conftest import Write


@pytest.mark.parametrize("text", ["m:f", "a.b.c:f", "m:Class.method", "größe:f"])
def test_a_module_and_a_function_look_like_one(text: str) -> None:
    assert looks_like_function(text)


@pytest.mark.parametrize(
    "text", ["m", "m:", ":f", "m:f:g", "m :f", "./m:f", "1m:f", "m:f()", "a..b:f"]
)
def test_anything_else_does_not(text: str) -> None:
    assert not looks_like_function(text)


@pytest.mark.parametrize(
    "source",
    [
        "def f(agent): ...",
        "async def f(agent): ...",
        "class f: ...",
        "from elsewhere import g as f",
        "import f",
        "f = make()",
        "f: object = make()",
        "a, (f, *b) = make()",
        "if x:\n    pass\nelse:\n    def f(): ...",
        "try:\n    from a import f\nexcept ImportError:\n    f = None",
        "with x as f:\n    pass",
        "from elsewhere import *",
        "def __getattr__(name): ...",
        "globals()['f'] = 1",
        "this is not python at all",
    ],
)
def test_a_name_that_the_module_may_have_is_accepted(
    source: str, write: Write, tmp_path: Path
) -> None:
    write("m_under_test.py", source)
    assert find_function("m_under_test:f", tmp_path).problem == ""


@pytest.mark.parametrize("source", ["def g(): f = 1", "class C:\n    def f(self): ...", "print(f)"])
def test_a_name_that_it_cannot_have_is_not(source: str, write: Write, tmp_path: Path) -> None:
    write("m_under_test.py", source)
    assert "has no" in find_function("m_under_test:f", tmp_path).problem


def test_a_module_below_a_plain_module_is_missing(write: Write, tmp_path: Path) -> None:
    write("m_under_test.py")
    assert "there is no module" in find_function("m_under_test.sub:f", tmp_path).problem


def test_a_namespace_package_is_a_package(write: Write, tmp_path: Path) -> None:
    file = write("spaces_under_test/inner/m.py", "def f(): ...")
    found = find_function("spaces_under_test.inner.m:f", tmp_path)
    assert (found.origin, found.problem) == (str(file), "")


def test_a_built_in_module_has_no_source_to_look_at(tmp_path: Path) -> None:
    assert find_function("sys:exit", tmp_path).problem == ""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("my_agents:fix_the_parser", "fix_the_parser"),
        ("my_agents:Reviewer.review", "Reviewer.review"),
        ("reviewer:main", "reviewer"),
        ("teams.reviewer:run", "reviewer"),
        ("reviewer:Reviewer.agent", "reviewer"),
        ("reviewer.__main__:main", "reviewer"),
        ("main:main", "main"),
    ],
)
def test_a_function_whose_name_says_nothing_is_called_after_its_module(
    text: str, name: str
) -> None:
    assert name_of_function(text) == name
