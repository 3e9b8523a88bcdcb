"""``caesar-conformance.toml``: what an agent is for, and what it claims to do."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from caesar_agent.errors import CaesarError
from pytest_caesar.agents.toml_bounds import check_bounds
from pytest_caesar.conformance.repository_files import (
    RepositoryFiles,
    RepositoryFilesError,
    from_folder,
    from_table,
)
from pytest_caesar.conformance.requirements import LEVELS, Level
from pytest_caesar.gates.criteria import command_of
from pytest_caesar.gates.gates import GateError, criteria_gates

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

PROFILE_NAME = "caesar-conformance.toml"
"""Looked for where pytest was started, and above up to its rootdir; an agent needs none for the minimal level."""

OBJECTIVE = "Look at this repository and say in one sentence what it holds."
"""Given to an agent that does not say what it is for: any agent can do it."""

REPOSITORY = RepositoryFiles(
    files={
        "README.md": "# Greeter\n\nSays hello to whoever is named.\n",
        "src/greeter.py": 'def greet(name):\n    return f"Hello, {name}!"\n',
    }
)
"""The repository of an agent that does not bring one."""

NO_PROFILE = (
    f"there is no {PROFILE_NAME} where pytest was started, so the agent was given the small task "
    "of the kit: write one with an objective that the agent can do, and [files] to do it in"
)
"""Said of an agent that could not do the task of the kit."""

CLAIMS: dict[str, str] = {
    "writes": "it changes files when it does its objective",
    "declares": "it declares every file that it changes",
    "commits": "it commits its work",
    "events": "it tells events",
    "tools": "it tells of the tools that it uses",
}
"""Capabilities that are claimed by name in ``claims``."""

TABLES: dict[str, str] = {
    "asks": "how to make it ask over the return channel",
    "slow": "something that takes it longer than the table's timeout",
    "blocked": "something that it cannot decide alone",
    "partial": "something that it can do in part",
    "failed": "something that it cannot do",
    "delegates": "something that makes it delegate to another agent",
}
"""Capabilities that are claimed by a table with an ``objective``."""

IMPLIED: dict[str, str] = {
    "answer": "answer and expects in [asks]: what follows an answer",
    "criteria": 'acceptance_criteria = ["$ …"]: a command that succeeds when the objective is met',
    "outputs": 'outputs = ["…"]: keys that it hands over with a unit of va-agent-protocol',
    "constraints": 'constraints = ["$ …"]: a command that succeeds as long as a constraint holds',
}
"""Capabilities that are claimed by other keys, and how."""


def how_to_claim(capability: str) -> str:
    """Say how a capability is claimed."""
    if capability in TABLES:
        return (
            f'not claimed: [{capability}] objective = "…" in {PROFILE_NAME} ({TABLES[capability]})'
        )
    if capability in IMPLIED:
        return f"not claimed: {PROFILE_NAME} says nothing of {IMPLIED[capability]}"
    return f'not claimed: claims = ["{capability}"] in {PROFILE_NAME} ({CLAIMS[capability]})'


class ProfileError(CaesarError):
    """The profile is not what it should be.

    Attributes:
        path: the file.
        problem: what was found, where, and what is expected.
    """

    path: str
    problem: str

    def message(self) -> str:
        """Name the file and the problem."""
        return f"{self.path}: {self.problem}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Special:
    """One table: an objective that shows a capability.

    Attributes:
        objective: what is asked of the agent.
        context, constraints, acceptance_criteria: handed to it with the objective; those of the
            profile where the table has none of its own.
        timeout: of ``slow``: seconds it is given, and that are not enough.
        answer: of ``asks``: what it is answered; "" takes the first option, or "yes".
        expects: of ``asks``: a text that report or patch contain after that answer, or "".
        repository: a repository of its own, or None for the usual one.
    """

    objective: str
    context: str = ""
    constraints: tuple[str, ...] = ()
    acceptance_criteria: tuple[str, ...] = ()
    timeout: float = 2.0
    answer: str = ""
    expects: str = ""
    repository: RepositoryFiles | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What an agent is for.

    Attributes:
        path: the file it was read from, or None for an agent without one.
        level: the highest level that is asked for.
        objective: something the agent can do in its repository.
        exact_objective: nothing may be added to the objective.
        context: handed to it with every task.
        constraints: handed to it with every task; one that begins with ``$`` is a command that must
            succeed afterwards.
        acceptance_criteria: handed to it with the objective.
        outputs: keys that it hands over with a unit of va-agent-protocol.
        inputs: what such a unit gives it, by name.
        repository: its repository.
        timeout: seconds that it may take for the objective.
        claims: capabilities by name.
        specials: tables by name.
    """

    path: Path | None = None
    level: Level = "robust"
    objective: str = OBJECTIVE
    exact_objective: bool = False
    context: str = ""
    constraints: tuple[str, ...] = ()
    acceptance_criteria: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    repository: RepositoryFiles = REPOSITORY
    timeout: float = 60.0
    claims: frozenset[str] = frozenset()
    specials: Mapping[str, Special] = field(default_factory=dict)

    def claimed(self, capability: str) -> bool:
        """Tell whether the agent says that it can do this."""
        if capability == "answer":
            asks = self.specials.get("asks")
            return asks is not None and bool(asks.expects)
        if capability == "criteria":
            return any(map(command_of, self.acceptance_criteria))
        if capability == "outputs":
            return bool(self.outputs)
        if capability == "constraints":
            return any(map(command_of, self.constraints))
        return capability in self.claims or capability in self.specials


def load_profile(folder: Path) -> Profile:
    """Read the profile in a folder; the one of an unknown agent where there is none.

    Raises:
        ProfileError: naming the key, what was found and what is expected.
    """
    path = folder / PROFILE_NAME
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Profile()
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(path=str(path), problem=f"it cannot be read: {error}") from error
    return parse_profile(text, path=path)


def parse_profile(text: str, *, path: Path) -> Profile:
    """Read the text of a profile.

    Raises:
        ProfileError: as ``load_profile``.
    """
    try:
        check_bounds(text)
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProfileError(path=str(path), problem=f"it is not TOML: {error}") from error
    return _Reader(path).profile(values)


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path

    def _error(self, problem: str) -> ProfileError:
        return ProfileError(path=str(self._path), problem=problem)

    def profile(self, values: dict[str, Any]) -> Profile:
        known = ("level", "objective", "exact_objective", "context", "constraints", "acceptance_criteria",
                 "outputs", "inputs", "repository", "files", "timeout", "claims", *TABLES)  # fmt: skip
        self._check_keys(values, known, "")
        default = Profile()
        level = self._text(values, "level", "", default.level)
        if level not in LEVELS:
            raise self._error(f"level is {level!r}: expected one of {', '.join(LEVELS)}")
        if ("repository" in values or "files" in values) and "objective" not in values:
            raise self._error(
                "it brings a repository and no objective: say what the agent can do in it"
            )
        return Profile(
            path=self._path,
            level=cast("Level", level),
            objective=self._text(values, "objective", "", default.objective),
            exact_objective=self._flag(values, "exact_objective"),
            context=self._text(values, "context", "", "", blank=True),
            constraints=self._commands(values, "constraints"),
            acceptance_criteria=self._commands(values, "acceptance_criteria"),
            outputs=self._texts(values, "outputs"),
            inputs=self._inputs(values),
            repository=self._repository(values),
            timeout=self._seconds(values, "timeout", "", default.timeout),
            claims=self._claims(values),
            specials={name: self._special(name, values[name]) for name in TABLES if name in values},
        )

    def _check_keys(self, values: dict[str, Any], known: tuple[str, ...], table: str) -> None:
        for key in values:
            if key not in known:
                near = get_close_matches(key, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}"
                raise self._error(f"unknown key {table}{key}{hint}")

    def _text(
        self, values: dict[str, Any], key: str, table: str, default: str, *, blank: bool = False
    ) -> str:
        value = values.get(key, default)
        if not isinstance(value, str):
            raise self._error(f"{table}{key} is {value!r}: expected a text")
        if not blank and key in values and not value.strip():
            raise self._error(f"{table}{key} is empty: leave it out, or say something")
        return value

    def _flag(self, values: dict[str, Any], key: str) -> bool:
        value = values.get(key, False)
        if not isinstance(value, bool):
            raise self._error(f"{key} is {value!r}: expected true or false")
        return value

    def _texts(self, values: dict[str, Any], key: str, table: str = "") -> tuple[str, ...]:
        value = values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._error(f"{table}{key} is {value!r}: expected a list of texts")
        return tuple(value)

    def _commands(self, values: dict[str, Any], key: str, table: str = "") -> tuple[str, ...]:
        """Read sentences, and commands that can be run."""
        texts = self._texts(values, key, table)
        try:
            criteria_gates(texts)
        except GateError as error:
            raise self._error(f"{table}{key}: {error}") from error
        return texts

    def _seconds(self, values: dict[str, Any], key: str, table: str, default: float) -> float:
        value = values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 3600:
            raise self._error(
                f"{table}{key} is {value!r}: expected seconds, above 0 and at most 3600"
            )
        return float(value)

    def _inputs(self, values: dict[str, Any]) -> dict[str, Any]:
        inputs = values.get("inputs", {})
        if not isinstance(inputs, dict):
            raise self._error(f"inputs is {inputs!r}: expected a table of values by name")
        return inputs

    def _claims(self, values: dict[str, Any]) -> frozenset[str]:
        claims = self._texts(values, "claims")
        for claim in claims:
            if claim in TABLES:
                raise self._error(
                    f"claims names {claim!r}, which is claimed by a table: "
                    f'[{claim}] with objective = "…" ({TABLES[claim]})'
                )
            if claim not in CLAIMS:
                near = get_close_matches(claim, CLAIMS, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(CLAIMS)}"
                raise self._error(f"claims names {claim!r}, which is no capability: {hint}")
        return frozenset(claims)

    def _special(self, name: str, value: Any) -> Special:
        if not isinstance(value, dict):
            raise self._error(f'{name} is {value!r}: expected a table, [{name}] objective = "…"')
        more = {"slow": ("timeout",), "asks": ("answer", "expects")}.get(name, ())
        shared = ("objective", "context", "constraints", "acceptance_criteria", "files")
        self._check_keys(value, (*shared, *more), f"{name}.")
        if "objective" not in value:
            raise self._error(f"[{name}] has no objective: give {TABLES[name]}")
        table = f"{name}."
        special = Special(
            objective=self._text(value, "objective", table, ""),
            context=self._text(value, "context", table, "", blank=True),
            constraints=self._commands(value, "constraints", table),
            acceptance_criteria=self._commands(value, "acceptance_criteria", table),
            timeout=self._seconds(value, "timeout", table, 2.0),
            answer=self._text(value, "answer", table, ""),
            expects=self._text(value, "expects", table, ""),
            repository=self._table(value["files"], f"{name}.files") if "files" in value else None,
        )
        if special.expects and not special.answer:
            raise self._error(
                "asks.expects needs asks.answer: what is expected after which answer?"
            )
        return special

    def _repository(self, values: dict[str, Any]) -> RepositoryFiles:
        if "repository" in values and "files" in values:
            raise self._error("repository and [files] both say what the repository holds: keep one")
        if "files" in values:
            return self._table(values["files"], "files")
        if "repository" not in values:
            return REPOSITORY
        name = self._text(values, "repository", "", "")
        try:
            return from_folder(self._path.parent / name)
        except RepositoryFilesError as error:
            raise self._error(f"repository is {name!r}: {error}") from error

    def _table(self, files: Any, table: str) -> RepositoryFiles:
        if not isinstance(files, dict) or not all(isinstance(text, str) for text in files.values()):
            raise self._error(f"[{table}] is not a table of texts by path")
        try:
            return from_table(files)
        except RepositoryFilesError as error:
            raise self._error(f"[{table}] {error}") from error
