"""``--caesar-subprocess`` and the ini key ``caesar_subprocess``."""

from __future__ import annotations

import pytest

from tests.pytest_caesar.plugin.running import Runs

AGENT = """
import os

def main(agent):
    print("printed by the agent")
    return agent.success(str(os.getpid()))
"""
SOURCE = """
import os

from pytest_caesar.agents.target import FunctionAgent

def test_it(caesar_orchestrator, request):
    root = str(request.config.rootpath)
    made = FunctionAgent(id="made", target="my_agent:main", import_root=root)
    places = set()
    for agent in (None, "my_agent:main", made):
        run = caesar_orchestrator.delegate("Work", agent=agent)
        assert run.succeeded
        assert run.raw_log == b"printed by the agent\\n"
        places.add("here" if run.report.summary == str(os.getpid()) else "elsewhere")
    [place] = places
    print(place)
"""


@pytest.mark.parametrize(
    ("options", "ini", "where"),
    [
        ((), "", "here"),
        (("--caesar-subprocess",), "", "elsewhere"),
        ((), "caesar_subprocess = true", "elsewhere"),
    ],
)
def test_a_function_runs_here_or_in_a_process_of_its_own(
    pytester: pytest.Pytester,
    run: Runs,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    ini: str,
    where: str,
) -> None:
    pytester.makeini(f"[pytest]\n{ini}\n")
    pytester.makepyfile(my_agent=AGENT)
    pytester.makepyfile(test_it=SOURCE)
    result = run("-rP", "--caesar-agent=my_agent:main", *options)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([where])
