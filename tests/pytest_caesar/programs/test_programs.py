"""Programs on an agent's PATH, faked and watched, with agents of several kinds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_caesar.agents.target import FunctionAgent, ProcessAgent
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.programs.call import ProgramCall, ProgramReply
from pytest_caesar.programs.errors import ProgramError
from pytest_caesar.programs.programs import Programs
from pytest_caesar.runs.run import Run
from pytest_caesar.workspace.repository import Repository

REPORT = json.dumps({"protocol": "caesar.report/v1", "status": "success", "summary": "Done."})

Work = Callable[[str], Run]


@pytest.fixture
def programs() -> Iterator[Programs]:
    made = Programs()
    yield made
    made.close()


@pytest.fixture
def orchestrator(tmp_path: Path, programs: Programs) -> Orchestrator:
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "one\n"})
    settings = OrchestratorSettings(
        programs=programs, path_first=(str(tmp_path / "bin"), str(Path(sys.executable).parent))
    )
    return Orchestrator(project=repository.path, settings=settings)


@pytest.fixture
def work(tmp_path: Path, orchestrator: Orchestrator) -> Work:
    """Delegate to an agent made of shell lines."""

    def delegate(lines: str) -> Run:
        script = tmp_path / "agent.sh"
        script.write_text(f"#!/bin/bash\n{lines}\necho '{REPORT}' > \"$CAESAR_REPORT_PATH\"\n")
        script.chmod(0o755)
        agent = ProcessAgent(id="agent", origin="path", argv=(str(script),))
        return orchestrator.delegate("Work.", agent=agent)

    return delegate


def real(tmp_path: Path, name: str, text: str) -> None:
    """Put a real program on the agent's PATH."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def test_a_fake_replies_and_notes_its_calls(programs: Programs, work: Work) -> None:
    gh = programs.fake("gh", stdout="https://example.invalid/pr/7\n", stderr="ok\n", exit_code=3)

    run = work(
        'cd "$HOME"\ngh pr create --title "a b" > out 2> err; echo "$? $(cat out) $(cat err)"'
    )
    assert run.raw_log == b"3 https://example.invalid/pr/7 ok\n"
    (call,) = gh.calls
    assert call.argv == ("gh", "pr", "create", "--title", "a b")
    assert (call.exit_code, call.task_id, call.stdin) == (3, run.task.id, None)
    assert call.folder.name.startswith("caesar-home-")
    (command,) = run.commands
    assert (command.command, command.witnesses) == ("gh pr create --title 'a b'", ("program",))
    assert programs.judge() is None


def test_a_watched_program_runs_as_it_would(programs: Programs, work: Work, tmp_path: Path) -> None:
    real(tmp_path, "tool", '#!/bin/sh\nread line\necho "got $line: $*"\necho problem >&2\nexit 7\n')
    (tool,) = programs.watch("tool")

    run = work("echo input | tool a 'b c'\necho \"code $?\"\necho late > late.txt")
    assert run.raw_log == b"got input: a b c\nproblem\ncode 7\n"
    (call,) = tool.calls
    assert (call.argv, call.exit_code) == (("tool", "a", "b c"), 7)
    (command,) = run.ran("tool")
    assert command.changed_after == ("late.txt",)
    assert command.duration is not None


def test_what_was_written_before_and_by_a_program_is_not_after_it(
    programs: Programs, work: Work, tmp_path: Path
) -> None:
    real(tmp_path, "tool", "#!/bin/sh\necho x > by-tool.txt\n")
    programs.watch("tool")

    for _ in range(5):
        run = work("echo x > before.txt\ntool")
        assert run.ran("tool", ok=True)[-1].changed_after == ()


@pytest.mark.parametrize("login", ["bash -lc", "sh -lc"])
def test_a_login_shell_finds_the_launchers_too(programs: Programs, work: Work, login: str) -> None:
    programs.fake("gh", stdout="faked")

    assert work(f"{login} 'gh a'").raw_log == b"faked"


def test_death_by_a_signal_is_kept(programs: Programs, work: Work, tmp_path: Path) -> None:
    real(tmp_path, "tool", "#!/bin/sh\nkill -9 $$\n")
    (tool,) = programs.watch("tool")

    run = work(f"{sys.executable} -c 'import subprocess; print(subprocess.call([\"tool\"]))'")
    assert run.raw_log == b"-9\n"
    assert tool.calls[0].exit_code == 137


@pytest.mark.parametrize("number", ["TERM", "INT", "HUP", "USR1"])
def test_a_signal_to_the_launcher_reaches_the_program(
    programs: Programs, work: Work, tmp_path: Path, number: str
) -> None:
    real(
        tmp_path,
        "tool",
        f"#!{sys.executable}\nimport os, signal, sys\n"
        f"signal.signal(signal.SIG{number}, lambda *_: os._exit(42))\n"
        "print('ready', flush=True)\nwhile True: signal.pause()\n",
    )
    (tool,) = programs.watch("tool")

    sender = (
        "import signal, subprocess\n"
        "child = subprocess.Popen(['tool'], stdout=subprocess.PIPE)\n"
        "child.stdout.readline()\n"
        f"child.send_signal(signal.SIG{number})\n"
        "print(child.wait())\n"
    )
    (tmp_path / "sender.py").write_text(sender)
    run = work(f"{sys.executable} {tmp_path / 'sender.py'}")
    assert run.raw_log == b"42\n"
    assert tool.calls[0].exit_code == 42


def test_a_launcher_leaves_group_and_pipes_to_the_program(
    programs: Programs, work: Work, tmp_path: Path
) -> None:
    real(
        tmp_path,
        "tool",
        f"#!{sys.executable}\nimport os, signal\n"
        "print(os.getpgrp() == os.getpgid(os.getppid()),"
        " signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN or 'default')\n",
    )
    programs.watch("tool")

    # Python ignores SIGPIPE itself, so that what it says of it is always the same.
    assert work("tool").raw_log == b"True True\n"


def test_a_program_that_is_not_there_is_told_so(programs: Programs, work: Work) -> None:
    (tool,) = programs.watch("no-such-tool")

    assert work('no-such-tool; echo "$?"').raw_log == b"no-such-tool: command not found\n127\n"
    assert tool.calls[0].exit_code == 127


def test_a_script_replies_and_reads_what_comes_in(programs: Programs, work: Work) -> None:
    def reply(call: ProgramCall) -> ProgramReply | str | int | None:
        if call.argv[1:] == ("fail",):
            return 9
        assert call.stdin is not None
        return f"read {call.stdin.decode()}"

    programs.fake("tool", script=reply, stdin=True)
    run = work('echo hello | tool; tool fail < /dev/null; echo "$?"')
    assert run.raw_log == b"read hello\n9\n"


def test_the_fake_with_the_most_words_counts(programs: Programs, work: Work) -> None:
    every = programs.fake("gh", stdout="any ")
    create = programs.fake("gh", "pr", "create", stdout="created ")

    assert work("gh pr create; gh issue list").raw_log == b"created any "
    assert [call.argv[1] for call in every.calls] == ["issue"]
    assert [call.argv[1] for call in create.calls] == ["pr"]


def test_a_test_is_told_of_fakes_without_calls_and_calls_without_replies(
    programs: Programs, work: Work
) -> None:
    def broken(call: ProgramCall) -> str:
        raise LookupError(call.argv[1])

    programs.fake("gh", "pr", stdout="x")
    programs.fake("npm", script=broken)
    run = work("gh issue list; npm ci; true")
    assert b"gh: the test has no reply to this call\n" in run.raw_log
    assert programs.judge() == (
        "no reply fits the call of gh issue list\n"
        "the script of npm failed on npm ci: LookupError: ci\n"
        "gh pr was faked and never called"
    )


def called_from_a_function(_: object) -> None:
    subprocess.run(["gh", "from", "function"], check=True)
    Path(os.environ["CAESAR_REPORT_PATH"]).write_text(REPORT)


def test_functions_in_this_process_find_them_too(
    programs: Programs, orchestrator: Orchestrator
) -> None:
    gh = programs.fake("gh", stdout="x")
    agent = FunctionAgent(id="f", origin="function", target=f"{__name__}:called_from_a_function")

    run = orchestrator.delegate("Work.", agent=agent)
    assert [call.argv for call in gh.calls] == [("gh", "from", "function")]
    assert run.raw_log.startswith(b"x")


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node: apt install nodejs")
def test_a_node_agent_with_an_open_pipe_does_not_hang(
    programs: Programs, work: Work, tmp_path: Path
) -> None:
    programs.fake("gh", stdout="from node")
    text = "require('child_process').execFile('gh', ['a'], (error, out) => console.log(error, out))"
    (tmp_path / "agent.js").write_text(text)

    assert work(f"node {tmp_path / 'agent.js'}").raw_log == b"null from node\n"


def test_a_process_of_no_agent_is_refused(programs: Programs, work: Work) -> None:
    programs.fake("gh", stdout="x")
    work("gh ours")
    (folder,) = programs.folders
    said = subprocess.run(
        ["setsid", "-f", sys.executable, "-c",
         "import subprocess, sys; subprocess.run([sys.argv[1], 'stranger'])", f"{folder}/gh"],
        capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip
    assert "cannot be reached" in said.stderr
    assert [call.argv for call in programs.calls] == [("gh", "ours")]


def test_a_stream_that_shows_a_program_of_which_no_call_came_is_a_finding(
    programs: Programs, work: Work, tmp_path: Path
) -> None:
    real(tmp_path, "tool", "#!/bin/sh\n")
    programs.watch("tool", "other")
    state = {"status": "completed", "input": {"command": "tool -q"}, "metadata": {"exit": 0}}
    part = {"type": "tool", "tool": "bash", "callID": "c", "state": state}
    line = json.dumps({"type": "tool_use", "sessionID": "s", "part": part})

    run = work(f"{tmp_path}/bin/tool -q; echo '{line}'")
    (finding,) = [item for item in run.diagnostics if item.code == "program-not-watched"]
    assert finding.message.startswith("the stream shows a call of tool, and none came")
    watched = work(f"tool -q; echo '{line}'")
    assert "program-not-watched" not in watched.codes
    assert watched.commands[0].witnesses == ("stream", "program")


@pytest.mark.parametrize("name", ["", "a/b", "..", "a b", "-x"])
def test_what_is_no_name_of_a_program_is_refused(programs: Programs, name: str) -> None:
    with pytest.raises(ProgramError, match="expected the name of a program"):
        programs.watch(name)


def test_a_program_is_faked_or_watched_and_not_both(programs: Programs) -> None:
    programs.fake("a")
    programs.watch("b")
    with pytest.raises(ProgramError, match="it is faked"):
        programs.watch("a")
    with pytest.raises(ProgramError, match="it is watched"):
        programs.fake("b")
    with pytest.raises(ProgramError, match="give a reply or a script"):
        programs.fake("c", stdout="x", script=lambda _: "y")
    with pytest.raises(ProgramError, match="expected a number from 0 to 255"):
        programs.fake("c", exit_code=256)
