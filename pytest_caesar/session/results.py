"""What a session hands on at its end: JSON, the page, the summary of a pipeline."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from caesar_agent.errors import CaesarError
from caesar_agent.task_directory import write_atomic
from pytest_caesar.reporting.results.document import FORMAT, as_bytes, parse
from pytest_caesar.reporting.results.recorder import SessionRecorder
from pytest_caesar.reporting.results.selection import selection_of
from pytest_caesar.settings.shard import declared_shard

if TYPE_CHECKING:
    import pytest

    from pytest_caesar.agents.target import AgentTarget
    from pytest_caesar.settings.settings import Settings

ANNOTATES: Final = "pytest_github_actions_annotate_failures"
"""Name under which the plugin for annotations is registered."""

GIT_TIMEOUT: Final = 10.0
"""Seconds that git may take to name the commit."""


class SessionResults:
    """Makes the document of a session, and whatever is asked for of it.

    Args:
        config: of this process.
        settings: where to write what.
        agents: the agents under test.
        agent_of: gives the id of the agent that a test runs with, or None.
    """

    def __init__(
        self,
        config: pytest.Config,
        settings: Settings,
        agents: Sequence[AgentTarget],
        agent_of: Callable[[pytest.Item], str | None],
    ) -> None:
        self._config = config
        self._settings = settings
        self._agents = agents
        self._shard = declared_shard(config)
        self.recorder = SessionRecorder(config, agent_of=agent_of, repeated=settings.repeated)
        self._baseline = self._read_baseline()

    def _read_baseline(self) -> dict[str, Any] | None:
        """Read what the page is compared with; before any test, so that a mistake costs none."""
        path = self._settings.baseline
        if path is None or hasattr(self._config, "workerinput"):
            return None
        import pytest  # noqa: PLC0415 - for its error alone

        try:
            return parse(path.read_text("utf-8", "replace"), name=str(path))
        except (OSError, CaesarError) as error:
            raise pytest.UsageError(f"--caesar-baseline: {error}") from error

    def document(
        self,
        records: Iterable[Mapping[str, Any]],
        *,
        exit_status: int,
        parts: Mapping[str, Callable[[], Any]],
    ) -> dict[str, Any]:
        """Return everything about the session, as JSON types alone.

        Args:
            records: of runs, with the execution that each belongs to.
            exit_status: pytest's.
            parts: what others add to the document: names, and what gives their values.
        """
        recorder = self.recorder
        order = {nodeid: place for place, nodeid in enumerate(recorder.collected)}
        tests = dict(
            sorted(
                recorder.tests.items(),
                key=lambda item: (order.get(item[0][0], len(order)), item[0]),
            )
        )
        ordered = sorted(
            records,
            key=lambda item: (
                order.get(item["test"], len(order)),
                item["test"],
                item["execution"],
                item["number"],
            ),
        )
        return {
            "format": FORMAT,
            "agents": [agent.id for agent in self._agents],
            "exit_status": exit_status,
            "session": self._session(),
            "tests": list(tests.values()),
            "runs": [
                {
                    **item,
                    "test_outcome": tests.get((item["test"], item["execution"]), {}).get("outcome"),
                }
                for item in ordered
            ],
            **{name: value for name, make in parts.items() if (value := make()) is not None},
        }

    def _session(self) -> dict[str, Any]:
        shard = self._shard
        recorder = self.recorder
        commit, uncommitted = commit_of(self._config.rootpath)
        return {
            "started_at": recorder.started_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "duration": round(recorder.duration, 3),
            "versions": {
                "Python": platform.python_version(),
                **{name: importlib.metadata.version(name) for name in ("pytest", "pytest-caesar")},
            },
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
            "commit": commit,
            "uncommitted": uncommitted,
            "agents": [{"id": agent.id, "origin": str(agent.origin)} for agent in self._agents],
            "options": list(self._settings.repeated),
            "shard": None if shard is None else {"index": shard.index, "count": shard.count},
            "selection": selection_of(self._config),
            "collected": recorder.collected,
            "deselected": recorder.deselected,
        }

    def write(self, document: Mapping[str, Any]) -> list[str]:
        """Write what was asked for; return what could not be written, one sentence each."""
        settings = self._settings
        problems = []
        if settings.json_path is not None:
            problems += _written("--caesar-json", settings.json_path, as_bytes(document))
        if settings.html_path is not None:
            from pytest_caesar.reporting.page.page import render  # noqa: PLC0415 - needs jinja2

            comparison = None
            if self._baseline is not None:
                from pytest_caesar.reporting.results.comparison import (  # noqa: PLC0415 - seldom
                    compare,
                )
                from pytest_caesar.trials.comparison import chances  # noqa: PLC0415 - seldom

                comparison = compare(self._baseline, document, significance=chances)
            page = render(document, comparison=comparison)
            problems += _written(
                "--caesar-html", settings.html_path, page.encode("utf-8", "backslashreplace")
            )
        return problems

    def tell_github(self, document: Mapping[str, Any]) -> list[str]:
        """Add to the summary of the step; return the annotations, a line each."""
        from pytest_caesar.reporting.ci.annotations import annotation_lines  # noqa: PLC0415 - in CI
        from pytest_caesar.reporting.ci.step_summary import (  # noqa: PLC0415 - in CI
            MAX_BYTES,
            step_summary,
        )

        path = os.environ.get("GITHUB_STEP_SUMMARY")
        if path:
            # A summary that cannot be written is no reason to fail.
            with contextlib.suppress(OSError), Path(path).open("ab") as file:
                room = MAX_BYTES - file.tell()
                file.write(step_summary(document, room=room).encode())
        if self._config.pluginmanager.hasplugin(ANNOTATES):
            return []  # it makes one for each failure
        root = Path(os.environ.get("GITHUB_WORKSPACE") or self._config.rootpath)
        rootdir = self._config.rootpath
        inside = rootdir.is_relative_to(root)
        return annotation_lines(document, folder=str(rootdir.relative_to(root)) if inside else "")


def _written(option: str, path: Path, data: bytes) -> list[str]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, data, mode=0o644)
    except OSError as error:
        return [f"{option}={path} was not written: {error}"]
    return []


def commit_of(folder: Path) -> tuple[str | None, bool | None]:
    """Return the commit that is checked out and whether there is uncommitted work; None outside git."""
    from pytest_caesar.workspace.git import Git, GitError  # noqa: PLC0415 - heavy

    git = Git(folder)
    try:
        head = git.run("rev-parse", "--verify", "--quiet", "HEAD", accept=(0, 1, 128))
        if head.exit_code or not head.lines:
            return None, None
        state = git.run(
            "status", "--porcelain", "--untracked-files=no", accept=(0, 128), timeout=GIT_TIMEOUT
        )
    except GitError:
        return None, None
    return head.lines[0], bool(state.stdout.strip()) if state.exit_code == 0 else None
