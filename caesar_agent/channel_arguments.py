"""What a client gives to a tool of the return channel, checked by hand.

No decoding and no guessing: a string that looks like JSON stays the string it is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from caesar_agent.errors import CaesarError

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)\s*")


class ArgumentError(CaesarError):
    """An argument of a tool is missing or wrong; the client may correct it and call again.

    Attributes:
        tool: name of the tool.
        where: path of the argument.
        problem: what was found and what was expected.
    """

    tool: str
    where: str
    problem: str

    def message(self) -> str:  # noqa: D102 - what it does is said by the base class
        return f"invalid arguments for {self.tool} at {self.where}: {self.problem}"


def text(tool: str, arguments: Mapping[str, Any], name: str) -> str:
    """Return a text that must be there and not be empty.

    Raises:
        ArgumentError: it is not.
    """
    value = arguments.get(name)
    if value is None:
        raise ArgumentError(tool=tool, where=name, problem="missing; expected a text")
    if not isinstance(value, str):
        raise _wrong(tool, name, "a text", value)
    if not value:
        raise ArgumentError(tool=tool, where=name, problem='expected some text, found ""')
    return value


def texts(tool: str, arguments: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a list of texts, empty where there is none.

    Raises:
        ArgumentError: something else is there.
    """
    value = arguments.get(name)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _wrong(tool, name, "a list of texts", value)
    for index, item in enumerate(value):
        if not isinstance(item, str):
            raise _wrong(tool, f"{name}[{index}]", "a text", item)
    return tuple(value)


def percentage(tool: str, arguments: Mapping[str, Any], name: str) -> float | None:
    """Return a number from 0 to 100, None where there is none; ``"50"`` is a number too.

    Raises:
        ArgumentError: something else is there.
    """
    value = arguments.get(name)
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value)
        value = int(value) if value.is_integer() else value
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _wrong(tool, name, "a number from 0 to 100", value)
    if not 0 <= value <= 100:
        raise _wrong(tool, name, "a number from 0 to 100", value)
    return value


def _wrong(tool: str, where: str, expected: str, found: object) -> ArgumentError:
    return ArgumentError(
        tool=tool, where=where, problem=f"expected {expected}, found {found!r:.80}"
    )
