"""``--caesar-user-config``."""

from __future__ import annotations

import pytest

from tests.pytest_caesar.plugin.running import Runs, agent_script


def test_ones_own_agents_count_only_when_asked_for(
    pytester: pytest.Pytester, run: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = pytester.mkdir("home")
    agent_script(pytester)
    folder = home / ".config" / "caesar"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(
        f'[[agent]]\nid = "mine"\nbin = "{pytester.path}/agent.sh"\nargs = ["{{{{prompt}}}}"]\n'
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    pytester.makepyfile(
        "def test_it(caesar_orchestrator):\n"
        "    assert caesar_orchestrator.delegate('Say').task.agent == 'mine'\n"
    )
    assert run("--caesar-agent=mine").ret == pytest.ExitCode.USAGE_ERROR
    run("--caesar-agent=mine", "--caesar-user-config").assert_outcomes(passed=1)
