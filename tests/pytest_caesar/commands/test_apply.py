"""``pytest-caesar apply`` and ``diff``, as a user calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_caesar.cli import main
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.commands.test_clean import delegated

NESTED = "git init -q tool; echo x > tool/x; git init -q deep/lib; echo y > deep/lib/y\n"
REPORT = (
    '{"protocol": "caesar.report/v1", "status": "success", "summary": "ok", "changes": ['
    '{"path": "tool/x", "action": "created"}, {"path": "deep/lib/y", "action": "modified"},'
    '{"path": "deep/z", "action": "created"}]}'
)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "one\n"})
    return repository


def test_what_no_patch_can_carry_is_named_and_is_not_nothing(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    run = delegated(repository, f"#!/bin/sh\n{NESTED}")
    capsys.readouterr()
    assert main(["apply", str(run.task_dir)]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == (
        "pytest-caesar: nothing was applied: no patch can carry deep/lib/, tool/; it is in "
        f"{run.workspace}, if that is still there\n"
    )
    assert main(["diff", str(run.task_dir)]) == 0
    assert "no patch can carry deep/lib/, tool/" in capsys.readouterr().err


def test_the_rest_is_applied_and_what_is_left_out_is_named(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    run = delegated(repository, f"#!/bin/sh\n{NESTED}echo two >> a.txt\n")
    capsys.readouterr()
    assert main(["apply", str(run.task_dir)]) == 0
    told = capsys.readouterr()
    assert repository.read("a.txt") == "one\ntwo\n"
    assert told.out.startswith("Applied the changes")
    assert "not all of it was applied: no patch can carry deep/lib/, tool/" in told.err


def test_declared_files_in_a_repository_of_its_own_are_unverified_and_declare_its_folder(
    repository: Repository,
) -> None:
    run = delegated(repository, f"#!/bin/sh\n{NESTED}echo '{REPORT}' > $CAESAR_REPORT_PATH\n")
    reconciliation = run.reconciliation
    assert [entry.path for entry in reconciliation.unverified] == ["deep/lib/y", "tool/x"]
    assert [entry.path for entry in reconciliation.matched] == ["deep/lib/", "tool/"]
    assert [entry.path for entry in reconciliation.phantom] == ["deep/z"]
    assert reconciliation.undeclared == ()
    assert (
        "the report declares tool/x created; it lies in tool/, a repository of its own, so nobody "
        "can verify it"
    ) in [item.message for item in run.diagnostics]
