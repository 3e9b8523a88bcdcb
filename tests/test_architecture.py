"""The sentences of the design about who imports whom, each enforced."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import caesar_agent
import pytest_caesar

SDK = Path(caesar_agent.__file__).parent
HARNESS = Path(pytest_caesar.__file__).parent

IO_MODULES = {
    "asyncio", "fcntl", "http", "io", "multiprocessing", "pathlib", "psutil", "shutil", "signal",
    "socket", "subprocess", "tempfile", "threading", "urllib",
}  # fmt: skip

PURE_OS = {"fsdecode", "fsencode", "fspath", "path", "sep"}
"""What the pure core may use of ``os``: spellings of paths, no files."""


def imports_of(path: Path) -> set[str]:
    """Modules that a file imports at run time, as dotted names."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test).endswith("TYPE_CHECKING")
        for node in ast.walk(block)
    }
    found = set()
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def roots(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imports_of(path)}


def modules(folder: Path) -> list[Path]:
    found = sorted(folder.rglob("*.py"))
    assert found, folder
    return found


PUBLIC = {
    SDK / "__init__.py",
    SDK / "documents" / "__init__.py",
    SDK / "va" / "__init__.py",
    HARNESS / "__init__.py",
    HARNESS / "va" / "__init__.py",
}
"""Packages with public names, each imported when it is first used."""


def test_the_sdk_never_imports_the_harness_or_pytest() -> None:
    forbidden = {"pytest_caesar", "pytest", "_pytest", "syrupy", "freezegun", "psutil", "yaml"}
    assert not {path: found for path in modules(SDK) if (found := roots(path) & forbidden)}


def test_a_room_says_what_it_is_for_and_imports_nothing() -> None:
    for room in [path for path in [*modules(SDK), *modules(HARNESS)] if path.name == "__init__.py"]:
        tree = ast.parse(room.read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), room
        if room not in PUBLIC:
            assert len(tree.body) == 1, room


def test_the_pure_core_does_no_io() -> None:
    pure = [
        *modules(SDK / "documents"),
        *modules(HARNESS / "recovery"),
        HARNESS / "workspace" / "reconciliation.py",
        HARNESS / "reporting" / "summary.py",
    ]
    for path in pure:
        assert not roots(path) & IO_MODULES, path
        used = {
            node.attr
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "os"
        }
        assert used <= PURE_OS, path


def test_only_one_module_of_the_harness_starts_git() -> None:
    # The script of a fake agent is no part of the harness: it runs as the agent.
    allowed = {HARNESS / "workspace" / "git.py", HARNESS / "fake_agent" / "script.py"}
    for path in [path for path in modules(HARNESS) if path not in allowed]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                for argument in node.args:
                    first = (
                        argument.elts[0]
                        if isinstance(argument, ast.List) and argument.elts
                        else None
                    )
                    found = isinstance(first, ast.Constant) and first.value == "git"
                    assert not found, f"{path}:{node.lineno}"


def test_the_import_contracts_hold() -> None:
    command = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run(
        [str(command), "--no-cache"],
        cwd=HARNESS.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert result.returncode == 0, result.stdout
