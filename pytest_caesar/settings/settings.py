"""Options and ini keys, read once into one frozen value."""

from __future__ import annotations

import functools
import os
import re
import shlex
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from pytest_caesar.settings.advice import repeated_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_caesar.agents.target import AgentTarget
    from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings

N = TypeVar("N", int, float)

PATH_OPTIONS = (
    "--caesar-prices",
    "--caesar-agent",
    "--caesar-runner",
    "--caesar-keep",
    "--caesar-json",
    "--caesar-html",
    "--caesar-export",
    "--caesar-baseline",
    "--caesar-conformance-report",
)
"""Options whose value may be a path.

A separate argument that is an existing path is taken for one of the folders to collect
from by pytest, before any plugin is asked, and moves the rootdir.
"""

BOOLEANS = ("caesar_strict", "caesar_junit", "caesar_subprocess")
"""Keys of the ini file that are true or false."""

RECORD_MODES = ("none", "once", "all", "off")
"""What ``--caesar-record``, the ini key and the marker may say."""

JOBS = 4
"""Delegations of ``caesar_trials`` at once, where nobody says how many."""

MAX_TRIALS = 10_000
"""How often a test can be run."""

REPEATED = "caesar_repeated"
"""Key under which workers are told the options of the command line."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the options and the ini file say about agents.

    Attributes:
        agents: texts of ``--caesar-agent``, or of the ini key when there is none.
        agents_from_ini: they are from the ini file; paths start at its folder.
        start: folder that paths in ``agents`` start from, absolute.
        project: pytest's rootdir, whose ``[[agent]]`` entries count.
        subprocess: Python functions run in a process of their own.
        sandbox: in what agents run, or None where nobody says it.
        pass_env: variables of this environment that agents may see.
        user_config: the user's own configuration layers are read.
        keep: every task directory is copied there, or None.
        json_path: file for every run of the session, or None.
        html_path: file for the page, or None.
        export: folder that exporters write into, or None.
        baseline: file of an earlier session that the page is compared with, or None.
        ci: the pipeline of GitHub gets a summary and annotations.
        strict: findings of the harness fail their test.
        allow: codes of findings that never fail a test.
        junit: runs are written into the JUnit report as properties.
        record: ``--caesar-record``, or None; it goes before a test's marker.
        record_default: the ini key, which goes after it.
        conformance_report: file for what became of each requirement, or None.
        hostile: every delegation runs in hostile surroundings.
        runner: what runs agent definitions; a path in it is absolute; or None.
        linger: seconds an agent may go on after it has delivered its report, or None.
        ini: the ini file, or None.
        repeated: options of the command line that a test needs to run again as it ran.
        executor: ``--caesar-executor``: where trials of ``caesar_trials`` are sent, or None.
        jobs: how many delegations of ``caesar_trials`` run at once in the session.
        jobs_here: how many of them in this process.
        trials: ``--caesar-trials``: how often every test that delegates is run, or None.
        max_tokens: of the whole session, or None.
        max_cost: of the whole session, in US dollars, or None.
        prices: file with prices of tokens, or None.
    """

    agents: tuple[str, ...]
    agents_from_ini: bool
    start: Path
    project: Path
    subprocess: bool
    sandbox: str | None
    pass_env: tuple[str, ...]
    user_config: bool
    keep: Path | None
    json_path: Path | None
    strict: bool
    allow: tuple[str, ...]
    junit: bool
    record: str | None = None
    record_default: str = "off"
    conformance_report: Path | None = None
    hostile: bool = False
    runner: str | None = None
    linger: float | None = None
    ini: Path | None = None
    repeated: tuple[str, ...] = ()
    html_path: Path | None = None
    export: Path | None = None
    baseline: Path | None = None
    ci: bool = False
    trials: int | None = None
    executor: str | None = None
    jobs: int = JOBS
    jobs_here: int = JOBS
    max_tokens: int | None = None
    max_cost: float | None = None
    prices: Path | None = None

    @property
    def whole_runs(self) -> bool:
        """Everything about a run is wanted at the end, not only how many there are."""
        wanted = (self.json_path, self.html_path, self.export)
        return self.ci or any(path is not None for path in wanted)


def read_settings(config: pytest.Config) -> Settings:
    """Read options and ini keys.

    Raises:
        pytest.UsageError: an option is not what it should be.
    """
    started = config.invocation_params.dir
    given = tuple(config.getoption("caesar_agent") or ())
    ini = functools.partial(_ini, config)
    from_ini = tuple(ini("caesar_agent"))
    ini_folder = config.inipath.parent if config.inipath else config.rootpath
    pass_env = (*ini("caesar_pass_env"), *(config.getoption("caesar_pass_env") or ()))
    for name in pass_env:
        if not _VARIABLE.match(name):
            raise pytest.UsageError(
                f"--caesar-pass-env {name!r}: expected the name of a variable, without "
                "its value (a * may stand at its end)"
            )
    for text in given:
        if not text.strip():
            raise pytest.UsageError(
                "--caesar-agent is empty: expected a script, a command line, module:function, "
                "or the name of an agent"
            )
    record_default = ini("caesar_record")
    if record_default not in RECORD_MODES:
        raise pytest.UsageError(
            f"caesar_record = {record_default}: expected one of {', '.join(RECORD_MODES)}"
        )
    allow = tuple(ini("caesar_allow"))
    if allow:
        from pytest_caesar.settings.finding_codes import (  # noqa: PLC0415 - only with codes
            problem_of_codes,
        )

        problem = problem_of_codes(allow)
        if problem:
            raise pytest.UsageError(f"caesar_allow{_in_file(config.inipath)}: {problem}")
    return Settings(
        agents=given or from_ini,
        agents_from_ini=not given and bool(from_ini),
        start=started if given else ini_folder,
        project=config.rootpath,
        subprocess=config.getoption("caesar_subprocess") or ini("caesar_subprocess"),
        sandbox=config.getoption("caesar_sandbox") or ini("caesar_sandbox") or None,
        pass_env=tuple(dict.fromkeys(pass_env)),
        user_config=config.getoption("caesar_user_config"),
        keep=_folder(config, "--caesar-keep"),
        json_path=_file(config, "--caesar-json"),
        html_path=_file(config, "--caesar-html"),
        export=_folder(config, "--caesar-export"),
        baseline=_file(config, "--caesar-baseline"),
        ci=_ci(ini("caesar_ci"), config.inipath),
        strict=ini("caesar_strict"),
        allow=allow,
        junit=ini("caesar_junit"),
        record=config.getoption("caesar_record"),
        record_default=record_default,
        conformance_report=_file(config, "--caesar-conformance-report"),
        hostile=config.getoption("caesar_hostile"),
        runner=_runner(config.getoption("caesar_runner"), started)
        or _runner(ini("caesar_runner"), ini_folder),
        linger=_linger(ini("caesar_linger"), config.inipath),
        ini=config.inipath,
        repeated=_repeated(config),
        trials=_trials(config.getoption("caesar_trials")),
        executor=config.getoption("caesar_executor"),
        jobs=(jobs := _jobs(config)),
        jobs_here=_share(jobs, getattr(config, "workerinput", None)),
        max_tokens=_bound(config, "max_tokens", int),
        max_cost=_bound(config, "max_cost", float),
        prices=_file(config, "--caesar-prices"),
    )


def _bound(config: pytest.Config, name: str, kind: type[N]) -> N | None:
    """Return a bound of the session: from the command line, else from the ini file."""
    text, where = config.getoption(f"caesar_{name}"), f"--caesar-{name.replace('_', '-')}"
    if text is None:
        text, where = _ini(config, f"caesar_{name}"), f"caesar_{name}{_in_file(config.inipath)}"
    if not text.strip():
        return None
    try:
        number = kind(text)
    except ValueError:
        number = kind(0)
    if not 0 < number < float("inf"):
        expected = "a whole number of tokens" if kind is int else "US dollars, such as 0.50"
        raise pytest.UsageError(f"{where} = {text}: expected {expected}, above 0")
    return number


def _ini(config: pytest.Config, key: str) -> Any:
    """Return the value of a key of the ini file; name the key where it is not what it should be."""
    try:
        return config.getini(key)
    except pytest.UsageError as error:
        if key in str(error):
            raise
        expected = "; expected true or false" if key in BOOLEANS else ""
        raise pytest.UsageError(f"{key}{_in_file(config.inipath)}: {error}{expected}") from error


def _linger(text: str, ini: Path | None) -> float | None:
    if not text.strip():
        return None
    from pytest_caesar.agents.durations import parse_duration  # noqa: PLC0415 - seldom needed
    from pytest_caesar.agents.errors import DurationError  # noqa: PLC0415 - likewise

    try:
        return parse_duration(text) / 1000
    except DurationError as error:
        raise pytest.UsageError(f"caesar_linger{_in_file(ini)}: {error}") from error


def _ci(text: str, ini: Path | None) -> bool:
    """Tell whether the session runs in a pipeline of GitHub that it may write into."""
    if text not in ("auto", "off"):
        raise pytest.UsageError(f"caesar_ci{_in_file(ini)} = {text}: expected auto or off")
    return text == "auto" and os.environ.get("GITHUB_ACTIONS") == "true"


def _jobs(config: pytest.Config) -> int:
    given = config.getoption("caesar_jobs")
    text = str(_ini(config, "caesar_jobs")).strip() if given is None else str(given)
    if not text:
        return JOBS
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MAX_TRIALS:
        where = f"caesar_jobs{_in_file(config.inipath)} = " if given is None else "--caesar-jobs="
        raise pytest.UsageError(f"{where}{text}: expected a number from 1 to {MAX_TRIALS}")
    return int(text)


def _share(jobs: int, worker: Mapping[str, Any] | None) -> int:
    """Return this process's share of what runs at once: all workers together have that many.

    Where there are more workers than jobs, each still has one.
    """
    if worker is None:
        return jobs
    count = max(1, int(worker.get("workercount", 1)))
    number = int("".join(filter(str.isdigit, str(worker.get("workerid", "gw0")))) or 0)
    return max(1, jobs // count + (number % count < jobs % count))


def _trials(number: int | None) -> int | None:
    if number is not None and not 1 <= number <= MAX_TRIALS:
        raise pytest.UsageError(
            f"--caesar-trials={number}: expected a number from 1 (no repeats) to {MAX_TRIALS}"
        )
    return number


def _in_file(ini: Path | None) -> str:
    return f" in {ini.name}" if ini is not None else ""


def _repeated(config: pytest.Config) -> tuple[str, ...]:
    """Return options of the command line, also in a worker, which has none of its own."""
    told = getattr(config, "workerinput", {}).get(REPEATED)
    return repeated_options(config.invocation_params.args) if told is None else tuple(told)


def _runner(text: str | None, start: Path) -> str | None:
    """Return a runner whose program is meant from one folder, wherever agents are meant from."""
    if text is None or not text.strip():
        return None
    program, blank, arguments = text.strip().partition(" ")
    if "/" in program:
        program = os.path.normpath(start / program)
    return f"{program}{blank}{arguments}"


def _path(config: pytest.Config, option: str) -> Path | None:
    text = config.getoption(option.removeprefix("--").replace("-", "_"))
    start = config.invocation_params.dir
    return None if text is None else Path(os.path.normpath(start / text))


def _file(config: pytest.Config, option: str) -> Path | None:
    path = _path(config, option)
    if path is not None and path.is_dir():
        raise pytest.UsageError(f"{option}: {path} is a folder; name the file to write")
    return path


def _folder(config: pytest.Config, option: str) -> Path | None:
    path = _path(config, option)
    if path is not None and path.exists() and not path.is_dir():
        raise pytest.UsageError(f"{option}: {path} is no folder; name one, or what is to be one")
    return path


def from_environment() -> tuple[str, ...]:
    """Return the arguments that pytest takes from the environment, in front of the others."""
    return tuple(shlex.split(os.environ.get("PYTEST_ADDOPTS", "")))


def refuse_separate_paths(arguments: Sequence[str], start: Path) -> None:
    """Refuse ``--option PATH`` where ``--option=PATH`` is meant.

    Raises:
        pytest.UsageError: an existing path follows one of ``PATH_OPTIONS``.
    """
    for option, value in pairwise(arguments):
        if option in PATH_OPTIONS and (start / value).exists():
            raise pytest.UsageError(
                f"{option} {value}: an existing path as a separate argument moves pytest's "
                f"rootdir; write {option}={value}"
            )


def orchestrator_settings(settings: Settings, **more: Any) -> OrchestratorSettings:
    """Return how the orchestrators of a session treat every delegation.

    Args:
        settings: of the session.
        more: further fields of ``OrchestratorSettings``.
    """
    from pytest_caesar.orchestrator.orchestrator_settings import (  # noqa: PLC0415 - heavy
        OrchestratorSettings,
    )

    if settings.linger is not None:
        more["linger"] = settings.linger
    return OrchestratorSettings(
        pass_env=settings.pass_env,
        user_config=settings.user_config,
        agents_root=settings.project,
        runner=settings.runner,
        subprocess=settings.subprocess,
        sandbox=settings.sandbox,
        **more,
    )


def select_agents(settings: Settings) -> tuple[AgentTarget, ...]:
    """Resolve every agent that was asked for, in order; ids are made unique.

    Raises:
        pytest.UsageError: a text fits nothing that can be run, or two things.
    """
    from caesar_agent.errors import CaesarError  # noqa: PLC0415 - only when agents are selected
    from pytest_caesar.agents.selection import select_all  # noqa: PLC0415 - as above

    try:
        return select_all(
            settings.agents,
            project=settings.project,
            start=settings.start,
            user_config=settings.user_config,
            subprocess=settings.subprocess,
            runner=settings.runner,
        )
    except CaesarError as error:
        origin = f"caesar_agent{_in_file(settings.ini)}: " if settings.agents_from_ini else ""
        raise pytest.UsageError(f"{origin}{error}") from error


def how_to_give_an_agent() -> str:
    """Say how a test run is given an agent."""
    return (
        "give one with --caesar-agent=./agent.sh, "
        '--caesar-agent="python -m my_agent" or --caesar-agent=my_agent:main, '
        "or in the ini file under caesar_agent"
    )
