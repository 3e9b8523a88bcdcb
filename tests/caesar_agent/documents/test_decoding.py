from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesar_agent.documents import Report, decode
from caesar_agent.documents.decoding import MAX_DEPTH, MAX_DIGITS, MAX_VALUES
from caesar_agent.errors import DocumentError

TEXT = '{"protocol":"caesar.report/v1","status":"success","summary":"été terminé"}'


def refusal(data: bytes | str) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        decode(data, kind="report")
    return caught.value


@pytest.mark.parametrize(
    ("data", "encoding", "flags"),
    [
        (TEXT.encode(), "utf-8", ()),
        (TEXT.encode("utf-8-sig"), "utf-8", ("byte-order-mark",)),
        ("\ufeff" + TEXT, "utf-8", ("byte-order-mark",)),
        (
            b"\xff\xfe" + TEXT.encode("utf-16-le"),
            "utf-16-le",
            ("byte-order-mark", "unusual-encoding"),
        ),
        (
            b"\xfe\xff" + TEXT.encode("utf-16-be"),
            "utf-16-be",
            ("byte-order-mark", "unusual-encoding"),
        ),
        (TEXT.encode("utf-16-le"), "utf-16-le", ("unusual-encoding",)),
        (TEXT.encode("utf-16-be"), "utf-16-be", ("unusual-encoding",)),
        (TEXT.encode("utf-32"), "utf-32-le", ("byte-order-mark", "unusual-encoding")),
        (TEXT.encode("utf-32-le"), "utf-32-le", ("unusual-encoding",)),
        (TEXT.encode("utf-32-be"), "utf-32-be", ("unusual-encoding",)),
    ],
)
def test_encodings_that_say_what_they_are_are_read_and_flagged(
    data: bytes | str, encoding: str, flags: tuple[str, ...]
) -> None:
    decoded = decode(data)

    assert decoded.value["summary"] == "été terminé"
    assert (decoded.encoding, decoded.flags) == (encoding, flags)


def test_a_report_tells_its_encoding_in_diagnostics() -> None:
    flagged = Report.parse_flagged(TEXT.encode("utf-16"))

    assert flagged.document.summary == "été terminé"
    assert [item.code for item in flagged.diagnostics] == ["byte-order-mark", "unusual-encoding"]


def test_windows_line_ends_are_blanks_like_others() -> None:
    assert decode(b'{\r\n "a": 1\r\n}\r\n').value == {"a": 1}


def test_latin_1_is_refused_with_the_byte_that_says_so() -> None:
    assert str(refusal('{"a":"été"}'.encode("latin-1"))) == (
        "invalid report: byte 0xe9 at offset 6 is not UTF-8; write the file as UTF-8"
    )


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty-document"),
        (b" \r\n\t", "empty-document"),
        (b"\xef\xbb\xbf", "empty-document"),
        (b'{"protocol": "caesar.repo', "truncated"),
        (b'{"a": 1', "truncated"),
        (b'{"a": tru', "truncated"),
        (b'{"a": -', "truncated"),
        (b'{"a": "caf\xc3', "truncated"),
        (b'{"a": [', "truncated"),
        (b"\xff\xfe{\x00}", "truncated"),
        (b'{"a": 1,}', "not-json"),
        (b"{'a': 1}", "not-json"),
        (b"{} {}", "not-json"),
        (b'{"a": truth}', "not-json"),
        (b'{"a": "\x01"}', "not-json"),
        ("{\u2003}".encode(), "not-json"),
        (b"\0\0\0\0\0\0\0\0", "not-json"),
        (b'{"a": 1, "b": {"c": 1, "c": 1}}', "duplicate-key"),
        (b'{"a": NaN}', "not-a-number"),
        (b'{"a": [Infinity]}', "not-a-number"),
        (b'{"a": -Infinity}', "not-a-number"),
        (b'{"a": 1e400}', "number-too-large"),
        (b'{"a": -1' + b"0" * 1_000_000 + b"}", "number-too-large"),
        (b'{"a": 1' + b"0" * MAX_DIGITS + b"}", "number-too-large"),
        (b'{"a": ' + str(int(sys.float_info.max) + 1).encode() + b"}", "number-too-large"),
        (b"\xed\xa0\x80", "bad-encoding"),
        (b'{"a": "\xff"}', "bad-encoding"),
        (b"\xff\xfe{\x00\x00\xd8}\x00", "bad-encoding"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "too-deep"),
        (b'{"a":' * 100_000, "too-deep"),
        (b"[1," * 500_000, "too-deep"),
        (b"[" + b"1," * (MAX_VALUES + 1) + b"1]", "too-many-values"),
        (b'{"a": "\\u12', "truncated"),
        (b'{"a": "\\x"}', "not-json"),
    ],
    ids=lambda value: repr(value)[:30] if isinstance(value, bytes) else None,
)
def test_what_is_not_one_json_document_has_a_code(data: bytes, code: str) -> None:
    error = refusal(data)

    assert (error.kind, error.code, error.where) == ("report", code, "")


@settings(deadline=None, max_examples=200)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=5,
    ),
    st.sampled_from(["ascii", "utf-8"]),
    st.data(),
)
def test_a_document_that_was_cut_off_anywhere_is_told_as_such(
    value: Any, encoding: str, data: st.DataObject
) -> None:
    text = json.dumps({"a": value}, ensure_ascii=encoding == "ascii")
    whole = text.encode("utf-8", "replace")
    part = whole[: data.draw(st.integers(1, len(whole) - 1))]

    assert refusal(part).code == "truncated"


@pytest.mark.parametrize(
    "text", ['{"a": 1.', '{"a": -1.5e', "[3E-", '{"a": "\\u00e9', '["\\ud83d\\ude00']
)
def test_a_document_that_was_cut_off_in_a_number_or_an_escape_is_told_as_such(text: str) -> None:
    assert refusal(text.encode()).code == "truncated"


@pytest.mark.parametrize("text", ['{"a": 1.}', '{"a": .5}', "[1e]", '{"a": x.', '{"a": "\\u00e"}'])
def test_a_wrong_number_or_escape_is_not_taken_for_a_cut(text: str) -> None:
    assert refusal(text.encode()).code == "not-json"


def test_the_message_says_where_the_text_is_broken() -> None:
    assert str(refusal(b'{\n "a": 1,\n "b": oops\n}')) == (
        "invalid report: not JSON: expecting value (line 3, column 7)"
    )


@pytest.mark.parametrize(
    ("text", "column"), [('{"a": 1,}', 8), ('{"a": [1 ,  ]}', 10), ("[[1],]", 5), ("[,]", 2)]
)
def test_a_comma_too_many_is_told_alike_on_every_python(text: str, column: int) -> None:
    assert refusal(text).problem == (
        f"not JSON: a comma before a closing bracket (line 1, column {column})"
    )


def test_commas_in_strings_are_not_values() -> None:
    assert decode(json.dumps("," * (MAX_VALUES + 1))).value == "," * (MAX_VALUES + 1)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_number_is_read_as_it_stands(sign: int) -> None:
    largest = sign * int(sys.float_info.max)

    assert decode(str(largest)).value == largest


def test_a_number_that_is_too_large_is_told_in_short() -> None:
    assert refusal(b'{"a": 1' + b"0" * 400 + b"}").problem == (
        f"the number 1{'0' * 38}… does not fit a double"
    )


def test_a_key_with_control_characters_is_named_without_them() -> None:
    assert refusal(b'{"\\u001b[2J":1,"\\u001b[2J":2}').problem == (
        r"field '\x1b[2J' stands twice in one object"
    )


def test_brackets_in_strings_are_not_depth() -> None:
    text = json.dumps({"a": '[{"' * 10_000, "b": "\\[" * 10_000})

    assert decode(text).value == json.loads(text)


def test_the_deepest_document_that_is_read_is_written_too() -> None:
    value = json.loads("[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1))
    report = Report.parse(json.dumps({**json.loads(TEXT), "x": value}))

    assert Report.parse(report.to_json()) == report


def test_depth_does_not_depend_on_how_deep_the_caller_stands() -> None:
    def descend(levels: int) -> None:
        if levels:
            descend(levels - 1)
        else:
            assert refusal(b"[" * 5000).code == "too-deep"

    descend(sys.getrecursionlimit() // 2)


def test_strings_without_end_cost_no_more_than_others() -> None:
    # Each of these quotes could begin a string that is searched for to the end.
    assert refusal(b"[" * 200 + b'"' + b'\\"' * 500_000).code == "too-deep"
    assert refusal(b"[1]" * 200 + b'"' + b'\\"' * 500_000).code == "not-json"


def test_lone_surrogates_survive() -> None:
    assert decode('{"a":"\\ud83d"}').value == {"a": "\ud83d"}
    assert decode('{"a":"\\ud83d\\ude00"}').value == {"a": "\U0001f600"}


def test_separators_of_lines_inside_strings_are_text() -> None:
    assert decode('{"a":"\u2028\u2029\u0085"}').value == {"a": "\u2028\u2029\u0085"}


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200))
def test_no_bytes_raise_anything_but_document_errors(data: bytes | str) -> None:
    try:
        decode(data)
    except DocumentError as error:
        assert error.code  # noqa: PT017 - any outcome but another exception is right


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@settings(deadline=None)
@given(JSON, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32-be"]))
def test_every_json_value_comes_back(value: Any, encoding: str) -> None:
    text = json.dumps({"value": value}, ensure_ascii=False)

    assert decode(text.encode(encoding)).value == {"value": value}
    assert decode(text).value == {"value": value}
