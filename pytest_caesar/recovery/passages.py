"""Which texts of a log count as the agent's own words."""

from __future__ import annotations

import codecs
from array import array
from collections import deque
from dataclasses import dataclass, replace

from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.recovery.candidates import Passage
from pytest_caesar.recovery.colours import Colourless
from pytest_caesar.recovery.evidence import Evidence
from pytest_caesar.recovery.streams.dialects import DIALECTS, detect, translate
from pytest_caesar.recovery.unwrapping import declares, texts, wrapped_lines

PLAIN = "plain"
"""Name of the dialect that is none."""

MAX_WRAPPED = 10_000
"""Strings of JSON lines that are looked into, the last ones; bounds the memory of recovery."""


_MARKS = (
    # UTF-32 first: its little-endian mark begins with the one of UTF-16.
    ((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "UTF-32"),
    ((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "UTF-16"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A log, read.

    Attributes:
        dialect: its native stream, or ``plain``.
        passages: the agent's own words, in the order in which they were printed.
        final: its structured or last message, when the stream marks one.
        last_words: its last message, to be quoted; "" when the log is plain.
        failed: why the stream says, or shows, that the agent did not come to its end.
        others_words: a report stands in the log where others' words stand.
        diagnostics: what was strange.
        colourless: the plain log whose text the passages are.
    """

    dialect: str
    passages: tuple[Passage, ...]
    final: str | None = None
    last_words: str = ""
    failed: str | None = None
    others_words: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()
    colourless: Colourless | None = None

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Return where a piece of a passage stands in the log, in bytes."""
        return self.colourless.locate(start, end) if self.colourless else (start, end)


def read_log(evidence: Evidence) -> Script:
    """Read the log, and the message file of the program where there is one. O(len of both)."""
    log, transcoded = _as_utf8(evidence.raw_log)
    dialect = evidence.dialect or detect(log) or PLAIN
    script = _native(dialect, log) if dialect in DIALECTS else _plain(log, verbatim=not transcoded)
    diagnostics = script.diagnostics
    if dialect != PLAIN and dialect not in DIALECTS:
        known = ", ".join((*DIALECTS, PLAIN))
        unknown = f"there is no dialect of this name; known are {known}; the log was read as plain"
        diagnostics += (Diagnostic(code="dialect-unknown", message=unknown, path="raw.log"),)
    if transcoded:
        said = (
            f"the log says that it is {transcoded}, and was read as that; offsets are of its text"
        )
        diagnostics += (Diagnostic(code="log-encoding", message=said, path="raw.log"),)
    passages, last_words = script.passages, script.last_words
    final = evidence.final_message
    if final and final.strip() and not (passages and passages[-1].text.strip() == final.strip()):
        passages += (Passage(text=final, start=len(log), end=len(log)),)
        last_words = final.decode("utf-8", "replace")
    return replace(script, passages=passages, last_words=last_words, diagnostics=diagnostics)


def _as_utf8(log: bytes) -> tuple[bytes, str]:
    """Return the log in UTF-8 without a mark, and the name of its encoding when it was another."""
    if log.startswith(codecs.BOM_UTF8):
        # Blanks, so that offsets stay and a block may open on the first line.
        return log.replace(codecs.BOM_UTF8, b"   ", 1), ""
    for marks, encoding in _MARKS:
        if log.startswith(marks):
            return log.decode(encoding, "replace").encode("utf-8", "surrogatepass"), encoding
    return log, ""


def _native(dialect: str, log: bytes) -> Script:
    reading = translate(dialect, log, words_only=True)
    own = reading.own_texts
    passages = tuple(
        Passage(text=said.text.encode("utf-8", "surrogatepass"), start=said.start, end=said.end)
        for said in own
    )
    return Script(
        dialect=dialect,
        passages=passages,
        final=reading.final,
        last_words=own[-1].text if own else "",
        failed=reading.failed if log.strip() else None,
        others_words=b"caesar.report/" in log or b"caesar:report" in log,
        diagnostics=reading.diagnostics,
    )


def _plain(log: bytes, *, verbatim: bool) -> Script:
    """Read plain output: the text itself, and the strings of JSON lines in it."""
    colourless = Colourless(log)
    log = colourless.text
    wrapped: deque[Passage] = deque(maxlen=MAX_WRAPPED)
    excluded: array[int] = array("q")
    others = False
    for start, end, value in wrapped_lines(log):
        if declares(value):
            continue
        found = list(texts(value))
        nested = [text for text in found if not text.escaped]
        others = others or not all(text.own for text in found)
        if not all(text.own for text in nested):
            # The text cannot tell whose words the objects of this line are.
            excluded.extend((start, end))
            found = [text for text in found if text.own]
        else:
            found = [text for text in found if text.own and text.escaped]
        for text in found:
            data = text.text.encode("utf-8", "surrogatepass")
            wrapped.append(Passage(text=data, start=start, end=end))
    whole = Passage(text=log, start=0, end=len(log), verbatim=verbatim, excluded=excluded)
    return Script(
        dialect=PLAIN,
        passages=(whole, *wrapped),
        others_words=others,
        colourless=colourless,
    )
