from __future__ import annotations

import contextlib
import importlib
import json
from pathlib import Path

import pytest

from tests.pytest_caesar.plugin.running import Runs

with contextlib.suppress(ModuleNotFoundError):
    # Once, out here: what dask brings on Python below 3.12 takes the place of the standard
    # library's finder of packages, and an inner run that imported it would take it away again.
    importlib.import_module("importlib_metadata")


def test_trials_are_sent_to_the_executor_that_a_function_returns(
    run: Runs, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        pools="""
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        def pool():
            return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
        """,
        test_x="""
        def test_rate(caesar_repo, caesar_trials, caesar_answers, caesar_fake_agent, tmp_path):
            caesar_repo.commit({"a.txt": "a"})
            caesar_answers.on("Go on?", "yes")
            fake = caesar_fake_agent
            agent = fake(fake.ask("Go on?"), fake.write("b.txt", "b"), fake.report())

            trials = caesar_trials("Try", n=3, agent=agent)

            assert [one.task.id for one in trials] == ["t_0001", "t_0002", "t_0003"]
            assert all(one.task_dir.is_relative_to(tmp_path) for one in trials)
            assert trials.rate(lambda run: run.changes[0].path == "b.txt") == 1
        """,
    )
    result = run("--caesar-executor=pools:pool", "--caesar-json=runs.json")
    result.assert_outcomes(passed=1)
    assert len(json.loads(Path("runs.json").read_text())["runs"]) == 3


@pytest.mark.parametrize(
    ("executor", "problem"),
    [
        ("no_such:pool", "*--caesar-executor=no_such:pool: No module named 'no_such'*"),
        ("builtins:list", "*the executor is *: expected a concurrent.futures.Executor*"),
        ("dask:nowhere", "*no dask scheduler answers at nowhere*"),
    ],
)
def test_an_executor_that_is_none_is_told(
    run: Runs, pytester: pytest.Pytester, executor: str, problem: str
) -> None:
    pytester.makepyfile(
        """
        def test_rate(caesar_repo, caesar_trials):
            caesar_repo.commit({"a.txt": "a"})
            caesar_trials("Try", n=2, agent="codex")
        """
    )
    result = run(f"--caesar-executor={executor}")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([problem])
