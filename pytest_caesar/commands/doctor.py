"""``pytest-caesar doctor``: say whether a delegation would work on this machine."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from caesar_agent.console import one_line, printable
from caesar_agent.errors import CaesarError
from pytest_caesar.agents.catalogue import CATALOGUE
from pytest_caesar.agents.command import find_program
from pytest_caesar.agents.credentials import kept_logins
from pytest_caesar.agents.known_cli import KnownCli
from pytest_caesar.agents.selection import select
from pytest_caesar.agents.selection_context import search_path
from pytest_caesar.agents.target import ProcessAgent
from pytest_caesar.supervision.monitors.process_tree import become_subreaper
from pytest_caesar.workspace.repository import Repository

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers

PACKAGES: Final = ("pytest", "syrupy", "pytest-timeout", "pydantic", "psutil")
"""What the harness needs."""

OPTIONAL: Final = {
    "pytest-xdist": "tests on several cores: pip install pytest-caesar[xdist]",
    "hypothesis": "strategies of documents: pip install pytest-caesar[hypothesis]",
}
"""What it can use, and what for."""

TIMEOUT: Final = 10.0
"""Seconds that a CLI has to tell its version."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "doctor",
        help="check whether a delegation would work here",
        description="Check Python, git, packages, known CLIs, logins (names, never values), "
        "worktrees and supervision. Exit code 1 when a delegation would fail.",
    )
    parser.add_argument("agent", metavar="AGENT", nargs="?", help="as for --caesar-agent")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print one line a check: ``ok``, ``note``, or ``fix`` with what to do."""
    broken = False
    checks = [
        _python(),
        _packages(),
        _git(),
        _worktree(),
        _commands(),
        _tree(),
        _sandboxes(),
        _clis(),
    ]
    if args.agent is not None:
        checks.append(_agent(args.agent))
    for check in checks:
        for kind, text in check:
            broken = broken or kind == "fix"
            sys.stdout.write(f"{kind:<5} {printable(one_line(text, limit=300))}\n")
            sys.stdout.flush()
    return 1 if broken else 0


def _python() -> Iterator[tuple[str, str]]:
    yield "ok", f"Python {sys.version.split()[0]} ({sys.executable})"


def _packages() -> Iterator[tuple[str, str]]:
    yield "ok", f"pytest-caesar {version('pytest-caesar')}"
    for name in PACKAGES:
        found = _installed(name)
        yield ("ok", found) if found else ("fix", f"{name} is missing: pip install {name}")
    for name, use in OPTIONAL.items():
        yield (
            ("ok", _installed(name)) if _installed(name) else ("note", f"{name} is missing; {use}")
        )


def _installed(name: str) -> str:
    """Return name and version of a package, or ""."""
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ""


def _git() -> Iterator[tuple[str, str]]:
    program = shutil.which("git")
    if program is None:
        yield "fix", "git is not on PATH: install it (Debian and Ubuntu: apt install git)"
        return
    yield "ok", f"{_version_of([program, '--version'])} ({program})"


def _worktree() -> Iterator[tuple[str, str]]:
    """Make a repository and a worktree of it, and remove both."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            repository = Repository.create(Path(folder) / "repo")
            repository.commit({"a.txt": "a\n"})
            repository.git("worktree", "add", "--detach", str(Path(folder) / "tree"))
        except (CaesarError, OSError) as error:
            yield "fix", f"no git worktree can be made in {tempfile.gettempdir()}: {error}"
        else:
            yield "ok", f"git worktrees can be made in {tempfile.gettempdir()}"


def _commands() -> Iterator[tuple[str, str]]:
    """Look for the command that serves the return channel."""
    beside = str(Path(sys.executable).parent)
    path = os.pathsep.join((beside, os.environ.get("PATH", os.defpath)))
    found = shutil.which("caesar-agent", path=path)
    if found is None:
        yield (
            "fix",
            (
                "caesar-agent, which serves the return channel, is neither beside Python nor on "
                "PATH: pip install --force-reinstall pytest-caesar"
            ),
        )
    else:
        yield "ok", f"the return channel: {found}"


def _tree() -> Iterator[tuple[str, str]]:
    if become_subreaper():
        yield "ok", "every process that an agent leaves behind is found (subreaper)"
    else:
        yield (
            "note",
            (
                "this system has no subreaper: a process that leaves its agent's session and clears "
                "its environment is not found"
            ),
        )


def _sandboxes() -> Iterator[tuple[str, str]]:
    """Try every sandbox, and say what holds."""
    from pytest_caesar.sandboxes.choice import SANDBOXES, broken_text, proof_of  # noqa: PLC0415

    for name in SANDBOXES:
        try:
            proof = proof_of(name)
        except CaesarError as error:
            yield "note", str(error)
            continue
        if proof.broken:
            yield "note", f"the sandbox {name} {proof.version} is weak: {broken_text(proof)}"
        else:
            yield "ok", f"the sandbox {name} {proof.version} holds ({', '.join(proof.held)})"


def _clis() -> Iterator[tuple[str, str]]:
    path = search_path(os.environ)
    for cli in CATALOGUE.values():
        program = shutil.which(cli.program, path=path)
        if program is None:
            yield "note", f"{cli.display_name} ({cli.program}) is not on PATH"
            continue
        checked = f"checked with {cli.checked}" if cli.checked else "not checked with any version"
        yield "ok", f"{cli.display_name}: {_version_of([program, '--version'])}; {checked}"
        yield _login(cli)


def _login(cli: KnownCli) -> tuple[str, str]:
    """Say whether a login is there: names alone. ``HOME`` is always set, and says nothing."""
    names = [name for name in cli.logins if name != "HOME"]
    found = [one for one in os.environ if any(fnmatchcase(one, name) for name in names)]
    if found:
        options = " ".join(f"--caesar-pass-env={name}" for name in sorted(found))
        return "ok", f"{cli.display_name}: a login is set here; pass it on with {options}"
    kept = kept_logins(cli, Path.home())
    if kept:
        return (
            "ok",
            f"{cli.display_name}: ~/{kept[0]} is there; pass it on with --caesar-pass-env=HOME",
        )
    places = ", ".join([*names, *(f"~/{name}" for name in cli.login_files)]) or "none known"
    return "note", f"{cli.display_name}: no login was found ({places}); caesar_model needs none"


def _agent(name: str) -> Iterator[tuple[str, str]]:
    try:
        target = select(name, project=Path.cwd(), start=Path.cwd())
        if isinstance(target, ProcessAgent):
            find_program(target, path=search_path(os.environ))
    except CaesarError as error:
        yield "fix", str(error)
    else:
        yield "ok", f"the agent {target.id} can be started"


def _version_of(command: list[str]) -> str:
    """Return the first line that a program prints of its version."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"version unknown ({type(error).__name__})"
    lines = (done.stdout or done.stderr).decode("utf-8", "replace").split("\n")
    return one_line(lines[0].strip().rstrip(".") or "version unknown", limit=80)
