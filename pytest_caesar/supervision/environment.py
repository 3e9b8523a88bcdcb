"""The environment of an agent: built, not inherited."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from caesar_agent.documents.task import Task
from caesar_agent.errors import CaesarError
from caesar_agent.task_directory import TaskDirectory
from pytest_caesar.agents.credentials import is_login

TASK_VARIABLES: Final = (
    "CAESAR_TASK_DIR",
    "CAESAR_TASK_FILE",
    "CAESAR_REPORT_PATH",
    "CAESAR_EVENTS_PATH",
    "CAESAR_TASK_ID",
    "CAESAR_AGENT",
    "CAESAR_DEPTH",
    "CAESAR_PROTOCOL_VERSION",
)
"""The variables of the contract. Source: OACP specification, "Variables d'environnement"."""

PROTOCOL_VERSION: Final = "1"
"""Value of ``CAESAR_PROTOCOL_VERSION``. Source: the specification, "Variables d'environnement"."""

LOADER_VARIABLES: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Where shared libraries are looked for; some interpreters do not start without."""

PASSED: Final = (
    "PATH",
    *LOADER_VARIABLES,
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "SHELL",
)
"""What an agent gets of the environment around it; ``*`` stands for any ending."""

SET: Final[Mapping[str, str]] = {"TERM": "dumb", "NO_COLOR": "1"}
"""What it gets whatever is around it; a name may be passed on instead."""

REFUSED: Final[Mapping[str, str]] = {
    "CAESAR_*": "describes a task, and this agent has its own",
    "GIT_*": "may point git at another repository",
    "PYTEST_*": "belongs to the pytest around the agent",
    "_PYTEST_*": "belongs to the pytest around the agent",
    "COV_CORE_*": "belongs to the coverage measurement around the agent",
    "CLAUDECODE": "tells an agent that it runs inside another one",
    "CLAUDE_CODE_ENTRYPOINT": "tells an agent that it runs inside another one",
    "FORCE_COLOR": "puts colours into a log",
    "CLICOLOR_FORCE": "puts colours into a log",
    "PY_COLORS": "puts colours into a log",
    "BASH_ENV": "runs code in every shell that the agent starts",
    "ENV": "runs code in every shell that the agent starts",
}
"""What never passes, not even by name, and why."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?")

_GIT_CONFIG: Final = """\
# Written by pytest-caesar: the agent's own git identity.
[user]
\tname = Caesar Agent
\temail = agent@caesar.invalid
[init]
\tdefaultBranch = main
[safe]
\t# The user's own list of trusted folders is out of sight here.
\tdirectory = *
"""


class EnvironmentRefusedError(CaesarError):
    """A variable was asked for that never passes, or whose name is none.

    Attributes:
        name: as it was asked for.
        reason: why it does not pass.
    """

    name: str
    reason: str

    def message(self) -> str:
        """Say it in a sentence, with what to do."""
        return (
            f"the environment variable {self.name!r} is not passed on to agents: it {self.reason}; "
            "remove it from --caesar-pass-env (or caesar_pass_env)"
        )


def build_environment(
    *,
    parent: Mapping[str, str],
    task_environment: Mapping[str, str],
    home: Path,
    pass_env: Sequence[str] = (),
    path_first: Sequence[str] = (),
    without_logins: bool = False,
) -> dict[str, str]:
    """Build the whole environment of one agent.

    Args:
        parent: the environment around the harness.
        task_environment: the eight ``TASK_VARIABLES`` of this task.
        home: the agent's own ``HOME``, see ``make_home``.
        pass_env: names let through besides ``PASSED``; ``NAME*`` for all that
            begin so. ``HOME`` keeps the user's own.
        path_first: folders put at the head of ``PATH``.
        without_logins: keep back what carries a login, also where a pattern lets it through.

    Returns:
        A new dictionary; names in no particular order.

    Raises:
        EnvironmentRefusedError: ``pass_env`` names what is in ``REFUSED``, or
            something that is no name.
        ValueError: ``task_environment`` holds other than the eight names.
    """
    if set(task_environment) != set(TASK_VARIABLES):
        odd = ", ".join(sorted(set(task_environment) ^ set(TASK_VARIABLES)))
        message = f"task_environment must hold exactly the eight variables of the contract; differs in {odd}"
        raise ValueError(message)
    check_names(pass_env)
    wanted = (*PASSED, *pass_env)
    passed = {
        name: value
        for name, value in parent.items()
        if _matches(name, wanted)
        and refusal(name) is None
        and not (without_logins and is_login(name))
    }
    path = _prepend(path_first, passed.get("PATH", os.defpath))
    return {**SET, "HOME": str(home), **passed, "PATH": path, **task_environment}


def check_names(names: Sequence[str]) -> None:
    """Refuse names that can never pass.

    Raises:
        EnvironmentRefusedError: on the first of them.
    """
    for name in names:
        if not _NAME.fullmatch(name):
            raise EnvironmentRefusedError(
                name=name, reason="is no name of a variable (a * may stand at its end)"
            )
        # A pattern may cover refused names among others: those are left out silently.
        reason = refusal(name)
        if reason is not None:
            raise EnvironmentRefusedError(name=name, reason=reason)


def refusal(name: str) -> str | None:
    """Return why a variable never passes, or None when it may."""
    return next((reason for pattern, reason in REFUSED.items() if fnmatchcase(name, pattern)), None)


def make_home(path: Path) -> Path:
    """Make a home folder with a git identity, for one agent; return it."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    (path / ".gitconfig").write_text(_GIT_CONFIG, encoding="utf-8")
    return path


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _prepend(folders: Sequence[str], path: str) -> str:
    first = [folder for folder in dict.fromkeys(folders) if folder]
    rest = [folder for folder in path.split(os.pathsep) if folder not in first]
    return os.pathsep.join([*first, *rest])


def task_environment(task: Task, directory: TaskDirectory) -> dict[str, str]:
    """Return the eight ``CAESAR_*`` variables of a task. Source: the specification."""
    return {
        "CAESAR_TASK_DIR": str(directory.path),
        "CAESAR_TASK_FILE": str(directory.task_file),
        "CAESAR_REPORT_PATH": task.report_path,
        "CAESAR_EVENTS_PATH": task.events_path,
        "CAESAR_TASK_ID": task.id,
        "CAESAR_AGENT": task.agent,
        "CAESAR_DEPTH": str(task.depth),
        "CAESAR_PROTOCOL_VERSION": PROTOCOL_VERSION,
    }


def search_path(path_first: Sequence[str]) -> str:
    """Return the ``PATH`` of an agent: the folders that lead it, then the inherited ones."""
    return os.pathsep.join((*path_first, os.environ.get("PATH", os.defpath)))
