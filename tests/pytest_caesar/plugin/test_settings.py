"""What options and ini keys say is checked before anything is collected."""

from __future__ import annotations

import pytest

from tests.pytest_caesar.plugin.running import Runs, agent_script

TEST = "def test_it(): pass"


def refusals(result: pytest.RunResult) -> list[str]:
    """Return what pytest was refused with, and see that it is all that is told."""
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.outlines == []
    return [line for line in result.errlines if line]


@pytest.mark.parametrize("key", ["caesar_strict", "caesar_junit", "caesar_subprocess"])
def test_an_ini_key_that_is_neither_true_nor_false_is_named(
    pytester: pytest.Pytester, run: Runs, key: str
) -> None:
    pytester.makeini(f"[pytest]\n{key} = maybe\n")
    pytester.makepyfile(TEST)
    expected = f"ERROR: {key} in tox.ini: invalid truth value 'maybe'; expected true or false"
    assert refusals(run()) == [expected]


def test_the_same_in_toml_is_named(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyprojecttoml("[tool.pytest]\ncaesar_strict = 'maybe'\n")
    pytester.makepyfile(TEST)
    (told,) = refusals(run())
    assert told.startswith(
        f"ERROR: {pytester.path / 'pyproject.toml'}: config option 'caesar_strict' "
    )


def test_an_override_that_is_wrong_is_named(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(TEST)
    (told,) = refusals(run("-o", "caesar_strict=maybe"))
    assert told.startswith("ERROR: caesar_strict: invalid truth value 'maybe'")


def test_an_agent_that_the_ini_file_names_wrongly_is_told_to_come_from_there(
    pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makeini("[pytest]\ncaesar_agent = nobody-of-that-name\n")
    pytester.makepyfile(TEST)
    (told,) = refusals(run())
    start = 'ERROR: caesar_agent in tox.ini: cannot select the agent "nobody-of-that-name": '
    assert told.startswith(start)
    (told,) = refusals(run("--caesar-agent=nobody-else"))
    assert told.startswith('ERROR: cannot select the agent "nobody-else": ')


@pytest.mark.parametrize("option", ["--caesar-json", "--caesar-conformance-report"])
def test_a_folder_is_no_file_to_write(pytester: pytest.Pytester, run: Runs, option: str) -> None:
    pytester.makepyfile(TEST)
    expected = f"ERROR: {option}: {pytester.path} is a folder; name the file to write"
    assert refusals(run(f"{option}=.")) == [expected]


def test_a_file_is_no_folder_to_keep_runs_in(pytester: pytest.Pytester, run: Runs) -> None:
    file = pytester.makepyfile(TEST)
    expected = f"ERROR: --caesar-keep: {file} is no folder; name one, or what is to be one"
    assert refusals(run(f"--caesar-keep={file.name}")) == [expected]


LINGERS = """\
#!/bin/sh
printf '{"protocol": "caesar.report/v1", "status": "success", "summary": "Early."}' \\
    > "$CAESAR_REPORT_PATH"
sleep %s
echo late > late.txt
"""
ASKS = """
def test_it(caesar_orchestrator):
    run = caesar_orchestrator.delegate("Report early.", isolation="inplace")
    print("killed after report:", run.outcome.killed_after_report)
    print("late:", (run.workspace / "late.txt").exists())
    assert run.report.summary == "Early."
"""


@pytest.mark.parametrize(
    ("linger", "seconds", "told"),
    [
        ("200ms", "60", ["*killed after report: True", "late: False"]),
        ("50s", "0.5", ["*killed after report: False", "late: True"]),
    ],
)
def test_how_long_an_agent_may_go_on_after_its_report_is_said_in_the_ini_file(
    pytester: pytest.Pytester, run: Runs, linger: str, seconds: str, told: list[str]
) -> None:
    pytester.makeini(f"[pytest]\ncaesar_linger = {linger}\n")
    pytester.makepyfile(ASKS)
    agent_script(pytester, text=LINGERS % seconds)
    result = run("--caesar-agent=./agent.sh", "-s")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(told)


def test_a_linger_that_is_no_duration_is_named(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makeini("[pytest]\ncaesar_linger = a while\n")
    pytester.makepyfile(TEST)
    (told,) = refusals(run())
    assert told.startswith("ERROR: caesar_linger in tox.ini: ")
    assert "'a while'" in told
    assert "90s" in told
