"""What must not, or need not, stand in a recording: secrets, folders, the task's id; pure.

Folders of this machine become placeholders such as ``{{caesar:workspace}}`` and are put
back when a recording is played back, elsewhere maybe. Secrets become placeholders that
stay.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from pytest_caesar.recordings.secret_forms import (
    hide_forms,
    hide_split,
    unwrapped,
    written,
)
from pytest_caesar.recordings.secret_variables import disguises, parts_of

_OPEN = b"{{caesar:"
_SECRET = _OPEN + b"secret:"
_NAME = re.compile(rb"\{\{caesar:(\{\{|[a-z-]+(?::[a-z0-9-]+)?\}\}|secret:[^{}\n]{1,200}\}\})?")
_BEFORE, _AFTER = rb"(?<![\w.-])", rb"(?![\w-]|\.\w)"


class PlaceError(ValueError):
    """A placeholder that nothing stands for."""


@dataclass(frozen=True, slots=True)
class _Spelling:
    """One way in which a value stands in bytes, and its placeholder."""

    raw: bytes
    placeholder: bytes
    bounded: bool


FINDERS: list[Callable[[str], Iterable[str]]] = []
"""Name what else is a secret in a text; one that raises keeps it from being recorded."""

SHORTEST_FOUND: Final = 4
"""Characters that such a secret has at least: a shorter one stands everywhere."""


def _hide_found(data: bytes) -> bytes:
    text = data.decode("utf-8", "surrogateescape")
    for finder in FINDERS:
        for secret in sorted(set(finder(text)), key=len, reverse=True):
            raw = secret.encode("utf-8", "surrogateescape")
            data = data.replace(raw, _SECRET + b"plugin}}")
    return data


class Places:
    """Puts placeholders for what varies, and back.

    Args:
        folders: absolute paths by name; the longest goes first where one lies in another.
        task_id: id of the task.
        secrets: values by the name of their variable.
    """

    def __init__(
        self, folders: Mapping[str, str], *, task_id: str, secrets: Mapping[str, str]
    ) -> None:
        found = [_Spelling(_OPEN, _OPEN + b"{{", bounded=False)]
        for name, value in secrets.items():
            placeholder = f"{{{{caesar:secret:{_plain(name)}}}}}".encode()
            for part in parts_of(value):
                found += [_Spelling(raw, placeholder, bounded=False) for raw in disguises(part)]
        self._written = [
            (written(part), part, f"{{{{caesar:secret:{_plain(name)}}}}}".encode())
            for name, value in secrets.items()
            for part in sorted(parts_of(value), key=len, reverse=True)
        ]
        self._values = {name.encode(): os.fsencode(path) for name, path in folders.items()}
        self._values[b"task-id"] = task_id.encode()
        shown: dict[bytes, bytes] = {}
        for name, path in folders.items():
            if len(path.strip("/")) > 1:
                for raw, kind in _spellings(path):
                    found.append(_Spelling(raw, _placeholder(name, kind), bounded=True))
        for raw, kind in _spellings(task_id):
            found.append(_Spelling(raw, _placeholder("task-id", kind), bounded=True))
        for spelling in sorted(found, key=lambda item: -len(item.raw)):
            shown.setdefault(spelling.raw, spelling.placeholder)
        self._shown = shown
        self._bounded = frozenset(one.raw for one in found if one.bounded)
        self._free = frozenset(one.raw for one in found if not one.bounded)

    def hide(self, data: bytes) -> bytes:
        """Return bytes with placeholders; ``show`` gives them back, but for secrets."""
        # Most of it is in none of the files, and looking for a word is far quicker than a pattern.
        present = [raw for raw in self._shown if raw in data]
        if present:
            data = self._pattern(present).sub(lambda match: self._shown[match[0]], data)
        flat = unwrapped(data) if self._written else b""
        for finder, part, placeholder in self._written:
            if finder.may_stand_in(data, flat):
                data = finder.replace(data, placeholder)
            data = hide_split(data, part, placeholder)
        data = hide_forms(data, _SECRET + b"%s}}")
        return _hide_found(data) if FINDERS else data

    def show(self, data: bytes) -> bytes:
        """Put back what placeholders stand for, here and now.

        Raises:
            PlaceError: there is no such placeholder.
        """
        return _NAME.sub(self._put_back, data)

    def secret_in(self, data: bytes) -> str | None:
        """Return the name of the variable whose value stands in bytes, or None."""
        for raw, placeholder in self._shown.items():
            if placeholder.startswith(_SECRET) and raw in data:
                return placeholder[len(_SECRET) : -2].decode()
        for finder, _, placeholder in self._written:
            if finder.stands_in(data):
                return placeholder[len(_SECRET) : -2].decode()
        return None

    def hide_value(self, value: Any) -> Any:
        """Hide in every text of a JSON value."""
        return _mapped(value, self.hide)

    def show_value(self, value: Any) -> Any:
        """Show in every text of a JSON value."""
        return _mapped(value, self.show)

    def _pattern(self, present: Iterable[bytes]) -> re.Pattern[bytes]:
        """Return what finds values, the longest first; folders and ids only as whole words."""
        parts = []
        for raw in present:
            if raw in self._bounded and raw not in self._free:
                parts.append(_BEFORE + re.escape(raw) + _AFTER)
            else:
                parts.append(re.escape(raw))
        return re.compile(b"|".join(parts))

    def _put_back(self, match: re.Match[bytes]) -> bytes:
        inside = match[1]
        if inside == b"{{":
            return _OPEN
        if inside is not None and inside.startswith(b"secret:"):
            return match[0]
        name, _, kind = (inside or b"")[:-2].partition(b":")
        value = self._values.get(name)
        if value is None or kind not in _KINDS:
            message = f"there is no placeholder {match[0].decode('utf-8', 'replace')!r}"
            raise PlaceError(message)
        return _KINDS[kind](value)


def _ascii_json(raw: bytes) -> bytes:
    return json.dumps(os.fsdecode(raw))[1:-1].encode()


_KINDS: dict[bytes, Callable[[bytes], bytes]] = {
    b"": lambda raw: raw,
    b"json": _ascii_json,
    b"slashes": lambda raw: raw.replace(b"/", b"\\/"),
    b"quoted": lambda raw: quote(raw).encode(),
    b"utf-16-le": lambda raw: os.fsdecode(raw).encode("utf-16-le", "surrogatepass"),
    b"utf-16-be": lambda raw: os.fsdecode(raw).encode("utf-16-be", "surrogatepass"),
}
"""How a path or an id may be spelled."""


def _spellings(text: str) -> Iterable[tuple[bytes, str]]:
    raw = os.fsencode(text)
    seen = set()
    for kind, spell in _KINDS.items():
        spelled = spell(raw)
        if spelled not in seen:
            seen.add(spelled)
            yield spelled, kind.decode()


def _placeholder(name: str, kind: str) -> bytes:
    return f"{{{{caesar:{name}{':' if kind else ''}{kind}}}}}".encode()


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:200]


def _mapped(value: Any, change: Callable[[bytes], bytes]) -> Any:
    if isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
        return change(data).decode("utf-8", "surrogatepass")
    if isinstance(value, dict):
        return {key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(item, change) for item in value]
    return value
