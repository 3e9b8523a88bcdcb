"""``--caesar-pass-env`` and the ini key ``caesar_pass_env``."""

from __future__ import annotations

import pytest

from tests.pytest_caesar.plugin.running import Runs

SOURCE = """
import json

def test_it(caesar_repo, caesar_orchestrator, caesar_fake_agent):
    fake = caesar_fake_agent
    caesar_repo.commit({"a.txt": "a"})
    run = caesar_orchestrator.delegate("Work", agent=fake(fake.environment(), fake.report()))
    seen = json.loads((run.workspace / "environment.json").read_text())
    print("ONE=" + seen.get("ONE", "-"), "TWO=" + seen.get("TWO", "-"))
    print("ADDOPTS=" + seen.get("PYTEST_ADDOPTS", "-"), "DEPTH=" + seen["CAESAR_DEPTH"])
"""


@pytest.mark.parametrize(
    ("options", "ini", "seen"),
    [
        ((), "", "ONE=- TWO=-"),
        (("--caesar-pass-env=ONE",), "", "ONE=1 TWO=-"),
        (("--caesar-pass-env=ONE",), "caesar_pass_env = TWO", "ONE=1 TWO=2"),
    ],
)
def test_agents_see_what_is_let_through_and_nothing_else(
    pytester: pytest.Pytester,
    run: Runs,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    ini: str,
    seen: str,
) -> None:
    monkeypatch.setenv("ONE", "1")
    monkeypatch.setenv("TWO", "2")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-v")
    pytester.makeini(f"[pytest]\n{ini}\n")
    pytester.makepyfile(SOURCE)
    run("-rP", *options).stdout.fnmatch_lines([seen, "ADDOPTS=- DEPTH=1"])


def test_a_value_is_refused(pytester: pytest.Pytester, run: Runs) -> None:
    result = run("--caesar-pass-env=ONE=1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: --caesar-pass-env 'ONE=1': expected the name of a variable, without its value (a * may stand at its end)"
        ]
    )
