"""Where reports may lie in a text, found in one pass over its bytes; nothing is decoded here.

An object that declares itself is found from its ``"protocol": "caesar…"`` member:
backwards to the brace that opens it, forwards to the brace that closes it. A report
block is found from the name on its opening line. The walks remember what earlier walks
found, so that every byte is passed over a bounded number of times, whatever a hostile
log repeats or nests.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import merge

from pytest_caesar.recovery.fences import first_brace, opening_lines

_DECLARATION = re.compile(rb'"protocol"[ \t\r\n]*:[ \t\r\n]*"caesar')
_STRUCTURE = re.compile(rb'[{}"\n]')
_OUTSIDE = re.compile(rb'[{}"]')
_INSIDE = re.compile(rb'["\n]|\\[^\n]')
_BLANK = re.compile(rb"[ \t\r\n]*")
_SPACE = frozenset(b" \t\r\n")
_AFTER_STRING = frozenset(b":,]}")
_BEFORE_ITEM = frozenset(b",[")
_QUOTE, _OPENING, _CLOSING, _COMMA, _COLON, _BACKSLASH, _NEWLINE = b'"{},:\\\n'

_FIRST_CHUNK = 256
"""Bytes that the backward walk looks at first; most objects begin close by."""

_LAST_CHUNK = 64 * 1024
"""Bytes that it looks at in one go at most; bounds the memory of its tokens."""

_LONGEST_PREFIX = 256
"""Bytes that a line may have before the text of an agent; what a logger puts there is short."""

MAX_IN_BLOCK = 100
"""Objects in one block that belong to it; what follows them is read as outside of it."""

MAX_PLACES = 500_000
"""Places of one form that are kept, the last ones; some fifty times as many as are looked at,
so that what lies inside of what is still known."""

_NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Span:
    """The extent of one object.

    Attributes:
        start: offset of its opening brace.
        end: offset after its closing brace; when it is not closed, where that became
            certain: a line break inside a string, a string or a brace where none can
            stand, the next block, the end of the text.
        closed: braces and quotes pair up; says nothing about the rest of the syntax.
    """

    start: int
    end: int
    closed: bool


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced report block.

    Attributes:
        start: offset of the first back-tick or tilde.
        end: offset after the last object in it, or where that one broke off.
        spans: the objects that follow its opening line; empty when there is none.
    """

    start: int
    end: int
    spans: tuple[Span, ...]


class Survey:
    """All places in one text where a report may lie, in sixteen bytes each.

    A hostile log of 64 MiB holds millions of them, so they are numbers in arrays
    until one is looked at, and only the last ``MAX_PLACES`` are kept. Making a survey is O(n) in bytes and O(log n) a place.
    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._fences: array[int] = array("q")
        for fence in opening_lines(text):
            self._fences.append(fence)
        del self._fences[:-MAX_PLACES]
        self._first: array[int] = array("q")
        for index in range(len(self._fences)):
            self._first.append(first_brace(text, self._body(index), self._barrier(index)))
        declared = _declared_starts(text)
        self._starts = _unique(merge(declared, (start for start in self._first if start >= 0)))
        self._ends = array("q", bytes(8 * len(self._starts)))
        for index in range(len(self._starts) - 1, -1, -1):
            self._ends[index] = self._find_end(index)
        self._block_ends = array("q", (block.end for block in self._blocks()))
        self._objects: array[int] = array("q")
        covered = 0
        for start in declared:
            if start >= covered and not self._fenced(start):
                index = bisect_left(self._starts, start)
                self._objects.append(index)
                covered = max(covered, abs(self._ends[index]))

    def blocks_backwards(self) -> Iterator[Block]:
        """Yield the fenced report blocks, the last one first."""
        for index in range(len(self._fences) - 1, -1, -1):
            yield self._block(index)

    def objects_backwards(self) -> Iterator[Span]:
        """Yield the objects that declare themselves outside of blocks, the last one first.

        What lies inside another one is part of that one and not told, torn as it may be.
        """
        for position in range(len(self._objects) - 1, -1, -1):
            yield self._span(self._objects[position])

    def excerpt(self, span: Span) -> bytes:
        """Return the bytes of a span."""
        return self.text[span.start : span.end]

    def _blocks(self) -> Iterator[Block]:
        for index in range(len(self._fences)):
            yield self._block(index)

    def _span(self, index: int) -> Span:
        end = self._ends[index]
        return Span(self._starts[index], abs(end), end >= 0)

    def _block(self, index: int) -> Block:
        spans: list[Span] = []
        start = self._first[index]
        end = self._body(index)
        while start >= 0 and len(spans) < MAX_IN_BLOCK:
            position = bisect_left(self._starts, start)
            if position == len(self._starts) or self._starts[position] != start:
                break
            span = self._span(position)
            spans.append(span)
            end = span.end
            if not span.closed:
                break
            blank = _BLANK.match(self.text, end)
            start = blank.end() if blank else end
        return Block(self._fences[index], end, tuple(spans))

    def _fenced(self, start: int) -> bool:
        index = bisect_right(self._fences, start) - 1
        return index >= 0 and 0 <= self._first[index] <= start < self._block_ends[index]

    def _body(self, index: int) -> int:
        """Return where the line after an opening line begins."""
        newline = self.text.find(b"\n", self._fences[index])
        return newline + 1 if newline >= 0 else len(self.text)

    def _barrier(self, index: int) -> int:
        return self._fences[index + 1] if index + 1 < len(self._fences) else len(self.text)

    def _find_end(self, own: int) -> int:  # noqa: C901 - one automaton, like _container
        """Return the offset after the closing brace, or minus where the object broke off."""
        text, starts = self.text, self._starts
        # An opening line starts outside any string, where no JSON may hold it.
        barrier = self._barrier(bisect_right(self._fences, starts[own]) - 1)
        depth = 0
        position = starts[own]
        while True:
            match = _OUTSIDE.search(text, position, barrier)
            if match is None:
                return -barrier
            token = match.start()
            position = token + 1
            byte = text[token]
            if byte == _OPENING:
                if depth and not _inside_json(text, token):
                    return -token
                inner = bisect_left(starts, token, own + 1)
                if inner < len(starts) and starts[inner] == token:
                    # What was learned about the inner object holds for the outer one too.
                    position = self._ends[inner]
                    if position < 0:
                        return position
                else:
                    depth += 1
            elif byte == _CLOSING:
                depth -= 1
                if depth == 0:
                    return position
            else:
                position = _string_end(text, position, barrier)
                if position < 0:
                    return position
                after = _BLANK.match(text, position, barrier)
                if after and after.end() < barrier and text[after.end()] not in _AFTER_STRING:
                    # The quote that ended it began another one: what is inside is not inside.
                    return -token


def _inside_json(text: bytes, brace: int) -> bool:
    """Say whether an object may begin here inside of another: after a key, comma or bracket."""
    before = _before(text, brace)
    if text[before] == _COLON:
        return text[_before(text, before)] == _QUOTE
    return text[before] in _BEFORE_ITEM


def _brace_of_line_before(text: bytes, position: int) -> int:
    """Return the offset of a brace that ends the line before; it is opened by no JSON, but meant so.

    Where every line has something before it, of a logger say, a report is torn and still one.
    """
    start = text.rfind(b"\n", max(0, position - _LONGEST_PREFIX), position)
    before = _before(text, start) if start >= 0 else -1
    return before if before >= 0 and text[before] == _OPENING else _NOWHERE


def _before(text: bytes, position: int) -> int:
    """Return the offset of the last byte before ``position`` that is not blank; -1 for none."""
    before = position - 1
    while before >= 0 and text[before] in _SPACE:
        before -= 1
    return before


def _string_end(text: bytes, position: int, barrier: int) -> int:
    for match in _INSIDE.finditer(text, position, barrier):
        byte = text[match.start()]
        if byte == _QUOTE:
            return match.end()
        if byte == _NEWLINE:
            return -match.start()
    return -barrier


def _unique(starts: Iterable[int]) -> array[int]:
    """Return ascending offsets, each once and without ``_NOWHERE``."""
    unique: array[int] = array("q")
    for start in starts:
        if start >= 0 and (not unique or unique[-1] != start):
            unique.append(start)
    return unique


def _declared_starts(text: bytes) -> array[int]:
    """Return the offsets of the braces that open declared objects, ascending, each once."""
    declarations = array("q", (match.start() for match in _DECLARATION.finditer(text)))
    keys: array[int] = array("q")
    containers: array[int] = array("q")
    for key in declarations[-MAX_PLACES:]:
        before = _before(text, key)
        container = _NOWHERE
        if before >= 0 and text[before] == _OPENING:
            container = before
        elif before >= 0 and text[before] == _COMMA:
            container = _container(text, before, keys, containers)
        elif before >= 0:
            container = _brace_of_line_before(text, key)
        keys.append(key)
        containers.append(container)
    return _unique(sorted(containers))


def _container(  # noqa: C901 - one automaton; split up, its invariant would be nowhere
    text: bytes, position: int, keys: array[int], containers: array[int]
) -> int:
    """Walk backwards from ``position``, outside strings, to the brace that opens the object."""
    depth = 0
    inside = False
    chunk = _FIRST_CHUNK
    while position > 0:
        low = max(0, position - chunk)
        chunk = min(2 * chunk, _LAST_CHUNK)
        tokens = [match.start() for match in _STRUCTURE.finditer(text, low, position)]
        position = low
        for token in reversed(tokens):
            byte = text[token]
            if inside:
                if byte == _NEWLINE:
                    return _NOWHERE
                if byte != _QUOTE or _escaped(text, token):
                    continue
                inside = False
                known = bisect_left(keys, token)
                if known < len(keys) and keys[known] == token:
                    # An earlier walk began at this very key: go on from where it ended.
                    container = containers[known]
                    if container == _NOWHERE or depth == 0:
                        return container
                    depth -= 1
                    position, chunk = container, _FIRST_CHUNK
                    break
            elif byte == _QUOTE:
                if _escaped(text, token):
                    return _NOWHERE
                inside = True
            elif byte == _CLOSING:
                depth += 1
            elif byte == _OPENING:
                if depth == 0:
                    return token
                depth -= 1
    return _NOWHERE


def _escaped(text: bytes, quote: int) -> bool:
    run = quote
    while run > 0 and text[run - 1] == _BACKSLASH:
        run -= 1
    return (quote - run) % 2 == 1
