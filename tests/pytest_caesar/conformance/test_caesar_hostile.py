"""--caesar-hostile: the user's own tests, in hostile surroundings."""

from __future__ import annotations

import sys

import pytest

from tests.pytest_caesar.plugin.running import Runs, agent_script

LOOKS = f"""#!{sys.executable} -IS
import json, os, resource
try:
    os.fstat(0)
    stdin = "open"
except OSError:
    stdin = "closed"
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
told = [os.environ["GIT_DIR"], os.environ["LC_ALL"], str(limit), stdin, os.getcwd()]
report = {{"protocol": "caesar.report/v1", "status": "success", "summary": "|".join(told)}}
open(os.environ["CAESAR_REPORT_PATH"], "w", encoding="utf-8").write(json.dumps(report))
"""

TEST = """
def test_it(caesar_repo, caesar_orchestrator):
    caesar_repo.commit({"a.txt": ""})
    run = caesar_orchestrator.delegate("Look")
    assert run.succeeded
    git_dir, locale, files, stdin, place = run.summary.split("|")
    assert git_dir.endswith("elsewhere/.git")
    assert (locale, files, stdin) == ("C", "64", "closed")
    assert "caesar ü 'q\\" $x/a repo" in place
    again = caesar_orchestrator.delegate("Look again")
    assert again.succeeded
"""


def test_every_delegation_is_surrounded(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester, text=LOOKS)
    pytester.makepyfile(TEST)

    result = run("--caesar-agent=./agent.sh", "--caesar-hostile")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["caesar hostile: GIT_* pointing elsewhere, *"])


def test_fake_agents_and_functions_are_surrounded_too(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        my_agent="""
        import os

        def main(agent):
            return agent.success(os.environ["LC_ALL"] + os.environ["GIT_DIR"][-4:])
        """
    )
    pytester.makepyfile(
        """
        import json

        def test_it(caesar_repo, caesar_orchestrator, caesar_fake_agent):
            fake = caesar_fake_agent
            run = caesar_orchestrator.delegate("x")
            assert run.summary == "C.git"
            agent = fake(fake.environment("env.json"), fake.report())
            run = caesar_orchestrator.delegate("x", agent=agent)
            assert json.loads((run.workspace / "env.json").read_text())["LC_ALL"] == "C"
        """
    )

    result = run("--caesar-agent=my_agent:main", "--caesar-hostile")

    result.assert_outcomes(passed=1)


def test_without_the_option_nothing_is_hostile(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)
    pytester.makepyfile(
        """
        def test_it(caesar_repo, caesar_orchestrator):
            assert "ü" not in str(caesar_repo.path)
            assert caesar_orchestrator.delegate("x").succeeded
        """
    )

    result = run("--caesar-agent=./agent.sh")

    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("caesar hostile:*")
