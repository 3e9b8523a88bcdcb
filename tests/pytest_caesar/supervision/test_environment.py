from __future__ import annotations

import os
import pickle
import subprocess
from pathlib import Path

import pytest

from pytest_caesar.supervision.environment import (
    PASSED,
    REFUSED,
    SET,
    TASK_VARIABLES,
    EnvironmentRefusedError,
    build_environment,
    check_names,
    make_home,
)

TASK = {name: f"this task's {name}" for name in TASK_VARIABLES}
AROUND = {
    "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C", "TZ": "UTC", "TMPDIR": "/tmp",
    "LD_LIBRARY_PATH": "/l",
    "USER": "u", "LOGNAME": "u", "SHELL": "/bin/sh", "HOME": "/home/u", "TERM": "xterm",
}  # fmt: skip
NEVER = {
    "CLAUDECODE": "1", "FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "GIT_DIR": "/x",
    "GIT_INDEX_FILE": "/y", "GIT_CONFIG_PARAMETERS": "'a=b'", "PYTEST_CURRENT_TEST": "t",
    "PYTEST_ADDOPTS": "-x", "PYTEST_XDIST_WORKER": "gw3", "COV_CORE_SOURCE": ".",
    "CAESAR_REPORT_PATH": "/outer", "CAESAR_DEPTH": "1", "CAESAR_FOO": "1",
}  # fmt: skip
NOT_UNASKED = {
    "VIRTUAL_ENV": "/v", "PYTHONPATH": "/p", "SSH_AUTH_SOCK": "/s", "AWS_SECRET_ACCESS_KEY": "k",
    "OPENAI_API_KEY": "k", "HTTPS_PROXY": "http://u:p@h", "COVERAGE_PROCESS_START": "/c",
}  # fmt: skip


def build(
    parent: dict[str, str], *pass_env: str, path_first: tuple[str, ...] = ()
) -> dict[str, str]:
    return build_environment(
        parent=parent, task_environment=TASK, home=Path("/h"), pass_env=pass_env,
        path_first=path_first,
    )  # fmt: skip


def test_an_agent_gets_the_list_and_its_task_and_nothing_else() -> None:
    assert build({**AROUND, **NEVER, **NOT_UNASKED}) == {
        **AROUND, **TASK, "HOME": "/h", "TERM": "dumb", "NO_COLOR": "1",
    }  # fmt: skip


def test_names_let_more_through() -> None:
    built = build({**AROUND, **NOT_UNASKED}, *NOT_UNASKED)
    assert built == {**AROUND, **TASK, **NOT_UNASKED, "HOME": "/h", "TERM": "dumb", "NO_COLOR": "1"}


def test_home_and_terminal_can_be_passed_on_too() -> None:
    built = build(AROUND, "HOME", "TERM")
    assert (built["HOME"], built["TERM"]) == ("/home/u", "xterm")


def test_a_name_that_is_not_set_is_no_mistake() -> None:
    assert "NOT_SET" not in build(AROUND, "NOT_SET")


def test_a_star_lets_all_through_that_begin_so() -> None:
    built = build({**AROUND, "OPENAI_A": "1", "OPENAI_B": "2", "OPEN": "3"}, "OPENAI_*")
    assert (built["OPENAI_A"], built["OPENAI_B"], "OPEN" in built) == ("1", "2", False)


def test_a_star_does_not_let_through_what_never_passes() -> None:
    built = build({**AROUND, **NEVER, "GO": "1"}, "G*", "C*", "P*", "F*")
    assert built["GO"] == "1"
    assert {name: built.get(name) for name in NEVER} == {name: TASK.get(name) for name in NEVER}


@pytest.mark.parametrize("name", sorted(NEVER))
def test_what_never_passes_cannot_be_asked_for(name: str) -> None:
    with pytest.raises(EnvironmentRefusedError) as caught:
        build(AROUND, name)
    assert caught.value.name == name
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_refusal_says_why_and_what_to_do() -> None:
    with pytest.raises(EnvironmentRefusedError) as caught:
        check_names(["GIT_DIR"])
    assert str(caught.value) == (
        "the environment variable 'GIT_DIR' is not passed on to agents: "
        "it may point git at another repository; "
        "remove it from --caesar-pass-env (or caesar_pass_env)"
    )


@pytest.mark.parametrize("name", ["", "A=B", "A B", "*", "A*B", "1A", "ä"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(EnvironmentRefusedError, match="is no name of a variable"):
        check_names([name])


def test_every_variable_that_redirects_git_is_refused() -> None:
    listed = subprocess.run(
        ["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert len(listed) > 10
    assert build({**AROUND, **dict.fromkeys(listed, "x")}) == build(AROUND)


def test_folders_lead_the_path_once() -> None:
    built = build(AROUND, path_first=("/venv/bin", "/usr/bin", "/venv/bin"))
    assert built["PATH"] == "/venv/bin:/usr/bin:/bin"


def test_without_a_path_the_system_has_a_default() -> None:
    assert build({})["PATH"] == os.defpath


def test_the_task_has_exactly_the_variables_of_the_contract() -> None:
    with pytest.raises(ValueError, match="differs in CAESAR_AGENT, CAESAR_FOO"):
        build_environment(
            parent={}, home=Path("/h"),
            task_environment={**{n: "" for n in TASK if n != "CAESAR_AGENT"}, "CAESAR_FOO": "1"},
        )  # fmt: skip


def test_the_home_gives_git_an_identity_and_is_private(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    assert home.stat().st_mode & 0o777 == 0o700
    repository = tmp_path / "repository"
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    for arguments in (
        ["init", "-q", str(repository)],
        ["-C", str(repository), "commit", "-q", "--allow-empty", "-m", "x"],
    ):
        subprocess.run(["git", *arguments], env=environment, check=True)
    shown = subprocess.run(
        ["git", "-C", str(repository), "log", "--format=%an <%ae>"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert shown.stdout == "Caesar Agent <agent@caesar.invalid>\n"


def test_the_documentation_lists_every_variable() -> None:
    text = (Path(__file__).parents[3] / "docs" / "supervision.md").read_text(encoding="utf-8")
    for name in (*TASK_VARIABLES, *PASSED, *SET, *REFUSED):
        assert f"`{name}`" in text
