"""What is remarked on where a known CLI starts: no channel, no login, a channel that failed."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from caesar_agent.console import one_line
from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.agents.catalogue import CATALOGUE
from pytest_caesar.agents.credentials import kept_logins
from pytest_caesar.agents.launch import Launch
from pytest_caesar.agents.target import ProcessAgent
from pytest_caesar.supervision.logs import MAX_STDERR_BYTES, tail_of
from pytest_caesar.supervision.outcome import Outcome


def start_findings(
    agent: ProcessAgent,
    launch: Launch,
    *,
    environment: Mapping[str, str],
    own_home: bool,
    channel: bool,
    scripted: bool,
    enclosed: bool = False,
) -> list[Diagnostic]:
    """Return what can be said before a known CLI starts.

    Args:
        agent: who is started.
        launch: how.
        environment: of the child process.
        own_home: ``HOME`` is the temporary one.
        channel: the task has a return channel.
        scripted: a scripted model answers it.
        enclosed: it runs in a sandbox of ours, as root.
    """
    if agent.cli is None:
        return []
    cli = CATALOGUE[agent.cli]
    found = []
    if enclosed and cli.enclosed_args:
        found.append(
            Diagnostic(
                code="own-sandbox-off",
                message=f"the sandbox of {agent.id} itself was switched off: as root, it does "
                "not work inside the one around it, which closes more",
            )
        )
    if channel and cli.injection == "home" and (launch.unreached or not own_home):
        why = launch.unreached or "it reads its settings in HOME, which is yours"
        found.append(
            Diagnostic(
                code="channel-not-offered",
                message=f"{agent.id} was not given the return channel: {why}, and nothing is "
                "written there",
            )
        )
    passed = {name for name in environment if name != "HOME" or not own_home}
    if not scripted and not any(
        fnmatchcase(name, login) for name in passed for login in cli.logins
    ):
        names = ", ".join(cli.logins)
        kept = kept_logins(cli, Path.home())
        what = (
            f"~/{kept[0]} is yours, and it has a HOME of its own: --caesar-pass-env=HOME passes "
            f"yours on; or pass another login ({names})"
            if kept
            else f"pass one with --caesar-pass-env ({names})"
        )
        found.append(
            Diagnostic(
                code="no-credentials",
                message=f"{agent.id} is given no login, so it may find no model: {what}, or use "
                "caesar_model",
            )
        )
    return found


def channel_not_started(agent: ProcessAgent, task_dir: Path, outcome: Outcome) -> list[Diagnostic]:
    """Return that a CLI ended because it could not start the channel, with its reason."""
    failure = CATALOGUE[agent.cli].channel_failure if agent.cli else ""
    if not failure or outcome.exit_code in (0, None):
        return []
    stderr, _ = tail_of(task_dir, "stderr.log", MAX_STDERR_BYTES)
    for line in stderr.decode("utf-8", "replace").splitlines():
        if failure in line:
            return [
                Diagnostic(
                    code="channel-not-started",
                    message=f"{agent.id} could not start the return channel, and ended: "
                    f"{one_line(line.strip(), limit=300)}",
                )
            ]
    return []
