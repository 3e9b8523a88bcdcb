"""The failures a user is most likely to see: each names the cause, and none shows our insides."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.pytest_caesar.plugin.running import QUIET, Runs

START = """
import pytest

@pytest.fixture
def delegate(caesar_repo, caesar_orchestrator, caesar_fake_agent):
    caesar_repo.commit({"a.txt": "a\\n"})

    def delegates(*steps, objective="Work", **wishes):
        return caesar_orchestrator.delegate(
            objective, agent=caesar_fake_agent(*steps), **wishes
        )

    return delegates
"""

FIXTURES = (
    "delegate",
    "caesar_answers",
    "caesar_orchestrator",
    "caesar_recover",
    "caesar_snapshot",
    "tmp_path",
)


def written(body: str, name: str = "test_it") -> str:
    """Return a test with the fixtures that its body names; markers stand in front."""
    lines = body.splitlines()
    marks = [line for line in lines if line.startswith("@")]
    used = [fixture for fixture in FIXTURES if re.search(rf"\b{fixture}\b", body)]
    rest = ["fake = caesar_fake_agent", *(line for line in lines if line not in marks)]
    head = f"def {name}({', '.join(['caesar_fake_agent', *used])}):"
    return "\n".join([*marks, head, *(f"    {line}" for line in rest)])


def failure(pytester: pytest.Pytester, run: Runs, body: str, *options: str) -> list[str]:
    """Return the lines of the explanation of a failing test; what varies is left out."""
    pytester.makepyfile(test_it=START + written(body))
    result = run(*options)
    result.assert_outcomes(failed=1)
    return explanation(result.outlines, "test_it")


def explanation(lines: list[str], name: str) -> list[str]:
    """Return what is told of one failing test: its ``E`` lines, or the text that stands alone."""
    heading = re.compile(rf"_+ {name} _+")
    start = next(number for number, line in enumerate(lines) if heading.fullmatch(line))
    rest = lines[start + 1 :]
    text = list(itertools.takewhile(lambda line: line[:3] not in {"---", "===", "___"}, rest))
    explained = [line[2:].strip() for line in text if line.startswith("E ")]
    return told(explained or [line.strip() for line in text if line])


def told(lines: list[str]) -> list[str]:
    """Replace folders, durations and process ids."""
    for pattern, replacement in (
        (r"^AssertionError: ", ""),
        (r"/\S+?/repo/\.caesar", "FOLDER"),
        (r"/\S+?/python\S* -I -S.*?…", "python …"),
        (r"/\S+?/agent\.sh", "FOLDER/agent.sh"),
        (r"file in /\S+?,", "file in FOLDER,"),
        (r"\b\d+ ms\b", "N ms"),
        (r"\bpid \d+|process \d+", "pid N"),
        (r"\btest_\d+\b", "test_it"),
    ):
        lines = [re.sub(pattern, replacement, line) for line in lines]
    return lines


def test_a_refusal_is_shown_where_the_test_asked_for_it(
    pytester: pytest.Pytester, run: Runs
) -> None:
    lines = failure(pytester, run, "delegate(fake.report(), objective=' ')")
    assert lines == [
        (
            "pytest_caesar.DelegationError: the objective is empty: "
            "say in a sentence what the agent is to do"
        )
    ]


def test_the_insides_are_shown_when_asked_for(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(START + written("delegate(fake.report(), objective=' ')"))
    run().stdout.no_fnmatch_line("*orchestrator/request.py*")
    run("--full-trace").stdout.fnmatch_lines(["*orchestrator/request.py*DelegationError"])


def test_an_error_of_the_test_itself_keeps_its_frames(pytester: pytest.Pytester, run: Runs) -> None:
    lines = failure(pytester, run, "delegate(fake.report(), objective=undefined)")
    assert lines == ["NameError: name 'undefined' is not defined"]


PAGE = ROOT / "docs" / "failures.md"
EXAMPLE = re.compile(
    r"^### ([^\n]+)\n\n```python\n(.*?)^```\n\n```\n(.*?)^```", re.MULTILINE | re.DOTALL
)
FAILURES = {
    title: (body, told.splitlines())
    for title, body, told in EXAMPLE.findall(PAGE.read_text("utf-8"))
}


NUMBERED = {title: f"test_{number}" for number, title in enumerate(FAILURES)}


def printed(folder: Path) -> list[str]:
    """Run all examples of the page in a folder, and return what is printed."""
    tests = [written(FAILURES[title][0], name) for title, name in NUMBERED.items()]
    (folder / "test_it.py").write_text("\n\n".join([START, *tests]), "utf-8")
    command = [sys.executable, "-m", "pytest", *QUIET, f"--basetemp={folder / 'tmp'}"]
    hidden = {"CI", "COLUMNS", "FORCE_COLOR", "NO_COLOR", "PYTEST_ADDOPTS"}
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in hidden and not name.startswith("PYTEST_XDIST")
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert f"{len(FAILURES)} failed" in done.stdout, done.stdout + done.stderr
    return done.stdout.splitlines()


def regenerate() -> None:
    """Write the page anew from what is printed; ``python -m`` with this module's name does it."""
    with tempfile.TemporaryDirectory() as folder:
        lines = printed(Path(folder))

    def again(found: re.Match[str]) -> str:
        told_now = "\n".join(explanation(lines, NUMBERED[found[1]]))
        return f"### {found[1]}\n\n```python\n{found[2]}```\n\n```\n{told_now}\n```"

    PAGE.write_text(EXAMPLE.sub(again, PAGE.read_text("utf-8")), "utf-8")


def test_each_is_told_as_the_page_says(tmp_path: Path) -> None:
    lines = printed(tmp_path)
    found = {title: explanation(lines, name) for title, name in NUMBERED.items()}
    assert found == {title: text for title, (_, text) in FAILURES.items()}


def test_two_reports_differ_by_field(pytester: pytest.Pytester, run: Runs) -> None:
    body = "one, two = delegate(fake.report()), delegate(fake.report('failed'))\n"
    lines = failure(pytester, run, body + "assert one.report == two.report")
    assert lines == [
        "the first report == the second one, which differ (assert one.report == two.report):",
        "status: 'success' is not 'failed'",
        "task_id: 't_0001' is not 't_0002'",
    ]


def test_two_runs_differ_by_what_they_did(pytester: pytest.Pytester, run: Runs) -> None:
    body = "one, two = delegate(fake.write('b'), fake.report()), delegate(fake.report())\n"
    lines = failure(pytester, run, body + "assert one == two")
    assert lines == [
        "run t_0001 == run t_0002, which differ (assert one == two):",
        "only in t_0001: b: created, as declared",
    ]


def test_two_patches_differ_by_line(pytester: pytest.Pytester, run: Runs) -> None:
    body = "run = delegate(fake.write('a.txt', 'b\\n'), fake.report())\n"
    lines = failure(pytester, run, body + "assert run.patch == run.patch.replace(b'+b', b'+c')")
    assert "- +b" in lines
    assert "+ +c" in lines


def test_a_test_that_fails_in_its_set_up_shows_its_runs_too(
    pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def ran(caesar_orchestrator, caesar_fake_agent):
            fake = caesar_fake_agent
            return caesar_orchestrator.delegate("Work", agent=fake(fake.exit(9))).status.nothing

        def test_it(ran):
            pass
        """
    )
    result = run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*caesar run t_0001: failed (source: synthesized)*"])


def test_a_fixture_that_cannot_be_made_is_one_frame(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def released(caesar_repo):
            caesar_repo.git("checkout", "released")

        def test_it(released):
            pass

        def test_agent(caesar_agent_under_test):
            pass
        """
    )
    result = run()
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        [
            "E *GitError: git checkout released ended with exit code 1: error: pathspec *",
            "this test needs an agent under test: give one with --caesar-agent=*",
        ]
    )
    result.stdout.no_fnmatch_line("*workspace/git.py*")
    result.stdout.no_fnmatch_line("*pytest_caesar/plugin.py*")
    assert "_pytest/fixtures.py" not in result.stdout.str()


if __name__ == "__main__":
    regenerate()
