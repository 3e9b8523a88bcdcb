"""Bounds on memory and processes, in real control groups where some can be made."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_caesar.agents.config import Config, merge_config
from pytest_caesar.agents.errors import ConfigError
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.runs.run import Run
from pytest_caesar.supervision import control_groups
from pytest_caesar.supervision.control_groups import Limits, group
from pytest_caesar.workspace.repository import Repository


@pytest.fixture
def needs_groups() -> None:
    with group(Limits(memory=1 << 28, processes=50)) as made:
        if made.problems:
            pytest.skip(made.problems[0])


def delegate(repository: Repository, policy: str, script: str) -> Run:
    config = repository.path / ".caesar" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text(f"[policy]\n{policy}\n")
    program = repository.path.parent / "agent.sh"
    program.write_text(f"#!/bin/bash\n{script}\n")
    program.chmod(0o755)
    return Orchestrator(program, project=repository.path).delegate("Do it", timeout=60)


@pytest.mark.usefixtures("needs_groups")
def test_what_uses_more_memory_than_it_may_is_killed_and_told(repository: Repository) -> None:
    run = delegate(
        repository,
        'max_memory = "64MiB"',
        "head -c 300000000 /dev/zero | tail -c 300000000 > /dev/null; echo ended ${PIPESTATUS[*]}",
    )
    assert run.raw_log.strip().endswith(b"ended 141 137")
    assert "limit-reached" in run.codes
    assert "limits-not-applied" not in run.codes


@pytest.mark.usefixtures("needs_groups")
def test_who_starts_more_than_it_may_is_refused_and_told(repository: Repository) -> None:
    run = delegate(
        repository,
        "max_processes = 20",
        "exec sh -c 'for n in $(seq 60); do sleep 30 & done'",  # bash itself would try for 15 s
    )
    assert "limit-reached" in run.codes
    assert 10 < len(run.outcome.leaked) <= 20 + control_groups.WATCHING


@pytest.mark.usefixtures("needs_groups")
def test_nothing_is_left_of_a_group() -> None:
    with group(Limits(memory=1 << 28, processes=50)) as made:
        folders = [path.parent for path in made.entrances()]
        assert all(folder.is_dir() for folder in folders)
        assert made.applied == ["max_memory", "max_processes"]
    assert not any(folder.exists() for folder in folders)


def test_where_no_group_can_be_made_the_run_says_so(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_groups, "_parents", lambda _: iter(()))
    run = delegate(repository, 'max_memory = "1GiB"', "echo works")
    [found] = [one for one in run.diagnostics if one.code == "limits-not-applied"]
    assert "max_memory does not hold" in found.message
    assert "systemd-run --user" in found.message
    assert run.raw_log == b"works\n"


def test_the_group_above_is_taken_where_ours_lends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "app" / "scope").mkdir(parents=True)
    (tmp_path / "app" / "cgroup.subtree_control").write_text("memory pids\n")
    told = {
        Path("/proc/self/cgroup"): ["0::/app/scope"],
        Path("/proc/self/mountinfo"): [f"41 31 0:38 / {tmp_path} rw - cgroup2 cgroup2 rw"],
    }
    lines = control_groups._lines
    monkeypatch.setattr(control_groups, "_lines", lambda path: told.get(path) or lines(path))
    assert list(control_groups._parents("memory")) == [tmp_path / "app"]
    assert list(control_groups._parents("cpu")) == []


@pytest.mark.parametrize(
    ("text", "size"),
    [("67108864", 1 << 26), ('"64MiB"', 1 << 26), ('"2 GiB"', 2 << 30), ('"65536KiB"', 1 << 26)],
)
def test_a_size_is_bytes_or_says_its_unit(text: str, size: int) -> None:
    config = merge_config(Config(), f"[policy]\nmax_memory = {text}\n", file="c")
    assert config.policy.max_memory == size


@pytest.mark.parametrize("text", ['"64 M"', "5", "true", '"-1GiB"', "1.5"])
def test_another_size_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="at least 16MiB, such as 512MiB or 2GiB"):
        merge_config(Config(), f"[policy]\nmax_memory = {text}\n", file="c")
