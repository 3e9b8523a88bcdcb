"""``--caesar-record``, the ini key ``caesar_record`` and ``record=`` of the marker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pytest_caesar.plugin.running import Runs, agent_script

COUNTING = """\
#!/bin/sh
echo started >> "{log}"
echo "x = 1" > new.py
printf '{{"protocol": "caesar.report/v1", "status": "success", "summary": "Did %s.",
 "changes": [{{"path": "new.py", "action": "created"}}]}}' "$CAESAR_AGENT" > "$CAESAR_REPORT_PATH"
"""

CODEX = """\
#!/bin/sh
echo started >> "{log}"
echo '{{"type":"thread.started","thread_id":"t1"}}'
echo '{{"type":"turn.started"}}'
echo '{{"type":"item.completed","item":{{"id":"i1","type":"agent_message","text":"Hello."}}}}'
echo '{{"type":"turn.completed","usage":{{"input_tokens":1,"output_tokens":1}}}}'
"""
"""What a known CLI prints."""

SOURCE = """
import pytest

def test_it(caesar_repo, caesar_orchestrator, caesar_snapshot):
    caesar_repo.commit({"a.txt": "a"})
    run = caesar_orchestrator.delegate(f"Work in {caesar_repo.path}")
    assert (run.workspace / "new.py").read_text() == "x = 1\\n"
    assert run == caesar_snapshot
"""


class Project:
    """A project whose agent counts how often it was started."""

    def __init__(self, pytester: pytest.Pytester, run: Runs) -> None:
        self.path = pytester.path
        self.run = run
        self._pytester = pytester
        self.agent("agent.sh")
        self.tests(SOURCE)

    def agent(self, name: str) -> None:
        """Put an agent."""
        agent_script(self._pytester, name, COUNTING.format(log=self.path / "starts.log"))

    def tests(self, source: str) -> None:
        """Put the module of tests."""
        self._pytester.makepyfile(test_it=source)

    @property
    def starts(self) -> int:
        """How often an agent was started."""
        log = self.path / "starts.log"
        return len(log.read_text().splitlines()) if log.exists() else 0

    def recordings(self) -> list[str]:
        """Return the recordings there are."""
        found = self.path.glob("__caesar__/**/recording.json")
        return sorted(str(path.parent.relative_to(self.path / "__caesar__")) for path in found)

    def files(self) -> dict[Path, bytes]:
        """Return every file of every recording."""
        return {
            path: path.read_bytes()
            for path in self.path.glob("__caesar__/**/*.recording/**/*")
            if path.is_file()
        }


@pytest.fixture(autouse=True)
def _at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture
def project(pytester: pytest.Pytester, run: Runs) -> Project:
    """Return a project to test."""
    return Project(pytester, run)


AGENT = "--caesar-agent=./agent.sh"


def test_once_records_and_then_plays_back(project: Project) -> None:
    project.run(AGENT, "--caesar-record=once", "--snapshot-update").assert_outcomes(passed=1)
    assert (project.starts, project.recordings()) == (1, ["test_it/test_it.recording/1"])
    files = project.files()
    for mode in ("once", "none"):
        project.run(AGENT, f"--caesar-record={mode}").assert_outcomes(passed=1)
    assert project.starts == 1
    assert project.files() == files


def test_what_was_played_back_is_told(project: Project) -> None:
    project.run(AGENT, "--caesar-record=once", "--snapshot-update").assert_outcomes(passed=1)
    project.tests(f"{SOURCE}    assert not run.succeeded\n")
    result = project.run(AGENT, "--caesar-record=once", "--caesar-json=runs.json")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "played back: *test_it.recording/1",
            "1 run: 1 success (1 file); 1 played back from recordings",
        ]
    )
    (run,) = json.loads((project.path / "runs.json").read_text())["runs"]
    assert run["recording"].endswith("test_it.recording/1")


def test_without_the_option_agents_work_and_nothing_is_written(project: Project) -> None:
    project.run(AGENT, "--snapshot-update").assert_outcomes(passed=1)
    assert (project.starts, project.recordings()) == (1, [])
    project.run(AGENT, "--caesar-record=once").assert_outcomes(passed=1)
    files = project.files()
    project.run(AGENT).assert_outcomes(passed=1)
    assert project.starts == 3
    assert project.files() == files


def test_all_records_anew(project: Project) -> None:
    project.run(AGENT, "--caesar-record=all", "--snapshot-update").assert_outcomes(passed=1)
    project.run(AGENT, "--caesar-record=all").assert_outcomes(passed=1)
    assert (project.starts, project.recordings()) == (2, ["test_it/test_it.recording/1"])


def test_none_fails_where_nothing_is_recorded(project: Project) -> None:
    result = project.run(AGENT, "--caesar-record=none")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E*RecordingMissingError: */test_it.recording: nothing is recorded; record with *=once"]
    )
    assert project.starts == 0


def test_a_task_that_has_changed_fails_and_names_the_field(project: Project) -> None:
    project.run(AGENT, "--caesar-record=once", "--snapshot-update").assert_outcomes(passed=1)
    project.tests(SOURCE.replace("Work in", "Hurry in"))
    result = project.run(AGENT, "--caesar-record=once")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*RecordingMismatchError: *the task is not the one that was recorded: objective",
            "E*objective, as recorded: 'Work in {{caesar:*}}'",
            "E*objective, now: *'Hurry in {{caesar:*}}'",
            "E*Where that is meant, record anew with --caesar-record=all.",
        ]
    )


@pytest.mark.parametrize("ci", ["true", "1"])
def test_in_ci_nothing_is_written(
    project: Project, monkeypatch: pytest.MonkeyPatch, ci: str
) -> None:
    monkeypatch.setenv("CI", ci)
    result = project.run(AGENT, "--caesar-record=once")
    result.stdout.fnmatch_lines(["*nothing is recorded*"])
    result = project.run(AGENT, "--caesar-record=all")
    result.stdout.fnmatch_lines(["*in CI (the variable CI is set) nothing is recorded*"])
    result.stdout.no_fnmatch_line("*choice.py*")
    assert (project.starts, project.recordings()) == (0, [])


def test_a_recording_is_played_back_in_ci(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.run(AGENT, "--caesar-record=once", "--snapshot-update").assert_outcomes(passed=1)
    monkeypatch.setenv("CI", "true")
    project.run(AGENT, "--caesar-record=once").assert_outcomes(passed=1)
    assert project.starts == 1


def test_an_agent_that_is_not_installed_is_played_back(project: Project) -> None:
    project.agent("tool")
    (project.path / ".caesar").mkdir()
    config = project.path / ".caesar" / "config.toml"
    config.write_text(
        f'[[agent]]\nid = "cli"\nbin = "{project.path}/tool"\nargs = ["{{{{prompt}}}}"]\n'
    )
    arguments = ("--caesar-agent=cli", "--caesar-record=once")
    project.run(*arguments, "--snapshot-update").assert_outcomes(passed=1)
    (project.path / "tool").unlink()
    project.run(*arguments).assert_outcomes(passed=1)


def test_a_known_cli_that_is_not_installed_is_played_back(
    project: Project, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = pytester.mkdir("bin")
    agent_script(pytester, "bin/codex", CODEX.format(log=project.path / "starts.log"))
    project.tests(
        """
        def test_it(caesar_repo, caesar_orchestrator, caesar_snapshot):
            caesar_repo.commit({"a.txt": "a"})
            run = caesar_orchestrator.delegate("Say hello")
            assert "Hello." in run.summary
            assert run == caesar_snapshot
            assert [event.type for event in run.events] == caesar_snapshot
        """
    )
    arguments = ("--caesar-agent=codex", "--caesar-record=once")
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        project.run(*arguments, "--snapshot-update").assert_outcomes(passed=1)
    (folder / "codex").unlink()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    project.run(*arguments).assert_outcomes(passed=1)
    assert project.starts == 1


def test_a_function_is_recorded_as_well(project: Project, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        my_agent="""
        from pathlib import Path

        def main(agent):
            with open(Path(__file__).with_name("starts.log"), "a") as log:
                log.write("started\\n")
            Path("new.py").write_text("x = 1\\n")
            agent.file_changed("new.py", "created")
            print("some words")
            return agent.success("Done.")
        """
    )
    arguments = ("--caesar-agent=my_agent:main", "--caesar-record=once")
    project.run(*arguments, "--snapshot-update").assert_outcomes(passed=1)
    project.run(*arguments).assert_outcomes(passed=1)
    assert project.starts == 1


def test_the_command_line_goes_before_the_marker_and_the_marker_before_the_ini_file(
    project: Project, pytester: pytest.Pytester
) -> None:
    pytester.makeini("[pytest]\ncaesar_record = once\n")
    project.run(AGENT, "--snapshot-update").assert_outcomes(passed=1)
    project.run(AGENT).assert_outcomes(passed=1)
    assert project.starts == 1
    project.tests(SOURCE.replace("def test", "@pytest.mark.caesar(record='off')\ndef test"))
    project.run(AGENT).assert_outcomes(passed=1)
    assert project.starts == 2
    project.run(AGENT, "--caesar-record=none").assert_outcomes(passed=1)
    assert project.starts == 2


def test_a_mode_that_there_is_not_is_refused(project: Project, pytester: pytest.Pytester) -> None:
    assert project.run(AGENT, "--caesar-record=new_episodes").ret == pytest.ExitCode.USAGE_ERROR
    project.tests(SOURCE.replace("def test", "@pytest.mark.caesar(record='new')\ndef test"))
    project.run(AGENT).stdout.fnmatch_lines(
        ["*the marker caesar has record='new', expected one of none, once, all, off"]
    )
    pytester.makeini("[pytest]\ncaesar_record = new\n")
    for arguments in ((AGENT,), ()):
        project.run(*arguments).stderr.fnmatch_lines(
            ["ERROR: caesar_record = new: expected one of none, once, all, off"]
        )


MANY = """
import pytest

@pytest.mark.parametrize("word", ["../é", "x" * 300])
def test_each(caesar_orchestrator, word):
    for number in range(2):
        assert caesar_orchestrator.delegate(f"{number}: {word}").succeeded

class TestClass:
    def test_it(self, caesar_orchestrator):
        assert caesar_orchestrator.delegate("Work").succeeded
"""


def test_parameters_classes_and_agents_have_recordings_of_their_own(
    project: Project, run: Runs, run_both: Runs
) -> None:
    project.tests(MANY)
    project.agent("other.sh")
    arguments = (AGENT, "--caesar-agent=./other.sh", "--caesar-record=once")
    run_both(*arguments).assert_outcomes(passed=6)
    assert project.starts == 10
    found = project.recordings()
    assert len(found) == 10
    assert all(name.startswith("test_it/") for name in found)
    assert "test_it/TestClass.test_it[other].recording/1" in found
    run(*arguments).assert_outcomes(passed=6)
    assert project.starts == 10


def test_a_rerun_plays_back_what_the_first_execution_recorded(project: Project) -> None:
    project.tests(
        SOURCE.replace("    assert run ==", "    assert run.recording is not None  # flaky\n#")
    )
    pytest.importorskip("pytest_rerunfailures")
    result = project.run(AGENT, "--caesar-record=once", "--reruns=1")
    result.assert_outcomes(passed=1)
    assert project.starts == 1


def test_a_delegation_that_cannot_be_recorded_fails_its_test(project: Project) -> None:
    project.tests(
        """
        def test_it(caesar_orchestrator, caesar_fake_agent):
            fake = caesar_fake_agent
            run = caesar_orchestrator.delegate("Work", agent=fake(fake.report_as("directory")))
            assert run.status == "failed"
        """
    )
    result = project.run("--caesar-record=once")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*t_0001 was not recorded: report.json is a folder*"])
