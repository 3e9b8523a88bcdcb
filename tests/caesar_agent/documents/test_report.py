from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from caesar_agent.documents import Change, Report
from caesar_agent.documents.problems import MAX_PROBLEMS
from caesar_agent.errors import DocumentError, UnsupportedVersionError
from tests.caesar_agent.documents.examples import report


def refusal(value: object) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        Report.from_value(value)
    return caught.value


def test_three_fields_make_a_report_and_the_rest_has_defaults() -> None:
    assert Report.from_value(report()).dump() == {
        "protocol": "caesar.report/v1",
        "task_id": "",
        "status": "success",
        "summary": "s",
        "details": "",
        "changes": [],
        "commands_run": [],
        "findings": [],
        "questions": [],
        "next_steps": [],
        "artifacts": [],
    }


def test_the_example_of_the_specification_comes_back_as_it_was() -> None:
    value = report(
        task_id="t_7f3a",
        details="…",
        changes=[{"path": "src/parser.ts", "action": "modified", "summary": "guard"}],
        commands_run=[{"command": "pnpm test", "exit_code": 0, "note": ""}],
        findings=[
            {"severity": "medium", "title": "…", "file": "src/x.ts", "line": 42, "detail": "…"}
        ],
        questions=[{"id": "q1", "question": "Keep it?", "options": ["yes", "no"]}],
        next_steps=["Document the change"],
        artifacts=[{"path": "bench.json", "description": "before/after"}],
        usage={"input_tokens": 12000, "output_tokens": 3000, "duration_ms": 84000},
    )

    assert Report.parse(json.dumps(value)).dump() == value


def test_unknown_fields_survive_at_every_level() -> None:
    value = report(
        confidence=0.8,
        trace=None,
        changes=[{"path": "a", "action": "modified", "lines": 3, "summary": ""}],
        usage={"cached_tokens": 5},
    )
    read = Report.from_value(value)

    assert read.model_extra == {"confidence": 0.8, "trace": None}
    assert read.dump()["changes"] == value["changes"]
    assert read.dump()["usage"] == {"cached_tokens": 5}
    assert Report.parse(read.to_json()) == read


@pytest.mark.parametrize(
    "fields",
    [
        {"task_id": None, "details": None, "usage": None},
        {"changes": None, "next_steps": None},
        {"changes": [{"path": "a", "action": "created", "summary": None}]},
        {
            "findings": [
                {"severity": "low", "title": "t", "file": None, "line": None, "detail": None}
            ]
        },
        {"commands_run": [{"command": "c", "exit_code": None, "note": None}]},
        {"usage": {"input_tokens": None, "cost_usd": None}},
        {"questions": [{"id": "q", "question": "?", "options": None}]},
    ],
)
def test_null_for_an_optional_field_is_an_absent_field(fields: dict[str, Any]) -> None:
    def without_nulls(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_nulls(item) for key, item in value.items() if item is not None}
        return [without_nulls(item) for item in value] if isinstance(value, list) else value

    assert Report.from_value(report(**fields)) == Report.from_value(report(**without_nulls(fields)))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"summary": None}, "invalid report at summary: expected a string, found null"),
        ({"summary": ""}, "invalid report at summary: expected some text, found only blanks"),
        ({"summary": " \n\t"}, "invalid report at summary: expected some text, found only blanks"),
        (
            {"status": None},
            "invalid report at status: expected 'success', 'partial', 'failed' or 'blocked', found null",
        ),
        ({"task_id": 5}, "invalid report at task_id: expected a string, found the number 5"),
        ({"changes": {}}, "invalid report at changes: expected an array, found an object"),
        ({"changes": [None]}, "invalid report at changes[0]: expected an object, found null"),
        ({"changes": ["a.txt"]}, 'invalid report at changes[0]: expected an object, found "a.txt"'),
        ({"next_steps": "a"}, 'invalid report at next_steps: expected an array, found "a"'),
        ({"next_steps": [None]}, "invalid report at next_steps[0]: expected a string, found null"),
        (
            {"changes": [{"path": "a", "action": "created"}, {"path": "b", "action": "added"}]},
            ("invalid report at changes[1].action: expected 'created', 'modified', 'deleted' or "
             "'renamed', found \"added\""),
        ),
        ({"findings": [{"severity": "low"}]}, "invalid report at findings[0].title: a required field is missing"),
        (
            {"findings": [{"severity": "low", "title": "", "line": 0}]},
            "invalid report at findings[0].line: expected more than 0, found the number 0",
        ),
        (
            {"usage": {"input_tokens": 1.5}},
            "invalid report at usage.input_tokens: expected an integer, found the number 1.5",
        ),
        (
            {"usage": {"input_tokens": True}},
            "invalid report at usage.input_tokens: expected an integer, found true",
        ),
        (
            {"usage": {"input_tokens": 2**53}},
            ("invalid report at usage.input_tokens: expected at most 9007199254740991, "
             "found the number 9007199254740992"),
        ),
        (
            {"findings": [{"severity": "low", "title": "", "line": 2**53}]},
            ("invalid report at findings[0].line: expected at most 9007199254740991, "
             "found the number 9007199254740992"),
        ),
        (
            {"commands_run": [{"command": "c", "exit_code": -(2**53)}]},
            ("invalid report at commands_run[0].exit_code: expected at least -9007199254740991, "
             "found the number -9007199254740992"),
        ),
        ({"usage": {"cost_usd": True}}, "invalid report at usage.cost_usd: expected a number, found true"),
        ({"usage": {"cost_usd": -0.5}}, "invalid report at usage.cost_usd: expected at least 0, found the number -0.5"),
        ({"usage": []}, "invalid report at usage: expected an object, found an array"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named_with_what_was_found_and_expected(
    fields: dict[str, Any], message: str
) -> None:
    assert str(refusal(report(**fields))) == message


@pytest.mark.parametrize(
    "status",
    [
        "Success",
        " success ",
        "SUCCESS",
        "completed",
        "done",
        "ok",
        "error",
        "fail",
        "",
        True,
        "\ud83d",
    ],
)
def test_only_the_four_words_are_a_status(status: object) -> None:
    assert refusal(report(status=status)).where == "status"


@pytest.mark.parametrize("value", [None, 3, "x", [report()], True])
def test_only_an_object_is_a_report(value: object) -> None:
    assert refusal(value).code == "not-an-object"


def test_whole_numbers_in_other_spellings_are_integers() -> None:
    read = Report.parse(
        '{"protocol":"caesar.report/v1","status":"success","summary":"s",'
        '"findings":[{"severity":"low","title":"t","line":3.0}],"usage":{"input_tokens":1e0}}'
    )

    assert read.findings[0].line == 3
    assert read.usage is not None
    assert read.usage.input_tokens == 1


def test_lone_surrogates_are_kept_and_written_as_escapes() -> None:
    text = (
        '{"protocol":"caesar.report/v1","status":"success",'
        '"summary":"party \\ud83d and byte \\udcb2","x":"\\udc00"}'
    )
    read = Report.parse(text)

    assert read.summary == "party \ud83d and byte \udcb2"
    assert "\\ud83d" in read.to_json()
    assert Report.parse(read.to_json().encode()) == read


def test_control_characters_of_an_agent_do_not_reach_a_message() -> None:
    message = str(refusal(report(status="\x1b]0;owned\x07\n\u202e")))

    assert message.endswith(r'found "\x1b]0;owned\x07\n\u202e"')


def test_a_path_with_a_nul_is_kept_and_remarked_on() -> None:
    flagged = Report.parse_flagged(
        json.dumps(
            report(
                summary="zero \0 and esc \x1b[31m",
                changes=[
                    {"path": "a", "action": "created"},
                    {"path": "a\0b", "action": "modified"},
                ],
                artifacts=[{"path": "\0"}],
            )
        )
    )

    assert flagged.document.changes[1].path == "a\0b"
    (remark,) = flagged.diagnostics
    assert remark.code == "path-with-nul"
    assert remark.message == "changes[1].path and 1 more: a path with a NUL character names no file"


def test_every_wrong_field_is_told_up_to_a_bound() -> None:
    error = refusal(report(status="done", changes={}, next_steps="x"))

    assert [problem.where for problem in error.problems] == ["status", "changes", "next_steps"]
    assert error.count == 3
    assert str(error).endswith("(and 2 more)")

    many = refusal(report(**{name: 3 for name in Report.model_fields if name != "protocol"}))
    assert many.count == len(Report.model_fields) - 1
    assert len(many.problems) <= MAX_PROBLEMS


def test_of_the_elements_of_an_array_the_first_wrong_one_is_told() -> None:
    error = refusal(
        report(changes=[{"path": "a", "action": "created"}, 3, 4], next_steps=[None, 1])
    )

    assert [problem.where for problem in error.problems] == ["changes[1]", "next_steps[0]"]


@pytest.mark.timeout(30)
def test_a_hundred_thousand_wrong_elements_cost_no_more_than_one() -> None:
    error = refusal(report(changes=[{"path": "a", "action": "added"}] * 100_000))

    assert error.count == 1
    assert error.where == "changes[0].action"


def test_ten_thousand_changes_are_read() -> None:
    changes = [{"path": f"f{number}", "action": "created"} for number in range(10_000)]

    assert len(Report.parse(json.dumps(report(changes=changes))).changes) == 10_000


def test_errors_survive_pickling() -> None:
    error = refusal(report(changes=[3]))
    copy = pickle.loads(pickle.dumps(error))

    assert (str(copy), copy.where, copy.problems) == (str(error), error.where, error.problems)

    version = refusal(report(protocol="caesar.report/v2"))
    copy = pickle.loads(pickle.dumps(version))
    assert isinstance(copy, UnsupportedVersionError)
    assert copy.found == "caesar.report/v2"


def test_a_report_that_a_program_makes_is_written_and_read_again() -> None:
    made = Report(
        protocol="caesar.report/v1",
        status="partial",
        summary="half",
        changes=(Change(path="a", action="created"),),
    )

    assert Report.parse(made.to_json()) == made
    assert made.to_json().endswith("}\n")
    assert "\n" not in made.to_line()


def test_a_number_that_json_does_not_have_is_not_written() -> None:
    with pytest.raises(DocumentError) as caught:
        Report.from_value(report(score=float("nan"))).to_json()
    assert caught.value.code == "not-a-number"


def test_documents_do_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Report.from_value(report()).summary = "other"  # type: ignore[misc]
