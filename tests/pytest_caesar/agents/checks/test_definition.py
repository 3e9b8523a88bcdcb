from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.agents.checks.complaint import Complaint
from pytest_caesar.agents.checks.definition import check_definition


def check(text: str | bytes) -> tuple[Complaint, ...]:
    data = text if isinstance(text, bytes) else text.encode()
    return check_definition(data, path="a.md")


def with_fields(*lines: str, body: str = "Do it.") -> tuple[Complaint, ...]:
    block = "\n".join(["name: fox", "description: Jumps over dogs.", *lines])
    return check(f"---\n{block}\n---\n{body}\n")


def only(complaints: tuple[Complaint, ...]) -> Complaint:
    assert len(complaints) == 1, [complaint.as_text() for complaint in complaints]
    return complaints[0]


def place(complaint: Complaint) -> tuple[str, int | None]:
    return complaint.code, complaint.line


# nothing to complain about


@pytest.mark.parametrize(
    "lines",
    [
        (),
        ("tools: Read, Grep, Bash",),
        ("tools: [Read, mcp__server__tool]",),
        ("tools:\n  - read\n  - glob",),
        ("tools: submit_result",),
        ("spawns: owl, cat",),
        ('spawns: "*"',),
        ("spawns: ''",),
        ("spawns: []",),
        ("tools: task", "spawns: owl"),
        ("model: opus  # the large one",),
        ("model: [a, b]",),
        ("thinking-level: xhigh",),
        ("thinking: inherit",),
        ("blocking: 'TRUE'",),
        ("color: red", "mode: subagent", "temperature: 0.1", "version: 1.0", "maxTurns: 5"),
        ("permissionMode: plan", "mcpServers: {}", "hooks: {}", "title: Fox", "tags: [x]"),
        ("output: {type: object, properties: {a-b: {type: [string, 'null']}}}",),
        ("output: {properties: {over: {metadata: {description: x}}}, optionalProperties: {}}",),
        ("output: true",),
        ("disallowedTools: Bash",),
    ],
    ids=str,
)
def test_a_sound_definition_is_left_alone(lines: tuple[str, ...]) -> None:
    assert with_fields(*lines) == ()


@pytest.mark.parametrize(
    "text",
    [
        "---\r\nname: fox\r\ndescription: d\r\n---\r\nBody\r\n",
        "---\nname: fox\ndescription: |\n  Long: text\n\n  <example>\n  # 1\n  </example>\n---\nBody",
        "---\nname: fox\ndescription: d\n---\nBody\n---\nname: not a field\nMore prose here.\n---\n",
        "---\nname: fox\ndescription: d\n---\n# Title\n---\nA rule.\n",
        "---\nname: fox\ndescription: d # said aside\n---\n<!-- hidden --> Body {{#each}}",
        "---\nname: fox\ndescription: 'Path C:\\new and \\notes'\n---\nBody",
        "---\n# a comment\nname: fox\n\ndescription: >-\n  d\n---\nBody",
    ],
    ids=range(7),
)
def test_a_sound_file_is_left_alone(text: str) -> None:
    assert check(text) == ()


# the block


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("\ufeff---\nname: a\n---\n", "byte-order-mark", "byte-order mark"),
        (
            "\n---\nname: a\n---\n",
            "text-before-block",
            "a blank line or space before the --- on line 2",
        ),
        (
            "# Fox\n\n---\nname: a\n---\n",
            "text-before-block",
            "there is text before the --- on line 3",
        ),
        ("```\n---\nname: a\n---\n```", "text-before-block", "there is a code fence before"),
        ("<!-- x -->\n---\nname: a\n---\n", "text-before-block", "there is a comment before"),
        (" ---\nname: a\n---\n", "text-before-block", "the --- is indented"),
        ("---\nname: a\n", "block-not-closed", "opened and never closed"),
        ("---\nname: a\n ---\n", "block-not-closed", "(the --- on line 3 is indented)"),
        ("---\nname: a\n<!-- x\n---\n-->\n", "block-not-closed", "a comment runs over"),
        ("You are a fox.\n", "no-block", "there is no front matter"),
        ("", "no-block", "there is no front matter"),
    ],
    ids=range(11),
)
def test_a_block_that_the_host_does_not_see_is_an_error(text: str, code: str, says: str) -> None:
    complaint = only(check(text))
    assert (complaint.code, complaint.severity) == (code, "error")
    assert says in complaint.found
    assert "leaves the file out" in complaint.effect


@pytest.mark.parametrize("name", ["README.md", "docs/readme-first.md", "CLAUDE.md"])
def test_a_page_among_definitions_is_a_note(name: str) -> None:
    complaint = only(check_definition(b"# Agents\n", path=name))
    assert (complaint.code, complaint.severity) == ("no-block", "note")


def test_a_template_is_a_note() -> None:
    complaint = only(check("---\nname: {{name}}\n{{#if x}}model: x\n{{/if}}---\n"))
    assert (complaint.code, complaint.severity) == ("template", "note")


def test_a_byte_that_is_not_utf_8_is_named_with_its_line() -> None:
    complaint = only(check(b"---\nname: fox\ndescription: d\n---\ncaf\xe9\n"))
    assert place(complaint) == ("not-utf8", 5)
    assert "0xe9" in complaint.found


def test_a_closing_line_with_a_surplus_is_told() -> None:
    complaint = only(check("---\nname: fox\ndescription: d\n-----\nBody"))
    assert place(complaint) == ("closing-line-with-text", 4)


def test_a_value_that_closes_the_block_early_is_told() -> None:
    complaint = only(check("---\nname: fox\ndescription: |\n  a\n---\n  b\ntools: Read\n---\nBody"))
    assert place(complaint) == ("fields-after-block", 5)


def test_lines_are_those_of_the_file_also_after_a_comment() -> None:
    text = "---\n<!--\nthree\nlines\n-->\nname: fox\ndescription: d\nmodel: 7\n---\nBody"
    assert place(only(check(text))) == ("model-ignored", 8)


# YAML


@pytest.mark.parametrize(
    ("line", "found", "mend"),
    [
        (
            "hint: Use it: always",
            "the value of hint holds a colon",
            "put the value of hint into quotes",
        ),
        ("spawns: *", "'*' starts a value without quotes", "put the value of spawns"),
        ('hint: "a" b', "text stands after the closing quote of hint", "quote the whole value"),
        ("hint:x", "there is no blank after the colon of hint", "write hint: with a blank"),
        ("and so on", "this line belongs to no key", "indent the lines of a value"),
        ("hint: @x", "'@' starts a value without quotes", "put the value of hint"),
    ],
)
def test_what_is_not_yaml_is_told_with_cause_line_and_mend(
    line: str, found: str, mend: str
) -> None:
    complaint = only(with_fields(line, "model: m"))
    assert place(complaint) == ("not-yaml", 4)
    assert found in complaint.found
    assert mend in complaint.mend
    assert complaint.effect.startswith("it reads the block line by line instead")


def test_what_the_line_reader_damages_is_named() -> None:
    complaints = check(
        "---\nname: fox\ndescription: a: b\nmodel: 'm'\nnote: |\n  lost\n  too\n---\nBody"
    )
    assert only(complaints).effect.endswith(
        "(model keeps its quotes; 2 lines that start no key are lost)"
    )


def test_a_name_that_keeps_its_quotes_cannot_be_asked_for() -> None:
    complaints = check("---\nname: 'fox'\ndescription: a: b\n---\nBody")
    assert [complaint.code for complaint in complaints] == ["name-form", "not-yaml"]


def test_tools_that_keep_their_brackets_are_lost() -> None:
    complaints = with_fields("tools: [Read, Grep]", "hint: a: b")
    assert [complaint.code for complaint in complaints] == ["tools-damaged", "not-yaml"]


def test_a_comment_that_cuts_a_description_is_told() -> None:
    complaint = only(check("---\nname: fox\ndescription: Fixes issue #12 and more\n---\nBody"))
    assert place(complaint) == ("comment-cuts-value", 3)
    assert "'#12 and more'" in complaint.effect


# single fields


@pytest.mark.parametrize(
    ("lines", "code", "says"),
    [
        ("description: d", "name-missing", "there is no name"),
        ("Name: fox\ndescription: d", "name-missing", '("Name" is another key)'),
        ("name: 7\ndescription: d", "name-missing", "name is the number 7, not text"),
        ("name: true\ndescription: d", "name-missing", "name is the boolean true, not text"),
        ("name: {{X}}\ndescription: d", "name-missing", "template placeholder"),
        ("name: ' '\ndescription: d", "name-blank", "nothing but blanks"),
        ("name: ' fox'\ndescription: d", "name-form", "blanks around it"),
        ("name: 'fox, owl'\ndescription: d", "name-form", "a comma"),
        ("name: fox", "description-missing", "there is no description"),
        ("name: fox\ndescripton: d", "description-missing", '("descripton" is another key)'),
        ("name: fox\ndescription: [d]", "description-missing", "description is a list, not text"),
    ],
)
def test_name_and_description_must_be_usable(lines: str, code: str, says: str) -> None:
    complaint = only(check(f"---\n{lines}\n---\nBody"))
    assert complaint.code == code
    assert says in complaint.found


def test_an_empty_body_is_told() -> None:
    assert only(with_fields(body="")).code == "empty-body"


def test_literal_line_ends_in_a_description_are_told() -> None:
    text = "---\nname: fox\ndescription: 'Jumps.\\n\\nExample:\\n- high'\n---\nBody"
    complaint = only(check(text))
    assert place(complaint) == ("literal-newline", 3)
    assert "(3 times)" in complaint.found


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (("model: a", "model: b"), "model is already on line 4"),
        (("dark-mode: a", "darkMode: b"), "darkMode is already on line 4 as dark-mode"),
    ],
    ids=str,
)
def test_a_key_that_stands_twice_is_told(lines: tuple[str, ...], found: str) -> None:
    complaint = only(with_fields(*lines))
    assert (place(complaint), complaint.found) == (("duplicate-key", 5), found)


@pytest.mark.parametrize(
    ("key", "mend"),
    [
        ("allowed-tools", "tools"),
        ("allowedTools", "tools"),
        ("Tools", "tools"),
        ("thinking_level", "thinking-level"),
        ("Model", "model"),
        ("spawn", "spawns"),
    ],
)
def test_a_misspelt_key_is_told(key: str, mend: str) -> None:
    complaint = only(with_fields(f"{key}: high"))
    assert (complaint.code, complaint.mend) == ("misspelt-key", f"write {mend}")
    assert ("may use every tool" in complaint.effect) == (mend == "tools")


def test_a_misspelt_key_beside_the_right_one_is_no_matter() -> None:
    assert with_fields("tools: Read", "allowed-tools: Read") == ()


@pytest.mark.parametrize("value", ["med", "HIGH", "' high '", "3", "{}"])
def test_an_unknown_thinking_level_is_told(value: str) -> None:
    assert only(with_fields(f"thinking-level: {value}")).code == "thinking-level"


def test_a_lost_level_names_the_near_one() -> None:
    assert 'did you mean "medium"?' in only(with_fields("thinking-level: mediun")).found


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("model: 4", "model-ignored"),
        ("blocking: yes", "blocking-ignored"),
        ("blocking: 1", "blocking-ignored"),
    ],
)
def test_a_field_of_the_wrong_type_is_told(line: str, code: str) -> None:
    assert place(only(with_fields(line))) == (code, 4)


# tools and spawns


@pytest.mark.parametrize("value", ["[]", "''", "','", "{read: true}", "true", "7", "[1]"])
def test_tools_that_grant_everything_are_told(value: str) -> None:
    complaint = only(with_fields(f"tools: {value}"))
    assert (complaint.code, complaint.severity) == ("tools-grant-everything", "error")


def test_tools_without_a_value_are_a_note() -> None:
    assert only(with_fields("tools:")).severity == "note"


@pytest.mark.parametrize("value", ["'*'", "['*']", "all", "'*, Read'"])
def test_a_star_among_tools_grants_nothing(value: str) -> None:
    complaint = only(with_fields(f"tools: {value}"))
    assert complaint.code == "tools-star"
    assert ("nothing but hand in a result" in complaint.effect) == ("Read" not in value)


@pytest.mark.parametrize("value", ["Bash(git *)", "'Agent(a, b)'", "[Read, 'Bash(npm:*)']"])
def test_a_tool_with_brackets_is_dropped(value: str) -> None:
    assert only(with_fields(f"tools: {value}")).code == "tool-specifier"


@pytest.mark.parametrize("value", ["''", "[]", "false", ""])
def test_spawns_that_mean_nobody_allow_everybody_beside_the_task_tool(value: str) -> None:
    complaint = only(with_fields("tools: Task", f"spawns: {value}"))
    assert place(complaint) == ("spawns-none-means-all", 5)


@pytest.mark.parametrize("value", ["true", "7", "{a: b}", "[1]"])
def test_spawns_of_the_wrong_type_are_told(value: str) -> None:
    assert only(with_fields(f"spawns: {value}")).code == "spawns-ignored"


@pytest.mark.parametrize("value", ["'owl, *'", "['*', owl]"])
def test_a_star_among_names_is_told(value: str) -> None:
    assert only(with_fields(f"spawns: {value}")).code == "spawns-star-in-list"


def test_the_task_tool_alone_is_a_note() -> None:
    complaint = only(with_fields("tools: Read, Task"))
    assert (complaint.code, complaint.severity) == ("task-without-spawns", "note")


# output


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("{type: strng}", 'there is no type "strng"; did you mean "string"?'),
        ("{type: int32}", "belongs to JSON Type Definition"),
        ("{type: 7}", "type is the number 7"),
        ("{type: []}", "type is an empty list"),
        ("{properties: [a]}", "properties is a list, not a mapping of schemas"),
        ("{properties: {a: text}}", 'properties.a is the text "text", not a schema'),
        ("{items: {anyOf: []}}", "items: anyOf is a list, not a list of schemas"),
        ("{required: true}", "required is the boolean true, not a list of names"),
        ("{enum: a}", "enum is the text"),
        ("{minLength: 1.5}", "minLength is the number 1.5, not a whole number"),
        ("{minimum: '1'}", "not a number"),
        ("a report", 'it is the text "a report", not a schema'),
        ("[a]", "it is a list, not a schema"),
        ("{$defs: {x: {not: 3}}}", "$defs.x.not is the number 3"),
    ],
)
def test_output_that_is_no_json_schema_is_told(value: str, says: str) -> None:
    complaint = only(with_fields(f"output: {value}"))
    assert place(complaint) == ("output-not-schema", 4)
    assert says in complaint.found


def test_a_schema_that_holds_itself_is_read_once() -> None:
    assert with_fields("output: &o {properties: {again: *o}}") == ()


def test_prose_that_asks_for_another_form_is_a_note() -> None:
    complaint = only(with_fields("output: {type: object}", body="## Output Format\nMarkdown."))
    assert (complaint.code, complaint.severity) == ("output-against-prose", "note")


# form and safety


def test_a_complaint_reads_as_three_lines() -> None:
    assert only(with_fields("model: 4")).as_text() == (
        "a.md:4: model is the number 4\n"
        "  the host: it drops the field without a word\n"
        "  mend: write the model's name in quotes"
    )


def test_control_characters_are_never_shown_raw() -> None:
    complaints = check_definition(b"---\nname: ' \x1b[31m'\ndescription: d\n---\nB", path="\x07.md")
    assert complaints
    assert all("\x1b" not in c.as_text() and "\x07" not in c.as_text() for c in complaints)


@given(st.binary(max_size=300))
def test_any_bytes_can_be_checked(data: bytes) -> None:
    for text in (data, b"---\n" + data + b"\n---\nBody"):
        for complaint in check(text):
            assert (
                complaint.line is None
                or 1 <= complaint.line <= data.count(b"\n") + data.count(b"\r") + 5
            )
            assert complaint.as_dict()["code"] == complaint.code


@given(
    st.lists(
        st.sampled_from(
            [
                "tools: [a",
                "spawns: *",
                "name: x",
                "- a",
                "output: {",
                "  b: c",
                "x:y",
                "---",
                "<!--",
                "-->",
            ]
        ),
        max_size=8,
    )
)
def test_any_mixture_of_mistakes_can_be_checked(lines: list[str]) -> None:
    text = "\n".join(["---", "name: fox", "description: d", *lines, "---", "Body"])
    for complaint in check(text):
        assert complaint.line is None or 1 <= complaint.line <= len(text.splitlines())
