"""Errors of the SDK: one base, one class for each thing that a caller does differently.

Facts are attributes, the text is made from them, and every error survives pickling.
"""

from __future__ import annotations

from typing import Any


class CaesarError(Exception):
    """Base of every error that this project raises on purpose.

    Subclasses take keyword arguments only, keep them as attributes and build
    their text in ``message()``.
    """

    def __init__(self, **facts: Any) -> None:
        self._facts = facts
        for name, value in facts.items():
            setattr(self, name, value)
        super().__init__(self.message())

    def message(self) -> str:
        """Say what was found, where, what was expected, and what to do."""
        return str(self._facts.get("text", type(self).__name__))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self._facts))


def _rebuild(cls: type[CaesarError], facts: dict[str, Any]) -> CaesarError:
    return cls(**facts)


class DocumentError(CaesarError):
    """A document is not what the contract says.

    Attributes:
        kind: ``task``, ``report``, ``event``, ``question`` or ``answer``.
        code: stable code of the diagnostic, such as ``not-json`` or ``wrong-type``.
        where: path of the field (``changes[0].path``), or "" for the whole document.
        problem: what was found and what was expected.
    """

    kind: str
    code: str
    where: str
    problem: str

    def message(self) -> str:
        place = f" at {self.where}" if self.where else ""
        return f"invalid {self.kind}{place}: {self.problem}"


class UnsupportedVersionError(DocumentError):
    """The ``protocol`` field is missing, unknown, or of another version.

    Attributes:
        found: the value of ``protocol`` as it stands in the document, or None.
        expected: the version this reader supports.
    """

    found: object
    expected: str
