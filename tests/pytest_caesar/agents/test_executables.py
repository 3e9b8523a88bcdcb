from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from pytest_caesar.agents.errors import (
    BadInterpreter,
    CommandError,
    CommandNotFoundError,
    NotExecutableError,
)
from pytest_caesar.agents.executables import look_up
from tests.pytest_caesar.agents.conftest import Write


def find(program: str, project: Path, path: str = "") -> Path:
    return look_up(program, agent="a", project=project, path=path)


def test_a_program_without_a_slash_is_looked_for_on_the_childs_path_first(
    write: Write, tmp_path: Path
) -> None:
    on_path = write("bin/tool", "#!/bin/sh\n", mode=0o755)
    write("tool", "#!/bin/sh\n", mode=0o755)
    assert find("tool", tmp_path, str(tmp_path / "bin")) == on_path


def test_then_in_the_projects_root(write: Write, tmp_path: Path) -> None:
    script = write("my-agent.sh", "#!/bin/sh\n", mode=0o755)
    assert find("my-agent.sh", tmp_path, "/nowhere") == script


def test_one_with_a_slash_comes_from_the_projects_root_and_never_from_path(
    write: Write, tmp_path: Path
) -> None:
    script = write("tools/agent", "#!/bin/sh\n", mode=0o755)
    assert find("./tools/agent", tmp_path, str(tmp_path / "tools")) == script
    with pytest.raises(CommandNotFoundError):
        find("./agent", tmp_path, str(tmp_path / "tools"))


def test_relative_entries_of_path_are_passed_over(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("work/tool", "#!/bin/sh\n", mode=0o755)
    monkeypatch.chdir(tmp_path / "work")
    with pytest.raises(CommandNotFoundError):
        find("tool", tmp_path, os.pathsep.join(["", ".", "work"]))


def test_a_file_on_path_that_may_not_be_executed_is_passed_over_for_one_that_may(
    write: Write, tmp_path: Path
) -> None:
    write("a/tool", "#!/bin/sh\n")
    second = write("b/tool", "#!/bin/sh\n", mode=0o755)
    assert find("tool", tmp_path, f"{tmp_path}/a:{tmp_path}/b") == second


def test_and_is_named_when_there_is_no_other(write: Write, tmp_path: Path) -> None:
    tool = write("a/tool", "#!/bin/sh\n")
    with pytest.raises(NotExecutableError) as caught:
        find("tool", tmp_path, f"{tmp_path}/a")
    assert str(caught.value) == (
        f'cannot run agent "a": "{tool}" is not executable: run chmod +x {tool}'
    )


def test_a_missing_command_names_itself_and_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(CommandNotFoundError) as caught:
        find("no-such-tool", tmp_path, "/bin")
    assert str(caught.value) == (
        f'cannot run agent "a": the command "no-such-tool" was not found on PATH nor in {tmp_path}; '
        "install it, or write its path"
    )


def test_a_missing_path_says_from_where_it_was_meant(tmp_path: Path) -> None:
    with pytest.raises(CommandNotFoundError) as caught:
        find("sub/tool", tmp_path)
    assert caught.value.problem == (
        f'there is no "{tmp_path}/sub/tool" (looked for from the project\'s root)'
    )


def test_a_folder_is_not_a_program(tmp_path: Path) -> None:
    with pytest.raises(NotExecutableError, match="is a folder"):
        find(str(tmp_path), tmp_path)


def test_a_fifo_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotExecutableError, match="not a regular file"):
        find("./pipe", tmp_path)


def test_a_link_to_nothing_says_so(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("gone")
    with pytest.raises(CommandNotFoundError, match="link to nothing"):
        find("./link", tmp_path)


@pytest.mark.parametrize(
    ("head", "says"),
    [
        ("#!/no/such/shell\n", 'names the interpreter "/no/such/shell", which does not exist'),
        ("#!/bin/sh\r\necho\r\n", "ends with a carriage return"),
        ("echo hello\n", r"without a first line such as #!/bin/sh.*exec format error"),
        ("", r"is empty.*exec format error"),
        ("#!\n", 'names the interpreter ""'),
    ],
)
def test_a_script_that_the_system_cannot_execute_names_the_cause(
    write: Write, tmp_path: Path, head: str, says: str
) -> None:
    write("agent", head, mode=0o755)
    with pytest.raises(BadInterpreter, match=says):
        find("./agent", tmp_path)


def test_a_script_with_an_argument_to_its_interpreter_is_fine(write: Write, tmp_path: Path) -> None:
    script = write("agent", "#! /usr/bin/env -S sh -e\n", mode=0o755)
    assert find("./agent", tmp_path) == script


def test_a_binary_program_is_fine(tmp_path: Path) -> None:
    assert find("/bin/ls", tmp_path) == Path("/bin/ls")


@pytest.mark.parametrize("program", ["", "  ", "a\0b"])
def test_a_blank_program_is_refused(tmp_path: Path, program: str) -> None:
    with pytest.raises(CommandNotFoundError):
        find(program, tmp_path)


def test_errors_survive_pickling(tmp_path: Path) -> None:
    with pytest.raises(CommandError) as caught:
        find("no-such-tool", tmp_path)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is CommandNotFoundError
    assert str(again) == str(caught.value)
    assert again.program == "no-such-tool"
