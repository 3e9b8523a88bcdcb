"""Why a ``protocol`` field is refused: a newer version, another document, or neither."""

from __future__ import annotations

import re

from caesar_agent.documents.problems import describe

_PROTOCOL = re.compile(r"caesar\.([a-z]+)/v([0-9]{1,9})")


def refusal(kind: str, supported: str, found: object, *, present: bool) -> tuple[str, str]:
    """Say why a value of ``protocol`` is not the supported one.

    Args:
        kind: the document that was expected, such as ``report``.
        supported: the one value that is read, such as ``caesar.report/v1``.
        found: the value in the document.
        present: whether the field is there at all.

    Returns:
        The code (``unsupported-version``, ``other-document`` or
        ``not-a-caesar-document``) and one sentence.
    """
    wanted = f'supported is "{supported}"'
    if not present:
        return "not-a-caesar-document", f"not a caesar document: no protocol field; {wanted}"
    match = _PROTOCOL.fullmatch(found) if isinstance(found, str) else None
    if match and match[1] == kind:
        word = "a newer version" if int(match[2]) > 1 else "an unknown version"
        return "unsupported-version", f"{word} of this document: found {describe(found)}, {wanted}"
    if match:
        article = "an" if kind[0] in "aeiou" else "a"
        return (
            "other-document",
            f"a caesar {match[1]}, not {article} {kind}: found {describe(found)}, {wanted}",
        )
    if isinstance(found, str) and found.strip().lower().startswith("caesar."):
        return (
            "unsupported-version",
            f"not a version that exists: found {describe(found)}, {wanted}",
        )
    return "not-a-caesar-document", f"not a caesar document: found {describe(found)}, {wanted}"
