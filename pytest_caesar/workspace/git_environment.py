"""The environment of a git process: what it needs, and nothing that an agent could use."""

from __future__ import annotations

import os

_CONFIG_LOCATIONS = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"})
# These say where the user's configuration lies; every other GIT_* variable redirects.

_NEEDED = frozenset(
    {
        "PATH",
        "HOME",
        "XDG_CONFIG_HOME",
        "USER",
        "LOGNAME",
        "TMPDIR",
        "LD_LIBRARY_PATH",
        "DYLD_LIBRARY_PATH",
        "DYLD_FALLBACK_LIBRARY_PATH",
        "DEVELOPER_DIR",
        # Under sudo git takes a repository of this user for the caller's own.
        "SUDO_UID",
    }
)


def scrubbed_environment() -> dict[str, str]:
    """Return this process's environment without whatever redirects git."""
    environment = {
        name: value
        for name, value in os.environ.items()
        # By its CAESAR_TASK_DIR a process is known as an agent's, and ended with it.
        if not name.startswith(("GIT_", "CAESAR_")) or name in _CONFIG_LOCATIONS
    }
    return {**environment, **_fixed()}


def git_environment(*, isolated: bool = False) -> dict[str, str]:
    """Return the environment of a git process that the orchestrator starts.

    An agent can write into the repository's configuration. Should a later git
    still find a way to start a program from there, that program gets no secrets.

    Args:
        isolated: leave out the user's and the system's git configuration too.
    """
    keep = _NEEDED if isolated else _NEEDED | _CONFIG_LOCATIONS
    environment = {name: os.environ[name] for name in keep if name in os.environ} | _fixed()
    # Whatever an agent makes of the remotes, to reach one git may start its programs: a helper,
    # ssh, a credential store. Nothing is fetched, so that missing objects stay missing.
    environment.update(GIT_ALLOW_PROTOCOL="none", GIT_NO_LAZY_FETCH="1")
    if isolated:
        environment.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL=os.devnull)
        environment.update(GIT_ATTR_NOSYSTEM="1", HOME=os.devnull, XDG_CONFIG_HOME=os.devnull)
    return environment


def _fixed() -> dict[str, str]:
    return {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_PAGER": "cat",
        "GIT_LITERAL_PATHSPECS": "1",
    }
