"""What all documents share: strict reading, round trips, errors that name the field."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.decoding import decode
from caesar_agent.documents.layout import readable
from caesar_agent.documents.problems import as_document_error, describe
from caesar_agent.documents.versions import refusal
from caesar_agent.errors import DocumentError, FieldProblem, UnsupportedVersionError

__all__ = ["Document", "Flagged", "Model", "Part", "as_document_error", "dump_part"]

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

Model = TypeVar("Model", bound="Document")

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Part(BaseModel):
    """A part of a document.

    Fields that the contract does not know are kept, as ``model_extra``. ``null``
    for a field that may be absent means that it is absent.
    """

    model_config = ConfigDict(
        extra="allow", frozen=True, strict=True, defer_build=True, allow_inf_nan=False
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: object) -> object:
        if isinstance(value, dict) and None in value.values():
            optional = _optional_fields(cls)
            return {
                name: item
                for name, item in value.items()
                if item is not None or name not in optional
            }
        return value

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Leave out what is at its default: a failing test shows what a document says."""
        known = type(self).model_fields
        for name, value in super().__repr_args__():
            field = known.get(name or "")
            if field is None or value != field.get_default(call_default_factory=True):
                yield name, value


@functools.cache
def _optional_fields(part: type[Part]) -> frozenset[str]:
    return frozenset(name for name, field in part.model_fields.items() if not field.is_required())


@dataclass(frozen=True, slots=True)
class Flagged(Generic[Model]):
    """A document that was read, and what is odd about it.

    Attributes:
        document: what was read.
        encoding: how it was encoded, as in ``decoding.Decoded``.
        diagnostics: ``byte-order-mark``, ``unusual-encoding`` and
            ``path-with-nul``; empty for nearly every document.
    """

    document: Model
    encoding: str
    diagnostics: tuple[Diagnostic, ...]


class Document(Part):
    """A whole document, with its kind and protocol version.

    Attributes:
        kind: ``task``, ``report``, ``event``, ``question`` or ``answer``.
        version: what its ``protocol`` field says; "" for documents without one.
    """

    kind: ClassVar[str]
    version: ClassVar[str]

    @classmethod
    def parse(cls, text: bytes | str) -> Self:
        """Read one document from JSON text.

        Raises:
            UnsupportedVersionError: ``protocol`` is not exactly this version.
            DocumentError: not JSON, or a field is missing or wrong.
        """
        return cls.from_value(decode(text, kind=cls.kind).value)

    @classmethod
    def parse_flagged(cls, text: bytes | str) -> Flagged[Self]:
        """Read as ``parse`` does, and say what is odd about a document that is valid."""
        decoded = decode(text, kind=cls.kind)
        document = cls.from_value(decoded.value)
        encoding = tuple(
            Diagnostic(code=flag, message=_ENCODING_FLAGS[flag].format(encoding=decoded.encoding))
            for flag in decoded.flags
        )
        return Flagged(document, decoded.encoding, (*encoding, *document.remarks()))

    @classmethod
    def from_value(cls, value: object) -> Self:
        """Validate a decoded JSON value; errors as for ``parse``."""
        if isinstance(value, dict):
            if cls.version and value.get("protocol") != cls.version:
                raise _unsupported(cls, value)
        elif not isinstance(value, cls):
            problem = f"expected an object, found {describe(value)}"
            raise DocumentError(kind=cls.kind, code="not-an-object", where="", problem=problem)
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise as_document_error(cls.kind, error) from None

    def remarks(self) -> tuple[Diagnostic, ...]:
        """Say what is valid and yet cannot be meant; nothing for most documents."""
        return ()

    def dump(self) -> dict[str, Any]:
        """Return the JSON value: defaults filled in, optional fields without a value left out.

        Fields that the contract does not know stand last, as they were read.
        """
        return dump_part(self)

    def to_json(self) -> str:
        """Return the document as it is written to a file: 2-space JSON and a newline.

        Raises:
            DocumentError: an unknown field holds NaN or Infinity, which only a
                program can have put there.
        """
        return _encode(self, indent=2) + "\n"

    def to_line(self) -> str:
        """Return the document on one line, without a newline."""
        return _encode(self, indent=None)


_ENCODING_FLAGS = {
    "byte-order-mark": "a byte order mark stands before the document; it was skipped",
    "unusual-encoding": "the document is written in {encoding}, not in UTF-8; it was read as such",
}


def _unsupported(document: type[Document], value: dict[str, Any]) -> UnsupportedVersionError:
    found = value.get("protocol")
    code, problem = refusal(document.kind, document.version, found, present="protocol" in value)
    return UnsupportedVersionError(
        kind=document.kind,
        code=code,
        where="protocol",
        problem=problem,
        found=found,
        expected=document.version,
        problems=(FieldProblem(code, "protocol", problem),),
    )


def dump_part(part: Part) -> dict[str, Any]:
    """Return the JSON value of a part.

    Not pydantic's own serializer, which refuses lone surrogates and stops at a depth
    of its own in unknown fields.
    """
    value: dict[str, Any] = {}
    for name, item in part.__dict__.items():
        if isinstance(item, Part):
            value[name] = dump_part(item)
        elif isinstance(item, tuple):
            value[name] = [dump_part(entry) if isinstance(entry, Part) else entry for entry in item]
        elif item is not None:
            value[name] = item
    if part.model_extra:
        value.update(part.model_extra)
    return value


def _encode(document: Document, *, indent: int | None) -> str:
    try:
        value = document.dump()
        if indent is None:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        else:
            text = readable(value, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise DocumentError(
            kind=document.kind, code="not-a-number", where="", problem=str(error)
        ) from None
    # They cannot be encoded, but their escapes can be written and read.
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
