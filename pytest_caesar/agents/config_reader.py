"""Strict reading of TOML tables: every complaint names file, line, key, found and expected."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any, TypeVar

from caesar_agent.console import one_line
from pytest_caesar.agents.durations import MAX_DEADLINE_MS, parse_duration
from pytest_caesar.agents.errors import ConfigError, DurationError, near_miss, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_caesar.agents.toml_lines import Lines, Path

Choice = TypeVar("Choice", bound=str)

IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


LEAST_SIZE = 16 * 1024 * 1024
"""Bytes below which no agent starts."""

_SIZES = ("KiB", "MiB", "GiB")
_SIZE = re.compile(r"([0-9]{1,12}) ?(KiB|MiB|GiB)")


class Table:
    """One table of a file that is being read."""

    def __init__(self, data: dict[str, Any], *, file: str, lines: Lines, path: Path = ()) -> None:
        self.file = file
        self._data = data
        self._lines = lines
        self._path = path

    def only(self, known: Iterable[str]) -> None:
        """Refuse keys that are not known."""
        known = tuple(known)
        for key in self._data:
            if key not in known:
                raise self.error(key, f"unknown key; known are {', '.join(known)}", str(key), known)

    def has(self, key: str) -> bool:
        """Say whether the key is there."""
        return key in self._data

    def line(self) -> int | None:
        """Return the line on which this table starts."""
        return self.line_at(self._path)

    def line_at(self, path: Path) -> int | None:
        """Return the line of a path of the whole file."""
        return self._lines.of(path)

    def error(
        self, key: str, problem: str, word: str = "", known: Iterable[str] = ()
    ) -> ConfigError:
        """Return the error about one key, with the near miss of ``word`` among ``known``."""
        path = (*self._path, key)
        return ConfigError(
            file=self.file,
            line=self.line_at(path),
            key=_dotted(path),
            problem=problem + near_miss(word, known),
        )

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def table(self, key: str) -> Table:
        """Return a table, empty when it is absent."""
        value = self._data.get(key, {})
        if not isinstance(value, dict):
            raise self._wrong(key, value, f"a table, written [{key}]")
        return Table(value, file=self.file, lines=self._lines, path=(*self._path, key))

    def tables(self, key: str) -> list[Table]:
        """Return an array of tables, empty when it is absent."""
        value = self._data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self._wrong(key, value, f"an array of tables, written [[{key}]]")
        return [
            Table(item, file=self.file, lines=self._lines, path=(*self._path, key, index))
            for index, item in enumerate(value)
        ]

    def string(self, key: str, *, required: bool = False) -> str:
        """Return a string, "" when it is absent and not required."""
        if key not in self._data:
            if required:
                raise self.error(key, "missing; expected a string")
            return ""
        value = self._data[key]
        if not isinstance(value, str):
            raise self._wrong(key, value, "a string")
        return value

    def filled(self, key: str) -> str | None:
        """Return a string that is not blank, or None when it is absent."""
        value = self.string(key)
        if key in self._data and not value.strip():
            raise self.error(key, "it is blank; expected a string with something in it")
        return value or None

    def identifier(self, key: str) -> str:
        """Return a required name of letters, digits, ``.``, ``_`` and ``-``."""
        value = self.string(key, required=True)
        if not IDENTIFIER.fullmatch(value):
            raise self.error(
                key,
                f'found {shown(value)}; expected letters, digits, ".", "_" or "-", '
                "starting with a letter or a digit",
            )
        return value

    def strings(self, key: str, *, required: bool = False) -> tuple[str, ...]:
        """Return a list of strings, empty when it is absent and not required."""
        if key not in self._data and required:
            raise self.error(key, "missing; expected a list of strings")
        value = self._data.get(key, [])
        if not isinstance(value, list):
            raise self._wrong(key, value, "a list of strings")
        for index, item in enumerate(value):
            if not isinstance(item, str):
                raise self.error(key, f"item {index} is {_kind(item)}; expected a list of strings")
        return tuple(value)

    def all_strings(self) -> dict[str, str]:
        """Return every key of this table with its string, none of them blank."""
        return {key: self.filled(key) or "" for key in self._data}

    def boolean(self, key: str, *, default: bool) -> bool:
        """Return true or false."""
        value = self._data.get(key, default)
        if not isinstance(value, bool):
            raise self._wrong(key, value, "true or false")
        return value

    def integer(self, key: str, *, at_least: int) -> int:
        """Return a whole number that is not below a bound."""
        value = self._data[key]
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(key, value, f"a whole number of at least {at_least}")
        if value < at_least:
            raise self.error(
                key, f"found {_number(value)}; expected a whole number of at least {at_least}"
            )
        return value

    def size(self, key: str) -> int:
        """Return a size in bytes: a whole number, or text such as ``512MiB``."""
        value = self._data[key]
        found = _SIZE.fullmatch(value) if isinstance(value, str) else None
        if found:
            value = int(found[1]) * 1024 ** (1 + _SIZES.index(found[2]))
        if not isinstance(value, int) or isinstance(value, bool) or value < LEAST_SIZE:
            raise self._wrong(
                key, self._data[key], "a size of at least 16MiB, such as 512MiB or 2GiB"
            )
        return value

    def choice(
        self,
        key: str,
        known: tuple[Choice, ...],
        *,
        default: Choice | None = None,
        required: bool = False,
    ) -> Choice:
        """Return one of some words."""
        expected = "one of " + ", ".join(shown(word) for word in known)
        if key not in self._data:
            if required or default is None:
                raise self.error(key, f"missing; expected {expected}")
            return default
        value = self._data[key]
        if not isinstance(value, str):
            raise self._wrong(key, value, expected)
        if value not in known:
            raise self.error(key, f"found {shown(value)}; expected {expected}", value, known)
        return value

    def duration(self, key: str, *, default: int) -> int:
        """Return a duration in milliseconds that a deadline can have."""
        if key not in self._data:
            return default
        value = self._data[key]
        try:
            duration = parse_duration(value)
        except DurationError as error:
            raise self.error(key, str(error)) from error
        if duration <= 0:
            raise self.error(key, f"found {_number(value)}; expected a duration of more than 0")
        if duration > MAX_DEADLINE_MS:
            found = shown(str(value), limit=40)
            longest = f"{MAX_DEADLINE_MS // 3_600_000}h"
            raise self.error(key, f"found {found}; expected a duration of at most {longest}")
        return duration

    def relative_path(self, key: str) -> str:
        """Return a relative path that stays where it is, "" when it is absent."""
        value = self.string(key)
        if value:
            self._check_path(key, value)
        return value

    def relative_paths(self, key: str) -> tuple[str, ...]:
        """Return paths inside the repository, none of them in ``.git`` or ``.caesar``."""
        value = self.strings(key)
        for item in value:
            self._check_path(key, item)
            first = posixpath.normpath(item).split("/", 1)[0]
            if first.lower() in {".git", ".caesar"}:
                raise self.error(
                    key, f"{shown(item)} lies in {first}, which is not for placing files"
                )
            if first == ".":
                raise self.error(key, f"{shown(item)} is the whole repository; name a path in it")
        return value

    def _check_path(self, key: str, value: str) -> None:
        if not value.strip() or "\0" in value:
            raise self.error(key, "a path is blank or holds a NUL character")
        if value.startswith("/") or ".." in value.split("/"):
            raise self.error(
                key, f"{shown(value)} leaves its folder; expected a relative path without .."
            )

    def _wrong(self, key: str, value: object, expected: str) -> ConfigError:
        return self.error(key, f"found {_kind(value)}; expected {expected}")


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, str):
        return f"the string {shown(value, limit=60)}"
    if isinstance(value, (int, float)):
        return f"the number {_number(value)}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "a table" if isinstance(value, dict) else f"a {type(value).__name__}"


def _number(value: object) -> str:
    """Return a number as it is shown: of a long one the beginning."""
    return one_line(str(value), limit=40) if not isinstance(value, str) else repr(value)


def _dotted(path: Path) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return one_line(text)
