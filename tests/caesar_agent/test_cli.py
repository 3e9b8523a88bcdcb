from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from caesar_agent import cli


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "caesar_agent", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **environment},
    )


def test_help_lists_the_commands_that_are_there() -> None:
    done = run("--help")

    assert done.returncode == 0
    for name in ("schema", "validate", "events"):
        assert f"\n    {name} " in done.stdout


def test_no_command_is_a_usage_error() -> None:
    done = run()

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: caesar-agent")


def test_an_unknown_command_is_a_usage_error_that_names_the_known() -> None:
    done = run("validat")

    assert done.returncode == 2
    assert "invalid choice: 'validat'" in done.stderr
    assert "validate" in done.stderr.replace("'validat'", "")


def test_the_version_is_that_of_the_distribution() -> None:
    from importlib.metadata import version

    assert run("--version").stdout == f"caesar-agent {version('pytest-caesar')}\n"


def test_a_command_imports_no_other_and_no_pydantic_before_it_runs() -> None:
    code = (
        "import sys\n"
        "from caesar_agent import cli\n"
        "try: cli.main(['schema', '--help'])\n"
        "except SystemExit: pass\n"
        "loaded = [name for name in sys.modules if name.startswith(('pydantic', 'caesar_agent.comm'))]\n"
        "print([name for name in loaded if name != 'caesar_agent.commands.dispatcher'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert (
        done.stdout.splitlines()[-1] == "['caesar_agent.commands', 'caesar_agent.commands.schema']"
    )


def test_a_reader_that_goes_away_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "caesar_agent", "schema", "report"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        assert child.stdout is not None
        child.stdout.close()
        assert child.wait(timeout=60) == 0
        assert child.stderr is not None
        assert child.stderr.read() == b""


def test_a_terminal_without_unicode_shows_escapes(tmp_path: Path) -> None:
    name = tmp_path / "résumé.json"
    name.write_text("{}")
    done = run("validate", str(name), "--as", "report", PYTHONIOENCODING="ascii")

    assert done.returncode == 1
    assert r"r\xe9sum\xe9.json: invalid report" in done.stdout


def test_an_interruption_has_the_exit_code_of_shells(monkeypatch: pytest.MonkeyPatch) -> None:
    from caesar_agent.commands import schema

    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(schema, "run", interrupted)

    assert cli.main(["schema", "report"]) == 130


def shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", line, sys.executable],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has this device")
def test_a_full_disk_is_told_in_a_sentence() -> None:
    done = shell('"$0" -m caesar_agent schema report > /dev/full')

    assert done.returncode == 2
    assert done.stderr == ("caesar-agent: the output cannot be written: No space left on device\n")


def test_a_closed_output_is_told_in_a_sentence() -> None:
    done = shell('"$0" -m caesar_agent schema report >&-')

    assert done.returncode == 2
    assert done.stderr == (
        "caesar-agent: standard output is closed; send it to a file or to /dev/null\n"
    )


def test_a_closed_error_output_changes_nothing_else() -> None:
    done = shell('"$0" -m caesar_agent schema report 2>&-')

    assert done.returncode == 0
    assert done.stdout.startswith("{")


def test_a_package_that_is_missing_is_named() -> None:
    code = (
        "import sys; sys.modules['yaml'] = None\n"
        "from pytest_caesar.cli import main; sys.exit(main(['agents']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 2
    assert done.stderr == (
        "pytest-caesar: it needs the package yaml, which is not installed; "
        "pip install pytest-caesar installs all that it needs\n"
    )
