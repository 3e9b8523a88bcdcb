"""A project that does not use the plugin does not notice it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.pytest_caesar.plugin.running import Runs

PROBE = """
import json, os, sys
before = dict(os.environ)

def test_it():
    pass

def pytest_sessionfinish(): pass
"""

HEAVY = (
    "pydantic",
    "freezegun",
    "psutil",
    "yaml",
    "mcp",
    "subprocess_tee",
    "caesar_agent",
    "pytest_caesar.session.session",
    "pytest_caesar.settings.settings",
    "pytest_caesar.orchestrator",
    "pytest_caesar.snapshots",
)


def _pytest(folder: object, *args: str, code: str = "") -> subprocess.CompletedProcess[str]:
    program = (
        "import sys, json, pytest\n"
        "code = pytest.main(sys.argv[1:])\n"
        "print('modules=' + json.dumps(sorted(sys.modules)))\n"
        "sys.exit(code)\n"
    )
    return subprocess.run(
        [sys.executable, "-c", program, "-p", "no:cacheprovider", *args],
        cwd=str(folder),
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_nothing_is_imported_or_printed_when_nothing_is_used(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it():\n    pass\n")
    result = _pytest(pytester.path, "-p", "no:syrupy", "-p", "no:randomly", "-W", "error")
    assert result.returncode == 0, result.stdout + result.stderr
    report, _, modules = result.stdout.partition("modules=")
    loaded = set(json.loads(modules))
    assert "pytest_caesar.plugin" in loaded
    assert {name for name in HEAVY if name in loaded} == set()
    assert {name for name in loaded if name.startswith(("pytest_caesar.", "caesar_agent."))} == {
        "pytest_caesar.hooks",
        "pytest_caesar.plugin",
    }
    body = [line for line in report.splitlines() if not line.startswith("plugins:")]
    assert not [line for line in body if "caesar" in line and str(pytester.path) not in line]
    assert result.stderr == ""


def test_the_plugin_can_be_switched_off(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile("def test_it():\n    pass\n")
    run("-p", "no:caesar").assert_outcomes(passed=1)


def test_the_marker_is_known(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        "import pytest\n\n@pytest.mark.caesar(strict=True)\ndef test_it():\n    pass\n"
    )
    run("--strict-markers").assert_outcomes(passed=1)


def test_every_option_ini_key_fixture_and_marker_begins_with_caesar(run: Runs) -> None:
    helped = run("--help").stdout.str()
    group = helped.partition("agents under test (pytest-caesar):")[2].partition("\n\n")[0]
    options = [word for line in group.splitlines() for word in line.split()[:1] if word[:2] == "--"]
    assert options
    assert all(option.startswith("--caesar-") for option in options)


def test_warnings_as_errors_and_importlib_mode_are_fine(
    pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makepyfile(
        """
        import caesar_agent
        import pytest_caesar

        def test_it(caesar_clock):
            assert caesar_clock().year == 2026
        """
    )
    run("--import-mode=importlib", "-W", "error").assert_outcomes(passed=1)
