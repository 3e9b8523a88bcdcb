"""The commands that a report declares beside those that were seen; pure. Accuses on proof only."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal, Protocol

from pytest_caesar.recovery.shell_words import may_hide, names, split, unwrapped, words
from pytest_caesar.recovery.tool_call import ToolCall

Witness = Literal["stream", "program", "model"]

CommandVerdict = Literal["confirmed", "contradicted", "unseen", "undeclared"]


class Declared(Protocol):
    """One command of a report."""

    @property
    def command(self) -> str:
        """The command line, in the agent's words."""

    @property
    def exit_code(self) -> int | None:
        """What the agent says it ended with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command of either side.

    Attributes:
        command: the command line, without the shell that the agent's program runs it with.
        argv: its words, as a shell splits them; empty when it would not.
        declared_exit_code: what the report says; None when it says nothing.
        observed_exit_code: what was seen; None when it was not.
        witnesses: who saw it.
        started_at: when it started; None when nobody tells.
        duration: seconds; None when nobody tells.
        verdict: ``confirmed``, ``contradicted``, ``unseen`` (nobody can tell), ``undeclared``.
        changed_after: paths of the run's changes that were written after it ended; None when
            that cannot be told.
    """

    command: str
    argv: tuple[str, ...] = ()
    declared_exit_code: int | None = None
    observed_exit_code: int | None = None
    witnesses: tuple[Witness, ...] = ()
    started_at: datetime | None = None
    duration: float | None = None
    verdict: CommandVerdict = "unseen"
    changed_after: tuple[str, ...] | None = None

    @property
    def ended_at(self) -> datetime | None:
        """When it ended, as far as it is known."""
        if self.started_at is None or self.duration is None:
            return None
        return self.started_at + timedelta(seconds=self.duration)

    def __repr__(self) -> str:
        codes = [
            f"{side} {code}"
            for side, code in (
                ("declared", self.declared_exit_code),
                ("observed", self.observed_exit_code),
            )
            if code is not None
        ]
        return f"<{self.command!r} {self.verdict}: {', '.join(codes) or 'no exit code'}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedCommand:
    """One command that somebody saw.

    Attributes:
        command: the command line.
        exit_code: None when the witness cannot tell, or saw no end.
        witnesses: who saw it.
        started_at, duration: as for ``Command``.
        begun, done: where it stands among all that the stream, or the model, was told; None
            for what only a program saw. ``done`` is None when no end was told.
    """

    command: str
    exit_code: int | None = None
    witnesses: tuple[Witness, ...] = ("stream",)
    started_at: datetime | None = None
    duration: float | None = None
    begun: int | None = None
    done: int | None = None


@dataclass(frozen=True, slots=True)
class Witnessed:
    """All that was seen.

    Attributes:
        observed: commands, in the order of their starts.
        calls: every call of a tool, in the order of their starts, from the same witness.
        whole: nothing of what that witness printed was left unread.
    """

    observed: tuple[ObservedCommand, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    whole: bool = True


def from_calls(calls: Iterable[ToolCall], witness: Witness) -> tuple[ObservedCommand, ...]:
    """Return the commands among the calls of a stream, or of a model."""
    return tuple(
        ObservedCommand(
            command=call.command,
            exit_code=call.exit_code,
            witnesses=(witness,),
            started_at=call.at,
            duration=call.duration,
            begun=call.begun,
            done=call.done,
        )
        for call in calls
        if call.command is not None
    )


def joined(
    first: Sequence[ObservedCommand], second: Iterable[ObservedCommand]
) -> tuple[ObservedCommand, ...]:
    """Put two witnesses together: the same words in the same order are the same command.

    What differs in its exit code is not. Times of the second win where the first has none.
    """
    together = list(first)
    waiting: dict[tuple[str, ...], list[int]] = {}
    for index, one in enumerate(together):
        waiting.setdefault(words(one.command), []).append(index)
    alone = []
    for other in second:
        places = waiting.get(words(other.command), [])
        fitting = next((place for place in places if _fit(together[place], other)), None)
        if fitting is None:
            alone.append(other)
            continue
        places.remove(fitting)
        one = together[fitting]
        # A program is watched closer than a stream tells.
        closer = other if "program" in other.witnesses and other.duration is not None else one
        together[fitting] = replace(
            one,
            exit_code=one.exit_code if one.exit_code is not None else other.exit_code,
            witnesses=(*one.witnesses, *other.witnesses),
            started_at=closer.started_at or one.started_at or other.started_at,
            duration=closer.duration if closer.duration is not None else one.duration,
        )
    return _in_time((*together, *alone))


def reconcile_commands(declared: Sequence[Declared], seen: Witnessed) -> tuple[Command, ...]:
    """Lay the declared commands beside those that were seen.

    The same words are aligned in their order. ``contradicted`` is only a success: the report
    says 0, whatever was seen of the same words ended otherwise, and after the last of it came
    nothing that the witness cannot see into.

    Args:
        declared: as the agent wrote them, n entries.
        seen: m commands.

    Returns:
        One entry for each command of either side, those that were seen in the order in
        which they were, the others behind the declaration before them. O(n + m), and for
        each contradiction O(m).
    """
    return _Alignment(declared, seen).entries()


@dataclass
class _Alignment:
    declared: Sequence[Declared]
    seen: Witnessed
    _places: dict[tuple[str, ...], list[int]] = field(default_factory=dict)
    _coded_places: dict[tuple[tuple[str, ...], int], list[int]] = field(default_factory=dict)
    _passed: dict[tuple[str, ...], int] = field(default_factory=dict)
    _left: dict[tuple[str, ...], list[int]] = field(default_factory=dict)
    _hidden: dict[tuple[str, ...], bool] = field(default_factory=dict)
    _taken: dict[int, int] = field(default_factory=dict)
    _last: dict[tuple[str, ...], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for index, one in enumerate(self.seen.observed):
            key = words(one.command)
            self._places.setdefault(key, []).append(index)
            if one.exit_code is not None:
                self._coded_places.setdefault((key, one.exit_code), []).append(index)

    def entries(self) -> tuple[Command, ...]:
        texts = [self._text(claim.command) for claim in self.declared]
        verdicts: list[Command | None] = [None] * len(texts)
        for number, claim in enumerate(self.declared):
            if claim.exit_code is not None:
                verdicts[number] = self._coded(texts[number], claim.exit_code, number)
        for number, claim in enumerate(self.declared):
            if claim.exit_code is None:
                verdicts[number] = self._uncoded(texts[number], number)
        return self._ordered([entry for entry in verdicts if entry is not None])

    def _text(self, command: str) -> str:
        """Return a declared command line; with a shell around it only where that was seen."""
        return command if words(command) in self._places else unwrapped(command)

    def _coded(self, text: str, code: int, number: int) -> Command:
        key = words(text)
        same = self._coded_places.get((key, code), [])
        if same:
            # The first that comes after the one before, else the first.
            after = bisect.bisect_right(same, self._last.get(key, -1))
            place = same.pop(after if after < len(same) else 0)
            return self._confirmed(text, code, place, number)
        return self._refuted(text, number) if code == 0 else self._unseen(text, code)

    def _uncoded(self, text: str, number: int) -> Command:
        key = words(text)
        places, index = self._places.get(key, []), self._passed.get(key, 0)
        while index < len(places) and places[index] in self._taken:
            index += 1
        self._passed[key] = index
        if index == len(places):
            return self._unseen(text, None)
        return self._confirmed(text, None, places[index], number)

    def _confirmed(self, text: str, code: int | None, place: int, number: int) -> Command:
        self._taken[place] = number
        self._last[words(text)] = place
        return replace(
            _entry(self.seen.observed[place]), declared_exit_code=code, verdict="confirmed"
        )

    def _unseen(self, text: str, code: int | None) -> Command:
        return Command(command=text, argv=split(text), declared_exit_code=code, verdict="unseen")

    def _refuted(self, text: str, number: int) -> Command:
        """Return a success that was declared and not seen: contradicted where that is proved."""
        key = words(text)
        if key not in self._hidden:
            self._hidden[key] = not self._proved(key, text)
        if self._hidden[key]:
            return self._unseen(text, 0)
        left = self._left.get(key)
        if left is None:
            # The last one stays, for successes that were declared more often than it ran.
            left = [at for at in self._places[key] if self.seen.observed[at].begun is not None]
            left = self._left[key] = [left[-1], *left]
        while len(left) > 1 and left[-1] in self._taken:
            left.pop()
        place = left[-1]
        self._taken.setdefault(place, number)
        return replace(
            _entry(self.seen.observed[place]), declared_exit_code=0, verdict="contradicted"
        )

    def _proved(self, key: tuple[str, ...], text: str) -> bool:
        """Tell whether all that was seen of the same words failed, and nothing came after."""
        same = [self.seen.observed[place] for place in self._places.get(key, ())]
        told = [one for one in same if one.begun is not None]
        if not told or any(one.exit_code in (None, 0) for one in same):
            return False
        return not self._hidden_after(max(one.begun or 0 for one in told), text)

    def _hidden_after(self, begun: int, text: str) -> bool:
        """Tell whether something may have run the command again after a place in the stream."""
        if not self.seen.whole:
            return True
        key, wanted = words(text), names(text)
        return any(
            call.done is None
            or (
                call.done > begun
                and (
                    call.hides
                    or (
                        call.command is not None
                        and words(call.command) != key
                        and may_hide(call.command, wanted)
                    )
                )
            )
            for call in self.seen.calls
        )

    def _ordered(self, declared: list[Command]) -> tuple[Command, ...]:
        """Put entries in order: what was seen as it was, the rest behind the claim before."""
        by_number = {number: place for place, number in self._taken.items()}
        after: dict[int, list[Command]] = {}
        at = -1
        for number, entry in enumerate(declared):
            if number in by_number:
                at = by_number[number]
            else:
                after.setdefault(at, []).append(entry)
        ordered = list(after.get(-1, ()))
        for place, one in enumerate(self.seen.observed):
            number = self._taken.get(place, -1)
            ordered.append(declared[number] if number >= 0 else _entry(one))
            ordered.extend(after.get(place, ()))
        return tuple(ordered)


def _entry(one: ObservedCommand) -> Command:
    return Command(
        command=one.command,
        argv=split(one.command),
        observed_exit_code=one.exit_code,
        witnesses=one.witnesses,
        started_at=one.started_at,
        duration=one.duration,
        verdict="undeclared",
    )


def _fit(one: ObservedCommand, other: ObservedCommand) -> bool:
    return None in (one.exit_code, other.exit_code) or one.exit_code == other.exit_code


def _in_time(observed: Sequence[ObservedCommand]) -> tuple[ObservedCommand, ...]:
    """Move what has no place in the stream to where its time says that it belongs."""
    ordered = [one for one in observed if one.begun is not None]
    for one in observed:
        if one.begun is not None:
            continue
        place = len(ordered)
        if one.started_at is not None:
            later = (
                index
                for index, other in enumerate(ordered)
                if other.started_at is not None and other.started_at > one.started_at
            )
            place = next(later, place)
        ordered.insert(place, one)
    return tuple(ordered)
