"""Recognise the brief, and the example in it, wherever an agent or its CLI repeats it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from caesar_agent.documents.decoding import decode
from caesar_agent.errors import DocumentError
from pytest_caesar.recovery.decoding import canonical
from pytest_caesar.recovery.example import example
from pytest_caesar.recovery.scanning import Span, Survey

_COLOUR = re.compile(rb"\x1b\[[0-9;?]{0,32}[ -/]{0,8}[@-~]")
_NOISE = b" \t\n\r\v\f\\"
"""What a wrapping adds beside colours: white space, the backslashes of JSON strings."""

_MARKUP = ((b"&lt;", b"<"), (b"&gt;", b">"), (b"&amp;", b"&"))
"""What XML makes of a brief that stands in it; quotes may stay as they are."""

_WRAPPING = 16
"""How much longer than the brief an echo of all of it may be; longer text is no echo."""

_SPECIFIC = 4
"""Bytes of a summary that must agree before a fragment counts as an echo."""

_AGREEING = 16
"""Bytes after a fragment that must agree where it has no summary."""

_FOLLOWING = 256
"""Bytes after a fragment that are compared, wrapping included."""

_BLANKS = re.compile(r"\s|\\[nrt]")

_SUMMARY = re.compile(rb'"summary":')
_PLACEHOLDER = frozenset({"…", "...", ".", "<summary>", "summary"})


@dataclass(frozen=True, slots=True)
class Echo:
    """What an echo of one brief looks like.

    Attributes:
        values: canonical JSON of the objects that the brief shows, without white space.
        texts: the brief and the example of this project, without white space.
        lines: their lines, without white space, as a suffix test takes them.
        summaries: those of them that give, or describe, a summary.
        size: length of the longer of the two, in bytes.
    """

    values: frozenset[str]
    texts: tuple[bytes, ...]
    lines: tuple[bytes, ...]
    summaries: tuple[bytes, ...]
    size: int

    def is_shown(self, value: object) -> bool:
        """Say whether the brief shows this very object, or whether it is a bare placeholder."""
        if isinstance(value, dict):
            summary = value.get("summary")
            if isinstance(summary, str) and summary.strip() in _PLACEHOLDER:
                return True
        # A wrapping that was joined again has lost, or gained, blanks within the strings.
        return bool(self.values) and _without_blanks(canonical(value)) in self.values

    def holds(self, excerpt: bytes, following: bytes = b"") -> bool:
        """Say whether text that is not a report is a piece of the brief, in any wrapping.

        O(len(brief)) for a given number of wrappings.

        Args:
            excerpt: as much of it as looked like a report.
            following: some of the text after it.
        """
        if len(excerpt) > _WRAPPING * self.size:
            return False
        squeezed = _squeezed(excerpt)
        if not squeezed.startswith(b"{"):
            # An opening line with prose after it: the brief says how to report.
            return any(squeezed in text for text in self.texts)
        goes_on = _squeezed(following[:_FOLLOWING])
        agrees = any(_agrees(text, squeezed, goes_on) for text in self.texts)
        return agrees or self._quotes(excerpt + following)

    def _quotes(self, text: bytes) -> bool:
        """Say whether every line ends like one of the brief, each after a prefix of its own.

        Up to the summary, which is what a brief's example and a report differ in.
        """
        lines = [line for line in map(_squeezed, text.split(b"\n")) if line]
        for number, line in enumerate(lines):
            if not line.endswith(self.lines):
                return False
            if number and _SUMMARY.search(line):
                return line.endswith(self.summaries)
        return False


def _agrees(text: bytes, excerpt: bytes, goes_on: bytes) -> bool:
    """Say whether an excerpt stands in the brief, and does so by more than its first words."""
    start = text.find(excerpt)
    if start < 0:
        return False
    specific = _SUMMARY.search(excerpt)
    if specific is not None and len(excerpt) - specific.end() >= _SPECIFIC:
        return True
    rest = text[start + len(excerpt) :][:_AGREEING]
    return len(rest) == _AGREEING and goes_on.startswith(rest)


def echo_of(brief: str | None, *, task_id: str = "") -> Echo:
    """Prepare to recognise ``brief``; None when it is not known. O(len(brief))."""
    known = [example(task_id).encode("utf-8", "surrogatepass")]
    if brief:
        known.append(brief.encode("utf-8", "surrogatepass"))
    values: set[str] = set()
    for text in known[1:]:
        survey = Survey(text)
        values.update(_canonical_text(survey.excerpt(span)) for span in _all_spans(survey))
    values = {_without_blanks(text) for text in values if text}
    lines = {_squeezed(line) for text in known for line in text.split(b"\n")}
    lines.discard(b"")
    return Echo(
        values=frozenset(values),
        texts=tuple(_squeezed(text) for text in known),
        lines=tuple(sorted(lines)),
        summaries=tuple(sorted(line for line in lines if _SUMMARY.search(line))),
        size=max(len(text) for text in known),
    )


def _without_blanks(text: str) -> str:
    return _BLANKS.sub("", text)


def _squeezed(text: bytes) -> bytes:
    if b"&" in text:
        for escaped, plain in _MARKUP:
            text = text.replace(escaped, plain)
    return _COLOUR.sub(b"", text).translate(None, _NOISE)


def _canonical_text(excerpt: bytes) -> str:
    try:
        return canonical(decode(excerpt).value)
    except DocumentError:
        return ""


def _all_spans(survey: Survey) -> list[Span]:
    spans = list(survey.objects_backwards())
    for block in survey.blocks_backwards():
        spans.extend(block.spans)
    return spans
