"""What the documents of va-agent-protocol share: closed objects, wire names, strict nulls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic import ConfigDict, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from caesar_agent.documents.base import Document, Part, as_document_error
from caesar_agent.documents.problems import describe
from caesar_agent.errors import DocumentError

if TYPE_CHECKING:
    from typing_extensions import Self

PROTOCOL: Final = "va-agent-protocol"
"""What the field ``protocol`` of every message says."""

VERSION: Final = "0.1.0"
"""The version of the protocol that is written. Source: its four schemas."""

WIRE: Final = {"wire": True}
"""Context of a validation of decoded JSON, where null is a value and no absence."""


class ClosedPart(Part):
    """A part of a document that holds no other fields than the listed ones.

    In Python, fields have Python's spelling (``task_id``) and None stands for absent;
    in JSON they have the schema's (``taskId``), and null is refused.
    """

    model_config = ConfigDict(
        extra="forbid",
        alias_generator=to_camel,
        validate_by_alias=False,
        validate_by_name=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: object) -> object:
        """Take the place of what the other protocol does with nulls."""
        return value

    def dump(self) -> dict[str, Any]:
        """Return the JSON value: wire names, defaults filled in, what is absent left out."""
        return dump_closed(self)


class ClosedDocument(ClosedPart, Document):
    """A whole document of the protocol."""

    # Of several bases the last one's configuration would win.
    model_config = ClosedPart.model_config

    @classmethod
    def from_value(cls, value: object) -> Self:
        """Validate a decoded JSON value, whose fields have the schema's names.

        Raises:
            DocumentError: a field is missing, wrong or unknown.
        """
        if isinstance(value, cls):
            return value
        if not isinstance(value, dict):
            problem = f"expected an object, found {describe(value)}"
            raise DocumentError(kind=cls.kind, code="not-an-object", where="", problem=problem)
        try:
            return cls.model_validate(value, by_alias=True, by_name=False, context=WIRE)
        except ValidationError as error:
            raise as_document_error(cls.kind, error) from None


def dump_closed(part: ClosedPart) -> dict[str, Any]:
    """Return the JSON value of a part, under the names that the schema has."""
    fields = type(part).model_fields
    return {
        fields[name].alias or name: _dump(item)
        for name, item in part.__dict__.items()
        if item is not None
    }


def _dump(value: Any) -> Any:
    if isinstance(value, ClosedPart):
        return dump_closed(value)
    if isinstance(value, tuple | list):
        return [_dump(item) for item in value]
    if isinstance(value, dict):
        return {key: _dump(item) for key, item in value.items()}
    return value
