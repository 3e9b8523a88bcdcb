"""What can be wrong before an agent is started: one class for each thing to do about it."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from caesar_agent.console import printable
from caesar_agent.errors import CaesarError

if TYPE_CHECKING:
    from collections.abc import Iterable


def shown(text: str, *, limit: int = 200) -> str:
    """Quote text so that it fits on one line and cannot command a terminal.

    Args:
        text: anything, of any length.
        limit: characters of ``text`` that are kept.

    Returns:
        The text between double quotes, control characters escaped.
    """
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return f'"{printable(cut)}"'


def near_miss(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean "x"?`` for the known words nearest to ``word``, or ""."""
    by_folded = {name.casefold(): name for name in known}
    found = get_close_matches(word.casefold(), by_folded, n=2, cutoff=0.6)
    if not found:
        return ""
    return "; did you mean " + " or ".join(shown(by_folded[name]) for name in found) + "?"


class SelectionError(CaesarError):
    """What ``--caesar-agent`` says fits nothing that can be run, or fits two things.

    Attributes:
        selected: the text as it was given.
        problem: what was found, and what to do.
        fits: what it fits, when it fits more than one thing.
        available: ids of what there is, when it fits nothing.
    """

    __module__ = "pytest_caesar"

    selected: str
    problem: str
    fits: tuple[str, ...]
    available: tuple[str, ...]

    def message(self) -> str:  # noqa: D102  (see the base)
        return f"cannot select the agent {shown(self.selected)}: {self.problem}"


class ConfigError(CaesarError):
    """A configuration file is not what it should be.

    Attributes:
        file: path of the file.
        line: 1-based line, or None where it is not known.
        key: dotted key such as ``agent[1].cwd_mode``, or "" for the whole file.
        problem: what was found, and what was expected.
    """

    __module__ = "pytest_caesar"

    file: str
    line: int | None
    key: str
    problem: str

    def message(self) -> str:  # noqa: D102  (see the base)
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        key = f"{self.key}: " if self.key else ""
        return f"{place}: {key}{self.problem}"


class DurationError(CaesarError):
    """A duration cannot be read.

    Attributes:
        found: the value, as text.
    """

    found: str

    def message(self) -> str:  # noqa: D102  (see the base)
        return (
            f"{self.found} is not a duration: expected a whole number followed by ms, s, m or h, "
            'such as "90s" or "10m" (a bare number counts milliseconds)'
        )


class CommandError(CaesarError):
    """An agent's command cannot be started; nothing was started.

    Attributes:
        agent: id of the agent.
        program: the program as it was asked for.
        problem: what was found, where, and what to do.
    """

    agent: str
    program: str
    problem: str

    def message(self) -> str:  # noqa: D102  (see the base)
        return f"cannot run agent {shown(self.agent)}: {self.problem}"


class CommandNotFoundError(CommandError):
    """There is no such program."""


class NotExecutableError(CommandError):
    """The program is there, but may not be executed."""


class BadInterpreter(CommandError):  # noqa: N818  (reads as the fact it states)
    """The first line of the script names an interpreter that is not there, or none."""


class BadArgument(CommandError):  # noqa: N818
    """An argument cannot be handed to a program: a NUL, or the prompt would be lost."""


class PromptTooLong(CommandError):  # noqa: N818
    """The brief does not fit into one argument.

    Attributes:
        size: bytes of the argument.
        limit: bytes that one argument may have.
    """

    size: int
    limit: int
