from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from caesar_agent.diagnostics import CODES, Diagnostic

ROOT = Path(__file__).parents[2]
HOME = ROOT / "caesar_agent" / "diagnostics.py"
SOURCES = [
    path
    for package in ("caesar_agent", "pytest_caesar")
    for path in (ROOT / package).rglob("*.py")
    if path != HOME
]


def strings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def endings(tree: ast.AST) -> Iterator[str]:
    """Yield what f-strings such as ``f"{kind}-invalid"`` end with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and len(node.values) == 2:
            last = node.values[1]
            if isinstance(last, ast.Constant) and str(last.value).startswith("-"):
                yield str(last.value)


def given_codes(tree: ast.AST) -> Iterator[str]:
    """Yield the literal ``code=`` of every diagnostic that is made."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Diagnostic"):
            for keyword in node.keywords:
                if keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
                    yield str(keyword.value.value)


def test_every_code_is_used_somewhere() -> None:
    trees = [ast.parse(path.read_text()) for path in SOURCES]
    used = {text for tree in trees for text in strings(tree)}
    made = {ending for tree in trees for ending in endings(tree)}

    def is_used(code: str) -> bool:
        composed = any(code.removesuffix(ending) in used - {code} for ending in made)
        return code in used or composed

    assert [code for code in CODES if not is_used(code)] == []


def test_every_diagnostic_has_a_code_that_is_listed() -> None:
    unlisted = {
        f"{path.relative_to(ROOT)}: {code}"
        for path in SOURCES
        for code in given_codes(ast.parse(path.read_text()))
        if code not in CODES
    }

    assert sorted(unlisted) == []


def test_every_code_is_kebab_case_and_says_what_it_means_in_a_sentence() -> None:
    for code, meaning in CODES.items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)
        assert meaning.endswith(".")


def test_a_diagnostic_has_a_json_form() -> None:
    found = Diagnostic(code="not-json", message="m", path="a.json")

    assert found.as_dict() == {"code": "not-json", "message": "m", "path": "a.json"}
    assert Diagnostic(code="not-json", message="m", line=3).as_dict() == {
        "code": "not-json",
        "message": "m",
        "path": None,
        "line": 3,
    }


def test_a_finding_says_itself_in_a_line_that_is_safe_to_print() -> None:
    found = Diagnostic(code="undeclared-change", message="git shows a\x1b[2J\nb", path="a")
    assert repr(found) == r"<undeclared-change: git shows a\x1b[2J b>"
