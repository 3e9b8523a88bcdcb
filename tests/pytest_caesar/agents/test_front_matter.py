from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.agents.front_matter import camel, parse_front_matter, remove_comments


def fields(block: str) -> dict[str, Any]:
    return parse_front_matter(f"---\n{block}\n---\n").fields


# where the block starts and ends


def test_fields_and_body_are_told_apart() -> None:
    front = parse_front_matter("---\nname: fox\nmodel: m\n---\n\n  Jump.\n\n")
    assert (front.fields, front.body, front.present, front.fallback) == (
        {"name": "fox", "model": "m"},
        "Jump.",
        True,
        False,
    )


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_other_line_ends_are_read_as_the_usual_one(end: str) -> None:
    front = parse_front_matter(end.join(["---", "name: fox", "---", "A", "B"]))
    assert (front.fields, front.body) == ({"name": "fox"}, "A\nB")


@pytest.mark.parametrize("before", ["\ufeff", "\n", " ", "# Title\n", "```\n", "<!-- note -->\n"])
def test_anything_before_the_block_makes_it_plain_text(before: str) -> None:
    text = f"{before}---\nname: fox\n---\nBody "
    front = parse_front_matter(text)
    assert not front.present
    assert (front.fields, front.body) == ({}, remove_comments(text))


@pytest.mark.parametrize("close", ["", " ---\n", "...\n"])
def test_a_block_that_is_not_closed_is_plain_text(close: str) -> None:
    assert not parse_front_matter(f"---\nname: fox\n{close}").present


@pytest.mark.parametrize(
    ("close", "body"),
    [("---", ""), ("----", "-"), ("---x", "x"), ("--- ", ""), ("---\n---", "---")],
)
def test_the_closing_line_may_have_a_surplus_which_goes_to_the_body(close: str, body: str) -> None:
    front = parse_front_matter(f"---\nname: fox\n{close}")
    assert (front.fields, front.body) == ({"name": "fox"}, body)


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ("--- \n", {"name": "fox"}),
        ("----\n", {"name": "fox"}),
        ("---name: x\n", {"ame": "x", "name": "fox"}),
    ],
)
def test_the_first_line_is_cut_after_its_fourth_character(
    first: str, found: dict[str, str]
) -> None:
    assert parse_front_matter(f"{first}name: fox\n---\n").fields == found


def test_an_empty_block_has_no_fields() -> None:
    front = parse_front_matter("---\n---\nBody")
    assert (front.present, front.fields, front.body) == (True, {}, "Body")


def test_dashes_in_a_value_close_the_block_unless_they_are_indented() -> None:
    inside = parse_front_matter("---\ntext: |\n  a\n  ---\n  b\n---\nBody")
    assert (inside.fields, inside.body) == ({"text": "a\n---\nb\n"}, "Body")
    early = parse_front_matter("---\ntext: |\n  a\n---\n  b\n---\nBody")
    assert early.fields == {"text": "a\n"}
    assert early.body.startswith("b\n---")


# comments


def test_comments_vanish_everywhere() -> None:
    front = parse_front_matter("---\nname: f<!-- a\nb -->ox\n---\nA <!-- x --> B <!-- open")
    assert (front.fields, front.body) == ({"name": "fox"}, "A  B <!-- open")


def test_a_comment_can_swallow_the_end_of_the_block() -> None:
    assert not parse_front_matter("---\nname: fox\n<!--\n---\n-->\nBody").present


def test_each_comment_ends_at_the_nearest_end() -> None:
    assert remove_comments("a<!-- 1 -->b<!-- 2 -->c-->") == "abc-->"


def test_comments_that_are_never_closed_cost_no_more_than_their_length() -> None:
    text = "<!--" * 200_000
    assert remove_comments(text) == text
    assert remove_comments("-->" + text) == "-->" + text


# trimming


def test_the_body_is_trimmed_as_javascript_trims() -> None:
    front = parse_front_matter("---\nname: fox\n---\n\ufeff\u00a0\u2028 Body \u3000\x1f\x85")
    assert front.body == "Body \u3000\x1f\x85"


# YAML 1.2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("off", "off"),
        ("On", "On"),
        ("True", True),
        ("FALSE", False),
        ("tRUE", "tRUE"),
        ("~", None),
        ("Null", None),
        ("", None),
        ("012", 12),
        ("0o12", 10),
        ("0x1F", 31),
        ("0b1", "0b1"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("-7", -7),
        ("1.5e3", 1500.0),
        (".5", 0.5),
        ("-.inf", float("-inf")),
        ("2024-02-03", "2024-02-03"),
        ("!odd x", "x"),
        ("!!binary aGk=", "aGk="),
        ("!!str 7", "7"),
        ("[a, 1, {b-c: d}]", ["a", 1, {"bC": "d"}]),
        ("'a\tb'", "a  b"),
    ],
)
def test_values_are_those_of_yaml_1_2(text: str, value: object) -> None:
    assert fields(f"key: {text}") == {"key": value}


def test_not_a_number_is_a_number() -> None:
    assert str(fields("key: .NaN")["key"]) == "nan"


def test_an_integer_without_end_is_no_crash() -> None:
    assert fields("key: " + "9" * 100_000) == {"key": float("inf")}


def test_the_last_of_two_equal_keys_wins_also_across_spellings() -> None:
    assert fields("a: 1\na: 2") == {"a": 2}
    assert fields("dark-mode: 1\ndarkMode: 2") == {"darkMode": 2}
    assert fields("darkMode: 2\ndark-mode: 1") == {"darkMode": 1}


def test_merge_keys_merge() -> None:
    assert fields("base: &b {x: 1, y: 2}\nmine: {<<: *b, y: 3}")["mine"] == {"x": 1, "y": 3}


def test_keys_are_text_whatever_they_are() -> None:
    assert fields("1: a\ntrue: b\n~: c\n1.0: d\n2.5: e") == {
        "1": "d",
        "true": "b",
        "null": "c",
        "2.5": "e",
    }


def test_a_mapping_as_a_key_is_no_error() -> None:
    assert fields("name: {{X}}") == {"name": {"[object Object]": None}}


def test_a_list_or_text_in_the_place_of_fields_gets_numbers_for_keys() -> None:
    assert fields("- a\n- b") == {"0": "a", "1": "b"}
    assert fields("ab") == {"0": "a", "1": "b"}


def test_several_documents_are_a_list() -> None:
    assert parse_front_matter("---\na: 1\n...\nb: 2\n---\n").fields == {
        "0": {"a": 1},
        "1": {"b": 2},
    }


def test_output_is_not_touched() -> None:
    front = fields("output:\n  over-all: {sub-key: [x-y]}\nother:\n  over-all: 1")
    assert front == {"output": {"over-all": {"sub-key": ["x-y"]}}, "other": {"overAll": 1}}


def test_aliases_of_aliases_do_not_explode() -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    assert fields("\n".join(lines))["a59"][0][0] is not None


def test_a_value_that_holds_itself_is_no_crash() -> None:
    found = fields("a: &a [*a]")["a"]
    assert found[0] is found


def test_nesting_without_end_is_read_line_by_line() -> None:
    front = parse_front_matter("---\nname: fox\nx: " + "{a: " * 20_000 + "\n---\n")
    assert front.fallback
    assert front.fields["name"] == "fox"


# camel case


@pytest.mark.parametrize(
    ("key", "turned"),
    [
        ("thinking-level", "thinkingLevel"),
        ("a-b-c", "aBC"),
        ("thinking_level", "thinking_level"),
        ("Thinking-Level", "Thinking-Level"),
        ("a-1", "a-1"),
        ("-x", "X"),
        ("a--b", "a-B"),
        ("a-é", "a-é"),
    ],
)
def test_a_dash_and_a_small_letter_become_a_capital(key: str, turned: str) -> None:
    assert camel(key) == turned


# the line fallback


def test_what_is_not_yaml_is_read_line_by_line_as_text() -> None:
    front = parse_front_matter(
        "---\n"
        "name: 'fox'\n"
        "description: Use it: always\n"
        "tools: [Read, Grep]  # both\n"
        "dark-mode:true\n"
        "  model: indented\n"
        "- item: x\n"
        "two words: x\n"
        "tab\there: x\n"
        "empty:\n"
        "---\nBody"
    )
    assert front.fallback
    assert front.fields == {
        "name": "'fox'",
        "description": "Use it: always",
        "tools": "[Read, Grep]  # both",
        "darkMode": "true",
        "empty": "",
    }
    assert front.body == "Body"
    assert front.problem == "mapping values are not allowed here"
    assert front.problem_line == 3


@pytest.mark.parametrize("value", ["*", "@x", "`x`", "%x", "- ? x: : y", '"a" b', "'a"])
def test_values_that_yaml_refuses_are_kept_as_text(value: str) -> None:
    front = parse_front_matter(f"---\nname: fox\nspawns: {value}\n---\n")
    assert (front.fallback, front.fields["spawns"]) == (True, value)


def test_a_line_with_a_separator_of_javascript_does_not_match() -> None:
    front = parse_front_matter("---\nname: fox\nbad: x: y\nodd: a\u2028b\n---\n")
    assert "odd" not in front.fields
    assert front.fields["bad"] == "x: y"


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    front = parse_front_matter(text)
    assert isinstance(front.fields, dict)
    assert parse_front_matter("---\n" + text + "\n---\n").present


@given(
    st.dictionaries(
        st.from_regex(r"[a-z][a-zA-Z0-9]{0,8}", fullmatch=True),
        st.from_regex(r"[A-Za-z][A-Za-z ,.]{0,20}[a-z]", fullmatch=True),
        max_size=5,
    ),
    st.from_regex(r"([A-Za-z .]+\n?){0,3}", fullmatch=True),
)
def test_plain_fields_come_back_as_they_were_written(fields: dict[str, str], body: str) -> None:
    from pytest_caesar.agents.yaml_core import load_yaml

    words = {key: value for key, value in fields.items() if isinstance(load_yaml(value), str)}
    block = "".join(f"{key}: {value}\n" for key, value in words.items())
    front = parse_front_matter(f"---\n{block}---\n{body}")
    assert front.fields == words
    assert front.body == body.strip(" \n")


FRAGMENTS = [
    *("a", "b: ", "key: ", "- ", "? ", "[", "]", "{", "}", ", ", '"', "'", "#x", " #", "|", ">-"),
    *("\n", "\n  ", "\n    ", "&a ", "*a", "!t ", "!!str ", "%", "@", "`", "~", "true", "012"),
    *("1.5", "<<: ", ":", "...", "---", "\\n", "é", "😀", "\x07", " ", "\t", "\u2028", "\ufeff"),
]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join))
def test_the_fast_parser_never_says_anything_else_than_the_other(text: str) -> None:
    from pytest_caesar.agents import yaml_core

    def read(text: str) -> str:
        try:
            return repr(yaml_core.load_yaml(text))
        except yaml_core.YamlProblem as error:
            return f"{error.text} ({error.line})"

    found = read(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_core, "_FastLoader", None)
        assert read(text) == found


def test_merges_that_multiply_are_refused() -> None:
    lines = ["x0: &a0 {k: v}"]
    lines += [f"x{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}, *a{n - 1}]}}" for n in range(1, 30)]
    front = parse_front_matter("---\nname: fox\n" + "\n".join(lines) + "\n---\n")
    assert "more keys than a definition can hold" in front.problem
    assert front.fields["name"] == "fox"
