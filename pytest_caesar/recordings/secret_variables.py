"""Which variables of the environment hold secrets, and how a secret may stand in bytes; pure."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

MIN_SECRET = 8
"""Characters of a value that is taken for a secret; shorter ones stand everywhere by chance."""

MIN_LINE = 16
"""Characters of a line of a secret that is one by itself."""

COMMON = 10
"""Characters below which a value may stand in code by chance."""

_WORD = re.compile(r"[a-z]+\d{0,4}|[A-Z][a-z]+\d{0,4}|[A-Z]+\d{0,4}")

_NAME = re.compile(
    r"KEY(?!BOARD|MAP)|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH(?!OR)|PRIVATE|COOKIE|WEBHOOK"
    r"|(?<!BY)(?<!COM)PASS(?![A-Z])|_PWD$|(?:^|_)(?:PAT|DSN|CREDS?)$"
)
_WORDS = frozenset(
    {
        *("disabled", "required", "optional", "undefined", "anonymous", "changeme", "password"),
        *("localhost", "development", "production"),
    }
)
_ADDRESS = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://[^/@\s]*?:([^/@\s]+)@")


def secrets_of(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables whose names say that they hold a secret, and whose values can.

    A number is none: ``MAX_OUTPUT_TOKENS`` counts something. Nor is a word that says that
    there is none, and that would be missing from what the agent wrote. Of an address, whatever
    its name, the password is one.
    """
    found = {}
    for name, value in environ.items():
        secret = value if _NAME.search(name.upper()) else _password(value)
        if secret is not None and _is_significant(secret.strip()):
            found[name] = secret
    return found


def is_common(secret: str) -> bool:
    """Say whether a secret is a word that code may hold for reasons of its own.

    Cut out of code it would be missing there, and so it is told instead.
    """
    return len(secret) < COMMON or _WORD.fullmatch(secret) is not None


def parts_of(secret: str) -> list[str]:
    """Return a secret, the password in it where it is an address, and the lines of a long one.

    A key is printed, or patched, line by line.
    """
    lines = [line.strip() for line in secret.strip().splitlines()]
    password = _password(secret)
    return [
        secret,
        *(line for line in lines if len(line) >= MIN_LINE and len(lines) > 1),
        *([password] if password is not None and _is_significant(password) else []),
    ]


def disguises(secret: str) -> set[bytes]:
    """Return a secret as it is, in JSON, in an address, in UTF-16, and in any base64 around it."""
    stripped = secret.strip()
    raw = os.fsencode(stripped)
    return {
        raw,
        json.dumps(stripped)[1:-1].encode(),
        json.dumps(stripped, ensure_ascii=False)[1:-1].encode("utf-8", "surrogateescape"),
        quote(raw, safe="").encode(),
        stripped.encode("utf-16-le", "surrogatepass"),
        stripped.encode("utf-16-be", "surrogatepass"),
        base64.b64encode(raw),
        *_within_base64(raw),
    }


def _within_base64(raw: bytes) -> Iterator[bytes]:
    """Yield what base64 makes of it wherever it stands: ``user:secret`` shifts it, say."""
    for before in range(3):
        padded = bytes(before) + raw + bytes(-(before + len(raw)) % 3)
        # Of the characters at either end some bits are those of a neighbour.
        own = slice(-(-8 * before // 6), 8 * (before + len(raw)) // 6)
        yield base64.b64encode(padded)[own]
        yield base64.urlsafe_b64encode(padded)[own]


def _password(value: str) -> str | None:
    found = _ADDRESS.match(value)
    return found[1] if found else None


def _is_significant(value: str) -> bool:
    return len(value) >= MIN_SECRET and not value.isdigit() and value.lower() not in _WORDS
