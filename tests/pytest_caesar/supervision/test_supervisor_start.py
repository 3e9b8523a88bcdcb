from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from pytest_caesar.supervision.start_errors import (
    AgentStartError,
    CommandIsDirectoryError,
    CommandNotFoundError,
    CommandTooLongError,
    ExecFormatError,
    InterpreterNotFoundError,
    InvalidArgumentError,
    NotExecutableError,
    SystemRefusedError,
    WorkspaceMissingError,
    explain,
)
from tests.pytest_caesar.supervision.supervising import Bench


def script(path: Path, text: str, *, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def refused(bench: Bench, *argv: str, **options: object) -> AgentStartError:
    with pytest.raises(AgentStartError) as caught:
        bench.run(*argv, **options)  # type: ignore[arg-type]
    return caught.value


def test_a_name_on_no_path_is_not_found(bench: Bench) -> None:
    error = refused(bench, "no-such-agent", env={"PATH": "/nowhere"})
    assert type(error) is CommandNotFoundError
    assert str(error) == (
        "the agent could not be started: agent command not found: 'no-such-agent' "
        "is in no folder of its PATH (/nowhere). "
        "Install it, add its folder to PATH, or give its path."
    )


def test_a_path_that_does_not_exist_is_not_found(bench: Bench, tmp_path: Path) -> None:
    error = refused(bench, str(tmp_path / "nothing"))
    assert type(error) is CommandNotFoundError
    assert error.program == str(tmp_path / "nothing")


def test_a_name_is_looked_for_on_the_path_of_the_agent(bench: Bench, tmp_path: Path) -> None:
    script(tmp_path / "bin" / "only-here", "#!/bin/sh\necho found\n")
    assert bench.run("only-here", env={"PATH": str(tmp_path / "bin")}).status == "succeeded"
    assert bench.output == b"found\n"


def test_a_relative_path_starts_at_the_working_folder(bench: Bench) -> None:
    script(bench.workspace / "bin" / "agent", "#!/bin/sh\necho here\n")
    assert bench.run("./bin/agent").status == "succeeded"
    assert bench.output == b"here\n"


def test_a_file_that_may_not_be_executed(bench: Bench, tmp_path: Path) -> None:
    path = script(tmp_path / "agent.sh", "#!/bin/sh\n", mode=0o644)
    error = refused(bench, str(path))
    assert type(error) is NotExecutableError
    assert f"'{path}' is not executable" in str(error)
    assert f"chmod +x {path}" in str(error)


def test_a_name_on_the_path_that_may_not_be_executed(bench: Bench, tmp_path: Path) -> None:
    script(tmp_path / "agent", "#!/bin/sh\n", mode=0o644)
    assert type(refused(bench, "agent", env={"PATH": str(tmp_path)})) is NotExecutableError


def test_a_folder_is_no_program(bench: Bench, tmp_path: Path) -> None:
    error = refused(bench, str(tmp_path))
    assert type(error) is CommandIsDirectoryError
    assert "is a directory" in str(error)


def test_a_working_folder_that_does_not_exist(bench: Bench, tmp_path: Path) -> None:
    error = refused(bench, "/bin/true", cwd=tmp_path / "gone")
    assert type(error) is WorkspaceMissingError
    assert f"its workspace does not exist: '{tmp_path / 'gone'}'" in str(error)


def test_a_working_folder_that_is_a_file(bench: Bench) -> None:
    path = script(bench.workspace / "file", "")
    error = refused(bench, "/bin/true", cwd=path)
    assert type(error) is WorkspaceMissingError
    assert "is not a folder" in str(error)


def test_a_script_without_a_first_line(bench: Bench, tmp_path: Path) -> None:
    error = refused(bench, str(script(tmp_path / "agent", "echo hello\n")))
    assert type(error) is ExecFormatError
    assert "exec format error" in str(error)


def test_an_empty_file_that_is_executable(bench: Bench, tmp_path: Path) -> None:
    assert type(refused(bench, str(script(tmp_path / "agent", "")))) is ExecFormatError


def test_a_first_line_that_names_nothing(bench: Bench, tmp_path: Path) -> None:
    error = refused(bench, str(script(tmp_path / "agent", "#!/no/such/python -u\n")))
    assert type(error) is InterpreterNotFoundError
    assert "the interpreter '/no/such/python' in the first line of" in str(error)


def test_a_first_line_with_a_windows_line_end(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "agent"
    path.write_bytes(b"#!/bin/sh\r\nexit 0\r\n")
    path.chmod(0o755)
    error = refused(bench, str(path))
    assert type(error) is InterpreterNotFoundError
    assert "Windows line ends" in str(error)


def test_an_argument_that_is_too_long(bench: Bench) -> None:
    error = refused(bench, "/bin/echo", "short", "x" * 300_000)
    assert type(error) is CommandTooLongError
    assert "argument 2 alone has 300000" in str(error)
    assert "stdin" in str(error)


@pytest.mark.parametrize(
    ("argv", "what"),
    [
        ((), "the command is empty"),
        (("",), "the command is empty"),
        (("/bin/echo", "a\0b"), "argument 1 holds a NUL byte"),
        (("/bin/ec\0ho",), "the program's name holds a NUL byte"),
        (("/bin/echo", "\ud83d"), "argument 1 holds a character that cannot be encoded"),
    ],
)
def test_what_no_program_can_be_given(bench: Bench, argv: tuple[str, ...], what: str) -> None:
    error = refused(bench, *argv)
    assert type(error) is InvalidArgumentError
    assert what in str(error)


@pytest.mark.parametrize("name", ["", "A=B", "A\0"])
def test_variables_that_no_program_can_be_given(bench: Bench, name: str) -> None:
    assert type(refused(bench, "/bin/true", env={name: "x"})) is InvalidArgumentError


def test_a_link_in_a_circle_is_not_found(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert type(refused(bench, str(tmp_path / "loop"))) is CommandNotFoundError


def test_a_fifo_as_a_program_hangs_nobody(bench: Bench, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "agent", 0o755)
    assert isinstance(refused(bench, str(tmp_path / "agent")), AgentStartError)


def test_a_system_without_processes_to_give_is_told_apart(tmp_path: Path) -> None:
    import errno

    error = explain("execute", errno.EAGAIN, program="x", argv=("x",), cwd=tmp_path, size=1)
    assert type(error) is SystemRefusedError
    assert "ulimit -u" in str(error)


def test_errors_survive_pickling(bench: Bench) -> None:
    error = refused(bench, "no-such-agent")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.program) == (type(error), str(error), error.program)
