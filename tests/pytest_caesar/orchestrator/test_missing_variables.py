"""Last words of an agent that name a variable which was kept from it."""

from __future__ import annotations

import pytest

from pytest_caesar.orchestrator.missing_variables import missing_variables
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.workspace.repository import Repository

AROUND = dict.fromkeys(
    ("A_KEY", "B_KEY", "C_KEY", "D_KEY", "GIVEN_KEY", "GIT_DIR", "SHORT"), "v4lue-of-it"
)


@pytest.mark.parametrize(
    ("log", "names"),
    [
        (b"fatal: set A_KEY or B_KEY", ["A_KEY", "B_KEY"]),
        (b"A_KEY, again A_KEY", ["A_KEY"]),
        (b"${A_KEY}: parameter not set", ["A_KEY"]),
        (b"KeyError: 'A_KEY'", ["A_KEY"]),
        (b"\xff\x1b[31mA_KEY\x1b[0m", ["A_KEY"]),
        (b"A_KEY B_KEY C_KEY D_KEY", ["A_KEY", "B_KEY", "C_KEY"]),
        (b"NOT_SET_KEY", []),
        (b"GIVEN_KEY", []),
        (b"GIT_DIR", []),
        (b"SHORT", []),
        (b"MY_A_KEY A_KEYS xA_KEY a_key", []),
        (b"A_KEY" + b"." * 3000, []),
        (b"", []),
    ],
)
def test_what_is_set_here_and_was_not_given_is_named(log: bytes, names: list[str]) -> None:
    found = missing_variables(log, b"", around=AROUND, given={"GIVEN_KEY": "x"})
    assert [item.message for item in found] == [
        f"{name} is set here and was not passed on: --caesar-pass-env={name}" for name in names
    ]


def test_both_logs_are_read() -> None:
    found = missing_variables(b"A_KEY", b"A_KEY B_KEY", around=AROUND, given={})
    assert [item.message.split()[0] for item in found] == ["A_KEY", "B_KEY"]


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo 'needs SOME_SERVICE_KEY' >&2; exit 2", True),
        ("echo 'needs SOME_SERVICE_KEY'", True),
        (
            """echo 'no SOME_SERVICE_KEY'; echo '{"status": "success"}' >"$CAESAR_REPORT_PATH" """,
            False,
        ),
    ],
)
def test_it_is_told_where_the_agent_failed(
    caesar_repo: Repository,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    told: bool,  # noqa: FBT001 - of a table
) -> None:
    monkeypatch.setenv("SOME_SERVICE_KEY", "v4lue-of-it")
    program = caesar_repo.path.parent / "agent.sh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    run = Orchestrator(program, project=caesar_repo.path).delegate("Work")
    found = [item for item in run.diagnostics if item.code == "variable-not-passed"]
    assert bool(found) is told
    assert "v4lue" not in repr(run.diagnostics)
