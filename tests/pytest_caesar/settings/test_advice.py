"""Commands that can be pasted."""

from __future__ import annotations

from pytest_caesar.settings.advice import repeated_options


def test_only_what_decides_about_the_run_is_said_again() -> None:
    given = [
        "-x",
        "--caesar-agent",
        "./a.sh",
        "--caesar-json=x.json",
        "--caesar-hostile",
        "test_a.py",
    ]
    assert repeated_options(given) == ("--caesar-agent=./a.sh", "--caesar-hostile")


def test_an_option_that_lacks_its_value_is_left_out() -> None:
    assert repeated_options(["--caesar-runner=x", "--caesar-agent"]) == ("--caesar-runner=x",)
