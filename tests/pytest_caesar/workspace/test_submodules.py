from __future__ import annotations

from pathlib import Path

import pytest

from pytest_caesar.workspace.isolation import prepare
from pytest_caesar.workspace.observation import observe
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.workspace.support import actions, ask, codes, observed, script, sh

POPULATE = "git -c protocol.file.allow=always submodule --quiet update --init"


@pytest.fixture
def project(repo: Repository, tmp_path: Path) -> Repository:
    library = Repository.create(tmp_path / "library")
    library.commit({"l.c": "l\n", ".gitignore": "*.o\n"})
    sh(
        f"git -c protocol.file.allow=always submodule --quiet add '{library.path}' dep;"
        "git commit -qm dep; git config diff.ignoreSubmodules all;"
        "git config submodule.dep.ignore all",
        repo.path,
    )
    return repo


def test_a_submodule_that_nobody_touched_is_no_change(project: Repository) -> None:
    assert observed(project, script("true")).changes == ()
    assert observed(project, script(POPULATE), task_id="t_2").changes == ()
    assert observed(project, script("true"), task_id="t_3", isolation="inplace").changes == ()


def test_edits_inside_a_submodule_are_told_and_not_in_the_patch(project: Repository) -> None:
    observation = observed(
        project,
        script(f"{POPULATE}; echo e >> dep/l.c; echo n > dep/new.c; echo o > dep/x.o; echo > b"),
    )
    (change,) = [change for change in observation.changes if change.path == "dep"]
    assert (change.action, change.kind) == ("modified", "submodule")
    assert change.note.startswith("submodule l.c modified, new.c created [")
    assert observation.unpatched == ("dep",)
    assert b"dep" not in bytes(observation.patch)
    assert "not-in-patch" in codes(observation)


def test_a_submodule_that_moved_is_told(project: Repository) -> None:
    observation = observed(
        project,
        script(f"{POPULATE}; cd dep; echo e > l.c; git commit -qam moved; cd ..; git add dep"),
    )
    assert actions(observation) == {"dep": "modified"}
    assert observation.changes[0].note.startswith("submodule moved to ")


def test_files_in_the_empty_folder_of_a_submodule_are_told(project: Repository) -> None:
    observation = observed(project, script("echo hidden > dep/evil.py"))
    assert actions(observation) == {"dep": "modified"}
    assert "not checked out, but holds evil.py" in observation.changes[0].note


def test_a_submodule_that_is_removed_or_replaced_is_told(project: Repository) -> None:
    assert actions(observed(project, script("rm -r dep"))) == {"dep": "deleted"}
    replaced = observed(project, script("rm -r dep; echo f > dep"), task_id="t_2")
    assert actions(replaced) == {"dep": "modified"}
    assert replaced.changes[0].note == "submodule -> file"


def test_the_users_own_edits_in_a_submodule_are_not_the_agents(project: Repository) -> None:
    (project.path / "dep" / "l.c").write_text("of the user\n")
    assert observed(project, script("true"), isolation="inplace").changes == ()
    more = observed(project, script("echo a >> dep/l.c"), isolation="inplace", task_id="t_2")
    assert actions(more) == {"dep": "modified"}


def test_no_program_that_a_submodule_configures_is_run(project: Repository, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "evil").write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    (tmp_path / "evil").chmod(0o755)
    workspace = prepare(ask(project))
    sh(
        f"{POPULATE}; cd dep; echo e > l.c; echo '* filter=x' > .gitattributes;"
        f"git config core.fsmonitor '{tmp_path}/evil'; git config filter.x.clean '{tmp_path}/evil'",
        workspace.path,
    )
    ran.unlink(missing_ok=True)
    assert actions(observe(workspace)) == {"dep": "modified"}
    assert not ran.exists()
