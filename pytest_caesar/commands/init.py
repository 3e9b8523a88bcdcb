"""``pytest-caesar init``: a first agent with tests that pass."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from caesar_agent.console import printable
from pytest_caesar.commands.starter_files import AGENTS, LANGUAGES, PYTEST, starter_files

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers

CONFIGURATIONS: Final = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
"""Files that pytest reads before ``pyproject.toml``."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "init",
        help="write a first agent with its tests",
        description="Write an agent, its tests with a snapshot, pytest's configuration, a "
        "conformance profile, .gitignore and a workflow. Files that exist are left alone.",
    )
    parser.add_argument(
        "folder", metavar="FOLDER", type=Path, nargs="?", default=Path(), help="default: here"
    )
    parser.add_argument(
        "--language", choices=LANGUAGES, default="python", help="of the agent (default: python)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write what is missing; 0, or 1 where something that the tests need was left alone."""
    folder: Path = args.folder
    agent_file, agent = AGENTS[args.language]
    kept = []
    for name, text in starter_files(args.language).items():
        if _write(folder / name, text, executable=name == agent_file and agent.startswith("./")):
            _say(f"wrote  {name}")
        else:
            kept.append(name)
            _say(f"kept   {name}: it exists")
    settings = PYTEST.format(agent=agent)
    where = _configure(folder, settings)
    if where:
        _say(f"wrote  {where}")
    else:
        kept.append("pytest's configuration")
        _say("kept   pytest's configuration: it exists; add to its [tool.pytest] or [pytest]:")
        for line in settings.splitlines():
            _say(f"         {line}")
    here = "" if folder == Path() else f"cd {folder} && "
    _say("")
    _say(f"now:   {here}pytest")
    _say(f"       {here}pytest --caesar-conformance")
    return 1 if {agent_file, "tests/test_agent.py", "pytest's configuration"} & set(kept) else 0


def _write(path: Path, text: str, *, executable: bool = False) -> bool:
    """Write a new file; False where there is something already, be it a link to nowhere."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        return False
    if executable:
        path.chmod(0o755)
    return True


def _configure(folder: Path, settings: str) -> str:
    """Write pytest's configuration where there is none; return the file's name, or ""."""
    if any((folder / name).exists() for name in CONFIGURATIONS):
        return ""
    project = folder / "pyproject.toml"
    if _write(project, f"[tool.pytest]\n{settings}"):
        return "pyproject.toml"
    if "[tool.pytest" in project.read_text("utf-8", errors="replace"):
        return ""
    return "pytest.toml" if _write(folder / "pytest.toml", f"[pytest]\n{settings}") else ""


def _say(line: str) -> None:
    sys.stdout.write(f"{printable(line)}\n")
