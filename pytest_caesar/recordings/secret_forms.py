r"""How secrets may be written in bytes, and what secrets look like that nobody named; pure.

The forms of well-known tokens follow the public rules of detect-secrets and gitleaks.
"""

from __future__ import annotations

import base64
import functools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_WRAP: Final = rb"(?:\\*\r?\n|(?:\\+r)?\\+n)?"
"""A line break that a terminal, base64 or a logger puts in, as it is or escaped."""

_ENTITIES: Final = {"&": b"amp", "<": b"lt", ">": b"gt", '"': b"quot", "'": b"apos"}

MIN_RUN: Final = 4
"""Letters and digits of a secret that nearly every encoding leaves as they are."""

_ESCAPED: Final = re.compile(
    rb"(?:\\+u00[0-9a-fA-F]{2}|\\+x[0-9a-fA-F]{2}|&(?:amp;)?#x?[0-9a-fA-F]{1,6};|%(?:25)?[0-9a-fA-F]{2}){3}"
)
"""What stands in texts in which letters are escaped too."""


class WrittenSecret:
    """Finds one secret however tools around agents write it.

    As it is, percent-encoded in both cases and once more, in JSON and JSON in JSON, as
    HTML, as Python and shells quote it, in hexadecimal, in base64 (also of base64), each
    broken over lines or not.

    Args:
        secret: the value.
    """

    def __init__(self, secret: str) -> None:
        text = secret.strip()
        raw = text.encode("utf-8", "surrogateescape")
        runs = re.findall(rb"[A-Za-z0-9]{%d,}" % MIN_RUN, raw)
        self._run = max(runs, key=len, default=b"")[:12]
        self._encoded = tuple(dict.fromkeys(_encodings(raw)))
        self._text = text

    @functools.cached_property
    def _pattern(self) -> re.Pattern[bytes]:
        bodies = [_WRAP.join(_character(char) for char in self._text)]
        bodies += [_WRAP.join(re.escape(bytes([byte])) for byte in form) for form in self._encoded]
        return re.compile(b"|".join(bodies))

    def may_stand_in(self, data: bytes, unwrapped: bytes) -> bool:
        """Tell cheaply whether it is worth looking for.

        Args:
            data: where.
            unwrapped: the same without line breaks.
        """
        return (
            self._run in unwrapped
            or any(form in unwrapped for form in self._encoded)
            or _ESCAPED.search(data) is not None
        )

    def replace(self, data: bytes, placeholder: bytes) -> bytes:
        """Return the data with the secret replaced."""
        return self._pattern.sub(lambda _: placeholder, data)

    def stands_in(self, data: bytes) -> bool:
        """Tell whether the secret is there, in whatever writing."""
        return self.may_stand_in(data, unwrapped(data)) and self._pattern.search(data) is not None


@functools.lru_cache(maxsize=256)
def written(secret: str) -> WrittenSecret:
    """Return what finds a secret; several recordings of one session look for the same ones."""
    return WrittenSecret(secret)


def unwrapped(data: bytes) -> bytes:
    """Return data without line breaks, real and escaped ones."""
    return re.sub(rb"\\*\r?\n|(?:\\+r)?\\+n", b"", data)


def _character(char: str) -> bytes:
    raw = char.encode("utf-8", "surrogateescape")
    code = ord(char)
    percent = b"".join(b"%%(?:25)?%02x" % byte for byte in raw)
    forms = [
        rb"\\*" + re.escape(raw),
        b"(?i:" + percent + b")",
        rb"(?i:\\+u%04x)" % code if code < 0x10000 else rb"(?i:\\+U%08x)" % code,
        rb"&(?:amp;)?#(?:0*%d|(?i:x0*%x));" % (code, code),
    ]
    if code < 0x100:
        forms.append(rb"(?i:\\+x%02x)" % code)
    if char in _ENTITIES:
        forms.append(b"&(?:amp;)?" + _ENTITIES[char] + b";")
    if char == " ":
        forms.append(rb"\+")
    if char == "'":
        forms += [rb"'\\+''", rb"'\"'\"'"]
    return b"(?:" + b"|".join(forms) + b")"


def _encodings(raw: bytes) -> Iterator[bytes]:
    yield raw.hex().encode()
    yield raw.hex().upper().encode()
    for inner in _within_base64(raw):
        yield inner
        yield from _within_base64(inner)


def _within_base64(raw: bytes) -> Iterator[bytes]:
    """Yield what base64 makes of bytes wherever they stand in what is encoded."""
    for before in range(3):
        padded = bytes(before) + raw + bytes(-(before + len(raw)) % 3)
        own = slice(-(-8 * before // 6), 8 * (before + len(raw)) // 6)
        yield base64.b64encode(padded)[own]
        yield base64.urlsafe_b64encode(padded)[own]


@dataclass(frozen=True, slots=True)
class Form:
    """What a kind of secret looks like.

    Attributes:
        name: of the kind, for the placeholder.
        pattern: finds it; its first group, if it has one, is the secret.
        hints: byte strings, one of which stands in whatever it finds.
    """

    name: str
    pattern: re.Pattern[bytes]
    hints: tuple[bytes, ...]


def _form(name: str, pattern: bytes, *hints: bytes) -> Form:
    return Form(name, re.compile(pattern), hints)


_B, _E = rb"(?<![A-Za-z0-9_])", rb"(?![A-Za-z0-9_-])"

FORMS: Final = (
    _form("private-key", rb"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----.{1,20000}?"
          rb"-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----".replace(b".{", rb"[\s\S]{"),
          b"PRIVATE KEY"),
    _form("github-token", _B + rb"(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255})" + _E,
          b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_", b"github_pat_"),
    _form("gitlab-token", _B + rb"gl(?:pat|dt|rt|cbt|ptt|ft|imt|oas|soat|agent)-[\w-]{20,}", b"gl"),
    _form("model-key", _B + rb"(?:sk-(?:proj-|ant-|svcacct-|admin-|or-)?[\w-]{20,}|gsk_\w{40,}"
          rb"|xai-\w{40,}|hf_[A-Za-z0-9]{30,}|r8_\w{30,})", b"sk-", b"gsk_", b"xai-", b"hf_", b"r8_"),
    _form("aws-key", _B + rb"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}" + _E,
          b"AKIA", b"ASIA", b"ABIA", b"ACCA"),
    _form("aws-secret", rb"(?i:aws_?(?:secret_?)?(?:access_?)?key)[\"']?\s{0,3}[=:]\s{0,3}[\"']?"
          rb"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])", b"aws", b"AWS"),
    _form("google-key", _B + rb"(?:AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{28})" + _E,
          b"AIza", b"ya29.", b"GOCSPX-"),
    _form("azure-key", rb"(?i:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,90}={0,2})",
          b"AccessKey=", b"AccountKey="),
    _form("slack-token", _B + rb"xox[abeoprs]-[\w-]{10,}|xapp-\d-[\w-]{10,}"
          rb"|(?<=hooks\.slack\.com/services/)T\w{6,}/B\w{6,}/\w{16,}",
          b"xox", b"xapp-", b"hooks.slack.com"),
    _form("stripe-key", _B + rb"(?:[srp]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}",
          b"k_live_", b"k_test_", b"whsec_"),
    _form("package-token", _B + rb"(?:npm_[A-Za-z0-9]{36}|pypi-AgEI[\w-]{50,}|rubygems_[a-f0-9]{48}"
          rb"|dckr_pat_[\w-]{20,})", b"npm_", b"pypi-", b"rubygems_", b"dckr_pat_"),
    _form("service-token", _B + rb"(?:SG\.[\w-]{16,}\.[\w-]{16,}|SK[0-9a-f]{32}|key-[0-9a-f]{32}"
          rb"|do[opr]_v1_[a-f0-9]{64}|hv[sbr]\.[\w-]{24,}|dapi[a-f0-9]{32}|sq0[a-z]{3}-[\w-]{22,}"
          rb"|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|lin_api_\w{32,}|AGE-SECRET-KEY-1[0-9A-Z]{58})",
          b"SG.", b"SK", b"key-", b"_v1_", b"hvs.", b"hvb.", b"hvr.", b"dapi", b"sq0", b"shp",
          b"lin_api_", b"AGE-SECRET"),
    _form("telegram-token", _B + rb"\d{8,10}:AA[\w-]{33}" + _E, b":AA"),
    _form("jwt", _B + rb"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*", b"eyJ"),
    _form("url-password", rb"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"'<>{}]{0,100}:"
          rb"([^\s/@\"'<>{}$]{3,200})@", b"://"),
    _form("header", rb"(?i:authorization|x-api-key|x-auth-token|private-token)[\\\"']{0,4}\s{0,3}[:=]"
          rb"\s{0,3}[\\\"']{0,4}(?i:(?:bearer|basic|token|digest)\s{1,3})?"
          rb"(?!(?i:bearer|basic|token)\b)([A-Za-z0-9._~+/-]{12,}={0,2})",
          b"uthorization", b"UTHORIZATION", b"pi-key", b"pi-Key", b"API-K", b"oken", b"OKEN"),
    _form("connection-string", rb"(?i:password|pwd)=([^;\s\"'{}]{6,200});"
          rb"|;\s{0,3}(?i:password|pwd)=([^;\s\"'{}]{6,200})", b"="),
)  # fmt: skip
"""What is known by its look. Source: the rules of detect-secrets and gitleaks, shortened."""


def hide_forms(data: bytes, placeholder: bytes) -> bytes:
    """Replace what looks like a secret, whoever named it.

    Args:
        data: anything; what is a placeholder already stays.
        placeholder: with ``%s`` where the name of the kind goes.
    """
    for form in FORMS:
        if any(hint in data for hint in form.hints):
            shown = placeholder % form.name.encode()
            data = form.pattern.sub(lambda match, shown=shown: _without(match, shown), data)  # type: ignore[misc]
    return data


def forms_in(data: bytes) -> tuple[str, ...]:
    """Return the kinds of secrets that data seems to hold."""
    return tuple(
        form.name
        for form in FORMS
        if any(hint in data for hint in form.hints) and form.pattern.search(data)
    )


def _without(match: re.Match[bytes], placeholder: bytes) -> bytes:
    if b"{{caesar:" in match[0]:
        return match[0]
    number = match.lastindex or 0
    start, end = (position - match.start() for position in match.span(number))
    return match[0][:start] + placeholder + match[0][end:]


def hide_split(data: bytes, secret: str, placeholder: bytes) -> bytes:
    """Replace a secret that a stream of JSON lines carries in pieces, a few letters a line.

    The first piece becomes the placeholder, the others nothing.
    """
    if not data.lstrip().startswith(b"{"):
        return data
    lines = data.split(b"\n")
    pieces: dict[str, list[tuple[int, str]]] = {}
    for number, line in enumerate(lines):
        try:
            value = json.loads(line) if line.startswith(b"{") else None
        except (ValueError, RecursionError):
            continue
        for path, text in _leaves(value):
            pieces.setdefault(path, []).append((number, text))
    for parts in pieces.values():
        _hide_pieces(lines, parts, secret, placeholder)
    return b"\n".join(lines)


def _hide_pieces(
    lines: list[bytes], parts: list[tuple[int, str]], secret: str, placeholder: bytes
) -> None:
    whole = "".join(text for _, text in parts)
    at = whole.find(secret)
    while at >= 0:
        end, start, shown = at + len(secret), 0, placeholder
        for number, text in parts:
            low, high = max(at - start, 0), min(end - start, len(text))
            start += len(text)
            if low < high and text[low:high] != secret:
                for ascii_only in (True, False):
                    old = json.dumps(text, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
                    if old in lines[number]:
                        before, after = (
                            json.dumps(one, ensure_ascii=ascii_only)[1:-1].encode(
                                "utf-8", "surrogatepass"
                            )
                            for one in (text[:low], text[high:])
                        )
                        new = b'"' + before + shown + after + b'"'
                        lines[number] = lines[number].replace(old, new, 1)
                        shown = b""
                        break
        at = whole.find(secret, end)


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    pending: list[tuple[object, str]] = [(value, path)]
    while pending:
        item, where = pending.pop()
        if isinstance(item, str):
            yield where, item
        elif isinstance(item, dict):
            pending += [(child, f"{where}/{name}") for name, child in item.items()]
        elif isinstance(item, list):
            pending += [(child, f"{where}/") for child in item]
