"""What all tests share."""

from __future__ import annotations

import compileall
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest

from pytest_caesar.files.removal import remove_tree
from pytest_caesar.files.walking import walk

pytest_plugins = ["pytester"]

# A machine that is busy with something else makes no property false.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

ROOT = Path(__file__).parent.parent

DEEP = 100
"""Folders inside one another that a later pytest clears without trouble."""


def pytest_configure() -> None:
    """Let tests of signals run under nohup or in the background of a shell, which ignore these.

    And let workers and inner runs keep what they compile, or each of them does it again: pytest
    rewrites every module of every plugin.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage neither while tests are collected, nor ever again among what was."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_terminal_summary(config: pytest.Config) -> None:
    """Count no runs: most of those that failed were made to, and a green run need not alarm."""
    session = config.pluginmanager.get_plugin("caesar-session")
    if session is not None:
        session.records.clear()


@pytest.fixture(autouse=True)
def _outside_of_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let inner test runs behave the same on a developer's machine and elsewhere."""
    for name in (
        *("CI", "BUILD_NUMBER", "FORCE_COLOR", "NO_COLOR", "PYTEST_ADDOPTS"),
        *("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"),
        *("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID"),
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session", autouse=True)
def _no_deep_folders_left(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Remove what the tests made, deep folders too: a later pytest clears them by recursion."""
    yield
    base = tmp_path_factory.getbasetemp()
    if not request.session.testsfailed:
        # Half a million files are gone in half the time of ours.
        subprocess.run(["rm", "-rf", "--", str(base)], check=False, capture_output=True)
        remove_tree(base)  # with what rm was not let into
        return
    allowed = len(base.parts) + DEEP
    below = walk(base, enter=lambda entry: entry.path.count(os.sep) < allowed)
    for path in [entry.path for entry in below if entry.path.count(os.sep) == allowed]:
        remove_tree(Path(path))


@pytest.fixture(scope="session", autouse=True)
def _compiled() -> None:
    """Compile the packages once: children that may write no bytecode would each do it again."""
    for name in ("caesar_agent", "pytest_caesar"):
        compileall.compile_dir(ROOT / name, quiet=2)
