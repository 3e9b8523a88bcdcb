"""Quality gates: what is asked of the tree that an agent left."""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from caesar_agent.console import one_line
from caesar_agent.errors import CaesarError
from caesar_agent.va.evidence import DimensionFeedback
from pytest_caesar.agents.executables import on_path, path_folders
from pytest_caesar.gates.criteria import command_of

if TYPE_CHECKING:
    from pytest_caesar.runs.run import Run

DEFAULT_TIMEOUT = 300.0
"""Seconds that the command of a gate has when nobody says otherwise."""


class GateError(CaesarError):
    """A gate cannot be asked as it is given; that is no verdict on the agent.

    Attributes:
        gate: its name, or what was given.
        problem: what was found, what was expected, and what to do.
    """

    __module__ = "pytest_caesar"

    gate: str
    problem: str

    def message(self) -> str:
        """Name the gate and the problem."""
        return f"gate {one_line(self.gate, limit=120)!r}: {self.problem}"


@dataclass(frozen=True, slots=True)
class CommandGate:
    """A command that must exit with 0, run in the workspace after the agent is gone.

    No shell reads it: what stands in it are words. ``["sh", "-c", "..."]`` is the way
    to have one.

    Attributes:
        command: a command line, split as a shell would, or its words.
        name: how the gate is called; the command line by default.
        timeout: seconds it may take, above zero.
    """

    command: str | Sequence[str]
    name: str = ""
    timeout: float = DEFAULT_TIMEOUT
    argv: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check_name(self.name)
        object.__setattr__(self, "argv", self._words())
        if not self.name:
            object.__setattr__(self, "name", self.line)
        if isinstance(self.timeout, bool) or not isinstance(self.timeout, int | float):
            raise GateError(gate=self.name, problem=f"the timeout is {self.timeout!r}, no number")
        if math.isnan(self.timeout) or self.timeout <= 0:
            raise GateError(
                gate=self.name, problem=f"the timeout is {self.timeout:g} s: expected more than 0"
            )

    @property
    def line(self) -> str:
        """The command line, as it is told in results."""
        return self.command if isinstance(self.command, str) else shlex.join(self.argv)

    def _words(self) -> tuple[str, ...]:
        if not isinstance(self.command, str):
            words = tuple(self.command) if isinstance(self.command, Sequence) else ()
            if not words or not all(isinstance(word, str) for word in words):
                judge = "; a judge goes into ModelGate(name, judge, threshold)"
                raise GateError(
                    gate=self.name or repr(self.command),
                    problem="expected a command line, or its words, each a string"
                    + (judge if callable(self.command) else ""),
                )
            return words
        name = self.name or self.command
        operator = shell_operator(self.command)
        if operator:
            raise GateError(
                gate=name,
                problem=f"no shell reads the command, so {operator!r} would be a plain word: quote "
                f'it where it is one, else give ["sh", "-c", {self.command!r}]',
            )
        try:
            words = tuple(shlex.split(self.command))
        except ValueError as error:
            raise GateError(gate=name, problem=f"cannot be split into words: {error}") from None
        if not words:
            raise GateError(gate=name, problem="the command is empty")
        return words


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What a judge says.

    Attributes:
        score: from 0 to 1.
        rationale: why.
        dimensions: the sides of the work, by name; they go into the evidence of a failure.
    """

    score: float
    rationale: str = ""
    dimensions: Mapping[str, DimensionFeedback] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.rationale, str):
            raise TypeError(f"the rationale is {self.rationale!r}: expected a string")
        sides = self.dimensions
        if not isinstance(sides, Mapping) or not all(
            isinstance(name, str) and isinstance(side, DimensionFeedback)
            for name, side in sides.items()
        ):
            raise TypeError(f"the dimensions are {sides!r}: expected a DimensionFeedback by name")


Judge: TypeAlias = "Callable[[Run], float | Evaluation]"
"""Is given the run, without what gates say, and returns a score from 0 to 1."""


@dataclass(frozen=True, slots=True)
class ModelGate:
    """A judge that gives a score, run in this process after the agent is gone.

    Attributes:
        name: how the gate is called.
        judge: gives the score.
        threshold: score from which on the gate passes, from 0 to 1.
        soft_threshold: score from which on a gate that does not pass is a warning, from 0
            to ``threshold``; None when every failure is an error.
        evaluator: who judges; the name of the function by default.
    """

    name: str
    judge: Judge
    threshold: float
    soft_threshold: float | None = None
    evaluator: str = ""

    def __post_init__(self) -> None:
        _check_name(self.name)
        if not callable(self.judge):
            raise GateError(gate=self.name, problem="the judge is no function of a run")
        for value in filter(lambda item: item is not None, (self.threshold, self.soft_threshold)):
            check_score(self.name, "a threshold", value)
        if self.soft_threshold is not None and self.soft_threshold > self.threshold:
            raise GateError(
                gate=self.name,
                problem=f"soft_threshold {self.soft_threshold:g} is above threshold "
                f"{self.threshold:g}: it is where warnings begin",
            )
        if not self.evaluator:
            name = getattr(self.judge, "__qualname__", type(self.judge).__qualname__)
            object.__setattr__(self, "evaluator", name)


Gate: TypeAlias = CommandGate | ModelGate
GateLike: TypeAlias = Gate | str | Sequence[str]
"""A gate, a command line, or the words of one."""


READERS: list[Callable[[str], Gate | None]] = []
"""Are asked, in this order, before a text is read as a command line. Others may add some."""


def as_gates(gates: Iterable[GateLike]) -> tuple[Gate, ...]:
    """Bring what a caller gives into one shape.

    Raises:
        GateError: something is no gate, or two have one name.
    """
    if isinstance(gates, str | CommandGate | ModelGate):
        raise GateError(gate=str(gates), problem="expected a list of gates, found a single one")
    made = [_as_gate(gate) for gate in gates]
    names = [gate.name for gate in made]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise GateError(gate=twice, problem="two gates have this name: give one of them name=")
    return tuple(made)


def _as_gate(gate: GateLike) -> Gate:
    if isinstance(gate, CommandGate | ModelGate):
        return gate
    readers = READERS if isinstance(gate, str) else ()
    read = next((made for reader in readers if (made := reader(str(gate))) is not None), None)
    return CommandGate(gate) if read is None else read


def criteria_gates(criteria: Iterable[str], *, gates: Iterable[Gate] = ()) -> tuple[Gate, ...]:
    """Return a gate for each criterion that is a command and no gate already.

    Raises:
        GateError: a command cannot be split into words, or needs a shell.
    """
    known = {gate.line for gate in gates if isinstance(gate, CommandGate)}
    commands = dict.fromkeys(filter(None, map(command_of, criteria)))
    return tuple(CommandGate(command) for command in commands if command not in known)


def check_programs(gates: Iterable[Gate], *, path: str) -> None:
    """Refuse gates whose program is nowhere; one named by a path may come with the work.

    Raises:
        GateError: on the first of them.
    """
    for gate in gates:
        if isinstance(gate, CommandGate):
            program = gate.argv[0]
            if os.sep not in program and on_path(program, path) is None:
                relative = len(path_folders(path)) < len(path.split(os.pathsep))
                raise GateError(
                    gate=gate.name,
                    problem=f"the program {program!r} is not on the PATH of agents"
                    + (", whose relative folders an agent could fill" if relative else "")
                    + ": install it, or name it by its path",
                )


def _check_name(name: object) -> None:
    if not isinstance(name, str):
        raise GateError(gate=repr(name), problem="the name is no string")


def check_score(gate: str, what: str, value: object) -> float:
    """Return a number from 0 to 1.

    Raises:
        GateError: it is none.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:  # type: ignore[operator]
        raise GateError(gate=gate, problem=f"{what} is {value!r}: expected a number from 0 to 1")
    return float(value)  # type: ignore[arg-type]


_EXPANDED = re.compile(r"\$(?:\w+|[({@*#?$!-])", re.ASCII)


def shell_operator(line: str) -> str | None:
    """Return the first thing that a shell would act on; None when it would find plain words.

    Brackets and question marks are not looked for: a shell leaves them alone where no
    file fits, and ids of tests hold them.
    """
    quote = ""
    escaped = False
    before = " "
    for index, character in enumerate(line):
        expanded = _EXPANDED.match(line, index) if character == "$" else None
        if escaped:
            escaped = False
            if character == "\n":
                return character
        elif character == "\\" and quote != "'":
            escaped = True
        elif quote == "'":
            quote = "" if character == quote else quote
        elif expanded or character == "`":
            return expanded[0] if expanded else character
        elif quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "|&;<>()*\n" or (character in "~#" and before.isspace()):
            return character
        before = character
    return None
