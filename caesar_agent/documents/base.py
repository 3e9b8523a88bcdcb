"""What all documents share: strict reading, round trips, errors that name the field."""

from __future__ import annotations

import json
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from caesar_agent.errors import DocumentError, UnsupportedVersionError

Model = TypeVar("Model", bound="Document")


class Part(BaseModel):
    """A part of a document; unknown fields are kept."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True, strict=True)


class Document(Part):
    """A whole document, with its kind and protocol version."""

    kind: ClassVar[str]
    version: ClassVar[str]

    @classmethod
    def parse(cls: type[Model], text: bytes | str) -> Model:
        """Read one document from JSON text.

        Raises:
            UnsupportedVersionError: ``protocol`` is not exactly this version.
            DocumentError: not JSON, or a field is missing or wrong.
        """
        try:
            value = json.loads(text)
        except ValueError as error:
            raise DocumentError(
                kind=cls.kind, code="not-json", where="", problem=str(error)
            ) from error
        return cls.from_value(value)

    @classmethod
    def from_value(cls: type[Model], value: object) -> Model:
        """Validate a decoded JSON value; errors as for ``parse``."""
        if isinstance(value, dict) and value.get("protocol") != cls.version:
            raise UnsupportedVersionError(
                kind=cls.kind,
                code="unsupported-version",
                where="protocol",
                problem=f"found {value.get('protocol')!r}, supported is {cls.version!r}",
                found=value.get("protocol"),
                expected=cls.version,
            )
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise DocumentError(
                kind=cls.kind, code="wrong-type", where=where, problem=first["msg"]
            ) from error

    def dump(self) -> dict[str, Any]:
        """Return the JSON value, with defaults filled in and unset optional fields left out."""
        return self.model_dump(mode="json", exclude_none=True)

    def to_json(self) -> str:
        """Return the document as it is written to a file: 2-space JSON and a newline."""
        return json.dumps(self.dump(), indent=2, ensure_ascii=False) + "\n"
