from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.agents.tokens import substitute, tokens_in, unknown_tokens

VALUES = {
    "prompt": "Fix it",
    "workspace": "/w",
    "taskDir": "/t",
    "reportPath": "/t/report.json",
    "model": None,
}


def test_every_token_is_replaced_also_several_in_one_argument() -> None:
    arguments = ["{{prompt}}", "--at={{workspace}}:{{taskDir}}", "{{reportPath}}", "plain"]
    assert substitute(arguments, VALUES) == ("Fix it", "--at=/w:/t", "/t/report.json", "plain")


def test_a_value_is_never_read_for_tokens_or_patterns() -> None:
    hostile = r"\g<0> $& {{workspace}} \1 {{prompt}}"
    assert substitute(["{{prompt}}"], {**VALUES, "prompt": hostile}) == (hostile,)


def test_a_token_without_a_value_takes_its_argument_and_the_flag_before_it() -> None:
    assert substitute(["-m", "{{model}}", "{{prompt}}"], VALUES) == ("Fix it",)
    assert substitute(["{{prompt}}", "--model", "{{model}}"], VALUES) == ("Fix it",)


def test_a_token_with_a_value_leaves_the_flag_alone() -> None:
    assert substitute(["-m", "{{model}}"], {**VALUES, "model": "big"}) == ("-m", "big")


def test_only_a_flag_whose_value_is_the_token_goes_with_it() -> None:
    assert substitute(["-v", "--model={{model}}", "x"], VALUES) == ("-v", "x")
    assert substitute(["run", "{{model}}"], VALUES) == ("run",)
    assert substitute(["--", "{{model}}"], VALUES) == ("--",)
    assert substitute(["-", "{{model}}"], VALUES) == ("-",)
    assert substitute(["--key=value", "{{model}}"], VALUES) == ("--key=value",)


def test_one_flag_is_taken_for_one_value() -> None:
    assert substitute(["-a", "-m", "{{model}}", "{{model}}"], VALUES) == ("-a",)


def test_a_flag_made_from_a_value_is_not_taken() -> None:
    values = {**VALUES, "prompt": "--looks-like-a-flag"}
    assert substitute(["{{prompt}}", "{{model}}"], values) == ("--looks-like-a-flag",)


def test_what_only_resembles_a_token_stays_as_it_is() -> None:
    arguments = ["{{ prompt }}", "{{}}", "{prompt}", "{{a-b}}", ""]
    assert substitute(arguments, VALUES) == tuple(arguments)


def test_braces_around_a_token_stay() -> None:
    assert substitute(["{{{prompt}}}"], VALUES) == ("{Fix it}",)


def test_an_empty_prompt_is_a_value_and_an_empty_model_is_none() -> None:
    assert substitute(["{{prompt}}"], {"prompt": ""}) == ("",)
    assert substitute(["{{model}}"], {"model": ""}) == ()


def test_unknown_tokens_are_named_once_in_order() -> None:
    assert unknown_tokens(["{{promt}} {{zz}}", "{{model}} {{promt}}"]) == ("promt", "zz")


def test_tokens_are_listed_as_they_stand() -> None:
    assert tokens_in("{{model}}-{{prompt}}-{{model}}") == ("model", "prompt", "model")


@given(st.lists(st.text().filter(lambda text: "{{" not in text)))
def test_arguments_without_tokens_are_left_alone(arguments: list[str]) -> None:
    assert substitute(arguments, VALUES) == tuple(arguments)


@given(st.text())
def test_any_prompt_arrives_as_it_is(prompt: str) -> None:
    assert substitute(["-p", "{{prompt}}"], {"prompt": prompt}) == ("-p", prompt)
