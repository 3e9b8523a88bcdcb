"""What a step of a fake agent may be told; a mistake is found where the test makes it."""

from __future__ import annotations

import codecs
import math
import os
import signal as signals
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from caesar_agent.console import one_line
from caesar_agent.errors import CaesarError
from pytest_caesar.agents.errors import near_miss

Place: TypeAlias = Literal["file", "submission", "message", "stdout", "fence"]
"""Where a report is handed in.

``file`` is ``$CAESAR_REPORT_PATH``, ``submission`` what the return channel would keep,
``message`` the structured final message of an agent made with ``structured=True``,
``stdout`` an object among the output, ``fence`` a fenced block among the output.
"""

Kind: TypeAlias = Literal["directory", "fifo", "symlink"]
"""What can stand in the place of a report without being a file."""


class StepError(CaesarError):
    """A fake agent cannot do what it is told; nothing was started.

    Attributes:
        step: the step as it was written, such as ``report(to="fenc")``.
        problem: what was expected, and what to do.
    """

    __module__ = "pytest_caesar"

    step: str
    problem: str

    def message(self) -> str:  # noqa: D102  (see the base)
        return f"{self.step}: {self.problem}"


def _known(step: str, word: object, known: Sequence[str]) -> None:
    if word not in known:
        listed = f"{', '.join(known[:-1])} or {known[-1]}"
        raise StepError(step=one_line(step, limit=120), problem=f"expected {listed}")


def known_place(step: str, to: str) -> None:
    """Refuse a place where no report is looked for."""
    _known(f'{step}(to="{to}")', to, get_args(Place))


def known_kind(kind: str) -> None:
    """Refuse what cannot be put in the place of a report."""
    _known(f'report_as("{kind}")', kind, get_args(Kind))


def known_encoding(encoding: str) -> None:
    """Refuse an encoding that Python does not know."""
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise StepError(
            step=one_line(f'report(encoding="{encoding}")', limit=120),
            problem="Python knows no such encoding; expected utf-8, utf-16, latin-1, …",
        ) from None


def known_signal(step: str, name: str) -> None:
    """Refuse a signal that there is not."""
    known = [signal.name for signal in signals.Signals]
    if name not in known:
        raise StepError(
            step=one_line(f'{step}("{name}")', limit=120),
            problem=f"there is no such signal{near_miss(name, known) or '; expected SIGTERM, …'}",
        )


def one_by_one(step: str, argv: Sequence[object]) -> None:
    """Refuse a list where words are meant, as ``subprocess.run`` would take it."""
    if argv and all(isinstance(word, str | bytes | Path) for word in argv):
        return
    given = ", ".join(map(repr, argv))
    words = [
        str(word) for one in argv for word in (one if isinstance(one, list | tuple) else [one])
    ]
    meant = ", ".join(map(repr, words or (["status"] if step == "git" else ["ls", "-l"])))
    raise StepError(
        step=one_line(f"{step}({given})", limit=120),
        problem=f"words are given one by one: {step}({one_line(meant, limit=120)})",
    )


def literal(value: object) -> Any:
    """Return a value whose ``repr`` is Python that gives it back.

    A path becomes text, a member of a string enumeration its text, a mapping a dict.

    Raises:
        TypeError: it holds something that has no such form; the text names it.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {literal(name): literal(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [literal(item) for item in value]
    raise TypeError(f"{value!r:.80} ({type(value).__name__})")
