from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.gates.criteria import command_of
from pytest_caesar.gates.gates import (
    CommandGate,
    GateError,
    ModelGate,
    as_gates,
    criteria_gates,
    shell_operator,
)


@pytest.mark.parametrize(
    ("criterion", "command"),
    [
        ("$ pytest -q", "pytest -q"),
        ("  $ pytest -q ", "pytest -q"),
        ("$\tpytest -q", "pytest -q"),
        ("`ruff check .`", "ruff check ."),
        ("pytest -q passes", None),
        ("test the parser", None),
        ("`pytest -q` passes", None),
        ("`a` and `b`", None),
        ("$5 are enough", None),
        ("$ ", None),
        ("``", None),
        ("", None),
    ],
)
def test_only_what_is_marked_is_a_command(criterion: str, command: str | None) -> None:
    assert command_of(criterion) == command


@pytest.mark.parametrize(
    ("command", "argv", "line"),
    [
        ("pytest -q -k 'a or b'", ("pytest", "-q", "-k", "a or b"), "pytest -q -k 'a or b'"),
        (["grep", "-q", "a b", "f"], ("grep", "-q", "a b", "f"), "grep -q 'a b' f"),
        ("grep -E 'a|b' f", ("grep", "-E", "a|b", "f"), "grep -E 'a|b' f"),
        (["echo", "$HOME", "*"], ("echo", "$HOME", "*"), "echo '$HOME' '*'"),
        ("grep 'x$' \\$HOME a[1]?", ("grep", "x$", "$HOME", "a[1]?"), "grep 'x$' \\$HOME a[1]?"),
    ],
)
def test_a_command_is_words_and_no_shell_reads_them(
    command: Any, argv: tuple[str, ...], line: str
) -> None:
    gate = CommandGate(command)

    assert (gate.argv, gate.line, gate.name) == (argv, line, line)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: CommandGate("a && b"), """gate 'a && b': no shell reads the command, so '&' would be a plain word: quote it where it is one, else give ["sh", "-c", 'a && b']"""),
        (lambda: CommandGate("ls; rm x", name="list"), """gate 'list': no shell reads the command, so ';' would be a plain word: quote it where it is one, else give ["sh", "-c", 'ls; rm x']"""),
        (lambda: CommandGate("echo 'a"), 'gate "echo \'a": cannot be split into words: No closing quotation'),
        (lambda: CommandGate("  "), "gate '': the command is empty"),
        (lambda: CommandGate([]), "gate '[]': expected a command line, or its words, each a string"),
        (lambda: CommandGate(["a", 1]), "gate \"['a', 1]\": expected a command line, or its words, each a string"),  # type: ignore[list-item]
        (lambda: CommandGate("a", timeout=0), "gate 'a': the timeout is 0 s: expected more than 0"),
        (lambda: CommandGate("a", timeout=True), "gate 'a': the timeout is True, no number"),
        (lambda: ModelGate("j", lambda run: 1.0, threshold=1.5), "gate 'j': a threshold is 1.5: expected a number from 0 to 1"),
        (lambda: ModelGate("j", lambda run: 1.0, threshold=0.5, soft_threshold=0.6), "gate 'j': soft_threshold 0.6 is above threshold 0.5: it is where warnings begin"),
        (lambda: ModelGate("j", 3, threshold=0.5), "gate 'j': the judge is no function of a run"),  # type: ignore[arg-type]
        (lambda: ModelGate(3, lambda run: 1.0, threshold=0.5), "gate '3': the name is no string"),  # type: ignore[arg-type]
        (lambda: CommandGate("a", name=4), "gate '4': the name is no string"),  # type: ignore[arg-type]
        (lambda: CommandGate(3), "gate '3': expected a command line, or its words, each a string"),  # type: ignore[arg-type]
        (lambda: as_gates("pytest"), "gate 'pytest': expected a list of gates, found a single one"),
        (lambda: as_gates(["a", CommandGate("b", name="a")]), "gate 'a': two gates have this name: give one of them name="),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_by_name(make: Any, text: str) -> None:
    with pytest.raises(GateError) as caught:
        make()

    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("line", "operator"),
    [
        ("a | b", "|"),
        ("'a | b' \"c;d\" e\\;f", None),
        ("'a\\' | b'", "|"),
        ('"a\\" | b"', None),
        ("a > b", ">"),
        ("a `b`", "`"),
        ("a $(b)", "$("),
        ('a "$(b)" "`c`"', "$("),
        ('a "`c`"', "`"),
        ("test -e $HOME/x", "$HOME"),
        ('test -e "${HOME}/x"', "${"),
        ("a $1", "$1"),
        ("grep -c x$ f '$HOME' \\$HOME \"x$\"", None),
        ("ls *.py", "*"),
        ("ls '*.py' \"*\" \\*", None),
        ("ls ~/x", "~"),
        ("~/x", "~"),
        ("git diff HEAD~1", None),
        ("a # b", "#"),
        ("a b#c", None),
        ("a\nb", "\n"),
        ("a \\\nb", "\n"),
        ("a 'b\nc'", None),
        ("pytest 'a.py' b.py::test[x-y]", None),
        ("curl host/?x", None),
        ("", None),
    ],
)
def test_what_a_shell_would_act_on_is_found_outside_quotes(line: str, operator: str | None) -> None:
    assert shell_operator(line) == operator


def test_criteria_that_are_commands_become_gates_once() -> None:
    given_gate = CommandGate("pytest -q", name="tests")

    made = criteria_gates(
        ["fine", "$ pytest -q", "$ ruff check", "`ruff check`"], gates=[given_gate]
    )

    assert [gate.name for gate in made] == ["ruff check"]


def test_a_judge_is_named_after_its_function() -> None:
    def tone(run: object) -> float:
        return 1.0

    assert ModelGate("j", tone, threshold=1).evaluator.endswith("tone")


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=10), min_size=1
    )
)
def test_words_survive_being_written_as_a_command_line(words: list[str]) -> None:
    line = CommandGate(words).line

    assert shell_operator(line) is None
    assert CommandGate(line, name="x").argv == tuple(words)
