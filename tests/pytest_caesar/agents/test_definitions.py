from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.agents.definitions import (
    AgentDefinition,
    AgentParsingError,
    FrontMatterError,
    parse_agent,
    parse_agent_fields,
)


def parse(*lines: str, body: str = "Body") -> AgentDefinition:
    block = "\n".join(["name: fox", "description: jumps", *lines])
    return parse_agent(f"---\n{block}\n---\n{body}", location="fox.md")


def test_a_minimal_definition_restricts_nothing() -> None:
    assert parse() == AgentDefinition(
        name="fox", description="jumps", system_prompt="Body", file_path="fox.md"
    )


def test_an_empty_body_is_accepted() -> None:
    assert parse(body="").system_prompt == ""


@pytest.mark.parametrize("value", ["7", "true", "", "~", "[x]", "{a: b}", "''"])
@pytest.mark.parametrize("field", ["name", "description"])
def test_name_and_description_must_be_text_and_not_empty(field: str, value: str) -> None:
    other = "description" if field == "name" else "name"
    with pytest.raises(AgentParsingError) as caught:
        parse_agent(f"---\n{field}: {value}\n{other}: ok\n---\nSecret", location="x.md")
    assert caught.value.missing == (field,)
    assert str(caught.value) == (
        f"Failed to parse agent: Invalid agent fields (x.md: {field} must be text and not empty)"
    )


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("\ufeff---\nname: a\ndescription: d\n---\n", "there is no front matter, since the file starts with a byte-order mark"),
        ("---\nname: a\ndescription: d\n", "its front matter is opened and never closed"),
        ("# Agents\n", "there is no front matter, since the file does not start with ---"),
        ("", "there is no front matter, since the file does not start with ---"),
        ("---\ntools: x\n---\n", "name and description must be text and not empty"),
    ],
)  # fmt: skip
def test_a_file_without_fields_is_said_to_have_none(text: str, cause: str) -> None:
    with pytest.raises(AgentParsingError) as caught:
        parse_agent(text, location="x.md")
    assert caught.value.cause == cause
    assert str(caught.value) == f"Failed to parse agent: Invalid agent fields (x.md: {cause})"


@pytest.mark.parametrize("name", ["'  '", "' fox '", "2024-05-06", "'7'", "off"])
def test_a_name_is_taken_exactly_as_it_is(name: str) -> None:
    text = f"---\nname: {name}\ndescription: d\n---\n"
    assert parse_agent(text, location="x").name == name.strip("'")


def test_a_description_keeps_its_line_ends() -> None:
    text = "---\nname: fox\ndescription: |\n  one\n  two\n---\n"
    assert parse_agent(text, location="x").description == "one\ntwo\n"


@pytest.mark.parametrize(
    ("value", "tools"),
    [
        ("Read, Grep ,,Bash", ("read", "grep", "bash", "submit_result")),
        ("[Read, 7, 'Web Search']", ("read", "web search", "submit_result")),
        ("[' Read ', '']", (" read ", "", "submit_result")),
        ("read, submit_result", ("read", "submit_result")),
        ("['submit_result ']", ("submit_result ", "submit_result")),
        ("Read, Read", ("read", "read", "submit_result")),
        ("'*'", ("*", "submit_result")),
        ("Agent(a, b)", ("agent(a", "b)", "submit_result")),
        ("Read,\u00a0Grep", ("read", "grep", "submit_result")),
    ],
)
def test_tools_are_split_lowered_and_completed(value: str, tools: tuple[str, ...]) -> None:
    assert parse(f"tools: {value}").tools == tools


@pytest.mark.parametrize("value", ["", "''", "','", "[]", "[1, 2]", "{a: b}", "true", "7"])
def test_tools_that_name_nothing_restrict_nothing(value: str) -> None:
    assert parse(f"tools: {value}").tools is None


@pytest.mark.parametrize(
    ("value", "spawns"),
    [
        ("'*'", "*"),
        ("' * '", "*"),
        ("*", "*"),
        ("owl, Fox", ("owl", "Fox")),
        ("[owl, ' Fox ']", ("owl", " Fox ")),
        ("['*']", ("*",)),
        ("owl, '*'", ("owl", "'*'")),
        ("''", None),
        ("[]", None),
        ("false", None),
        ("~", None),
    ],
)
def test_spawns_are_all_names_or_nobody(value: str, spawns: object) -> None:
    assert parse(f"spawns: {value}").spawns == spawns


@pytest.mark.parametrize("spawns", [(), ("spawns: ''",), ("spawns: []",), ("spawns: false",)])
@pytest.mark.parametrize("tool", ["task", "Task"])
def test_the_task_tool_without_spawns_means_all(tool: str, spawns: tuple[str, ...]) -> None:
    assert parse(f"tools: read, {tool}", *spawns).spawns == "*"


def test_the_task_tool_does_not_widen_what_is_named() -> None:
    assert parse("tools: task", "spawns: owl").spawns == ("owl",)


def test_other_tools_and_no_tools_imply_nothing() -> None:
    assert parse("tools: Agent").spawns is None
    assert parse().spawns is None


@pytest.mark.parametrize(
    ("value", "model"),
    [
        ("a, B ,,c", ("a", "B", "c")),
        ("[' a ', '', 3, b]", ("a", "b")),
        ("4", None),
        ("' '", None),
        ("[]", None),
    ],
)
def test_models_are_an_order_of_preference(value: str, model: object) -> None:
    assert parse(f"model: {value}").model == model


@pytest.mark.parametrize(
    ("lines", "level"),
    [
        (("thinking-level: high",), "high"),
        (("thinkingLevel: off",), "off"),
        (("thinking: inherit",), "inherit"),
        (("thinking_level: high",), None),
        (("thinking-level: HIGH",), None),
        (("thinking-level: ' high '",), None),
        (("thinking-level: med",), None),
        (("thinking-level: 3", "thinking: low"), "low"),
        (("thinking-level: med", "thinking: low"), None),
        (("thinking-level: high", "thinkingLevel: low"), "low"),
    ],
    ids=str,
)
def test_a_thinking_level_is_one_of_a_few_words(lines: tuple[str, ...], level: object) -> None:
    assert parse(*lines).thinking_level == level


@pytest.mark.parametrize(
    ("value", "blocking"), [("true", True), ("' False '", False), ("yes", None), ("1", None)]
)
def test_blocking_is_true_or_false(value: str, blocking: object) -> None:
    assert parse(f"blocking: {value}").blocking is blocking


def test_output_is_handed_on_untouched() -> None:
    assert parse("output: {properties: {over-all: {}}}").output == {"properties": {"over-all": {}}}
    assert parse("output: false").output is False
    assert parse("output:").output is None


def test_unknown_keys_are_passed_over() -> None:
    assert parse("color: red") == parse()


def test_front_matter_that_is_not_yaml_still_loads_unless_that_is_fatal() -> None:
    text = "---\nname: fox\ndescription: a: b\n---\n"
    assert parse_agent(text, location="x").description == "a: b"
    with pytest.raises(FrontMatterError) as caught:
        parse_agent(text, location="embedded:x.md", level="fatal")
    assert str(caught.value) == (
        "Failed to parse YAML frontmatter (embedded:x.md): mapping values are not allowed here"
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@given(
    st.dictionaries(
        st.sampled_from(["name", "description", "tools", "spawns", "model"]), json_values
    )
)
def test_any_fields_can_be_normalised(fields: dict[str, Any]) -> None:
    found = parse_agent_fields(fields)
    if found is None:
        return
    definition = AgentDefinition(**found)
    assert definition.tools is None or "submit_result" in definition.tools
    assert definition.tools != ()
    assert definition.spawns != ()
