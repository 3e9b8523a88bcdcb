"""The brief and its example are never an answer."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesar_agent.documents import Task
from pytest_caesar.runs.brief import render_brief
from tests.pytest_caesar.recovery.reports import TASK, codes, fence, recovered, report

EXAMPLE = json.dumps(json.loads(report(summary="What you did, in one sentence.")), indent=2)
BRIEF = f"You are a helper.\n\nFix the parser.\n\nEnd with:\n\n{fence(EXAMPLE)}\nGood luck.\n"
TASK_DOCUMENT = Task.from_value(
    {
        "protocol": "caesar.task/v1",
        "id": TASK,
        "created_at": "2026-01-01T00:00:00.000Z",
        "agent": "x",
        "objective": "Fix the parser on empty input",
        "mode": "write",
        "isolation": "worktree",
        "workspace": "/w",
        "deadline_ms": 1000,
        "report_path": "/t/report.json",
        "events_path": "/t/events.jsonl",
    }
)
OURS = render_brief(TASK_DOCUMENT, expected="extracted")


def prefixed(brief: str, prefix: str) -> str:
    return "".join(f"{prefix}{line}\n" for line in brief.split("\n"))


def coloured(brief: str) -> str:
    return "".join(f"\x1b[2m{line}\x1b[0m\n" for line in brief.split("\n"))


def timed(brief: str) -> str:
    lines = brief.split("\n")
    return "".join(f"[12:00:{number:02d}] {line}\n" for number, line in enumerate(lines))


def as_json_line(brief: str) -> str:
    return json.dumps({"note": brief}) + "\n"


def twice_escaped(brief: str) -> str:
    return json.dumps({"note": json.dumps({"note": brief})}) + "\n"


def narrow(brief: str) -> str:
    return "\n".join(textwrap.wrap(brief, 38, break_long_words=True)) + "\n"


def cut(brief: str) -> str:
    return brief[: brief.index("in one") + 3] + "\n"


WRAPPINGS = {
    "as it is": str,
    "quoted": lambda brief: prefixed(brief, "> "),
    "indented": lambda brief: prefixed(brief, "    "),
    "named": lambda brief: prefixed(brief, "codex | "),
    "coloured": coloured,
    "timed": timed,
    "XML": lambda brief: f"<prompt>{escape(brief)}</prompt>",
    "JSON": as_json_line,
    "JSON in JSON": twice_escaped,
    "narrow": narrow,
    "CRLF": lambda brief: brief.replace("\n", "\r\n"),
    "one line": lambda brief: " ".join(brief.split()),
    "cut": cut,
}
every = pytest.mark.parametrize("wrap", WRAPPINGS.values(), ids=WRAPPINGS)
whole = pytest.mark.parametrize("wrap", list(WRAPPINGS.values())[:-1], ids=list(WRAPPINGS)[:-1])
Wrap = Callable[[str], str]


@every
def test_the_example_of_a_brief_is_no_report_in_any_wrap(wrap: Wrap) -> None:
    verdict = recovered(f"user\n{wrap(BRIEF)}\nERROR: gone\n", brief=BRIEF)

    assert verdict.source == "synthesized"
    assert verdict.report.status != "success"


@every
def test_an_echo_before_the_answer_does_not_spoil_it(wrap: Wrap) -> None:
    log = f"user\n{wrap(BRIEF)}\nagent\n{fence(report('success', 'Fixed.'))}"

    verdict = recovered(log, brief=BRIEF)

    assert (verdict.report.summary, verdict.form) == ("Fixed.", "fence")


@whole
def test_an_echo_after_the_answer_does_not_supersede_it(wrap: Wrap) -> None:
    log = f"{fence(report('success', 'Fixed.'))}transcript:\n{wrap(BRIEF)}"

    verdict = recovered(log, brief=BRIEF)

    assert (verdict.report.summary, verdict.source) == ("Fixed.", "extracted")


@whole
def test_our_own_brief_is_no_report_even_when_it_is_not_known(wrap: Wrap) -> None:
    for brief in (None, OURS):
        assert recovered(wrap(OURS), brief=brief).source == "synthesized"


@whole
def test_our_own_brief_does_not_supersede_a_report(wrap: Wrap) -> None:
    verdict = recovered(fence(report()) + wrap(OURS), brief=None)

    assert (verdict.source, verdict.report.status) == ("extracted", "success")


@pytest.mark.parametrize("summary", ["…", "...", " … "])
def test_a_placeholder_for_a_summary_is_an_example(summary: str) -> None:
    verdict = recovered(fence(report(summary=summary)))

    assert verdict.source == "synthesized"
    assert "report-echoes-brief" in codes(verdict)


def test_an_agent_that_files_the_example_has_not_reported() -> None:
    verdict = recovered(report_file=EXAMPLE.encode(), brief=BRIEF)

    assert verdict.source == "synthesized"
    assert "report-file-invalid" in codes(verdict)


def test_an_answer_that_only_resembles_the_example_counts() -> None:
    answer = EXAMPLE.replace("What you did, in one sentence.", "Fixed it, in one sentence.")

    assert recovered(fence(answer), brief=BRIEF).report.summary == "Fixed it, in one sentence."


@pytest.mark.parametrize("prefix", ["> ", "agent-number-one-of-this-project | "])
@pytest.mark.parametrize("before", ["", "Fix it. " * 50])
def test_a_quoted_example_that_is_torn_by_the_quoting_supersedes_nothing(
    prefix: str, before: str
) -> None:
    example = EXAMPLE.replace("{\n ", "{", 1)
    brief = f"{before}\n{example}\n"
    log = fence(report("success", "Fixed.")) + prefixed(brief, prefix) + "Bye.\n"

    verdict = recovered(log, brief=brief)

    assert (verdict.report.summary, codes(verdict)) == ("Fixed.", ["report-echoes-brief"])


def test_a_torn_report_that_begins_like_the_example_is_no_echo() -> None:
    torn = report("success", "What we did")[:-2]

    assert recovered(fence(report()) + torn, brief=BRIEF).source == "synthesized"


@given(
    prefix=st.text(alphabet=st.characters(exclude_characters='\n\r{}"`~'), max_size=20),
    suffix=st.text(alphabet=st.characters(exclude_characters='\n\r{}"'), max_size=5),
    escapes=st.integers(0, 3),
)
def test_no_prefix_and_no_escaping_makes_the_brief_a_report(
    prefix: str, suffix: str, escapes: int
) -> None:
    text = "".join(f"{prefix}{line}{suffix}\n" for line in BRIEF.split("\n"))
    for _ in range(escapes):
        text = json.dumps({"text": text}) + "\n"

    verdict = recovered(text, brief=BRIEF)

    assert verdict.source == "synthesized"
    assert verdict.report.status != "success"


EARLIER = report(
    summary="An earlier attempt, with words enough to be wrapped somewhere.", task_id=TASK
)
FOLLOWING = render_brief(
    TASK_DOCUMENT.model_copy(update={"context": f"An earlier report was:\n{fence(EARLIER)}"}),
    expected="extracted",
)


@pytest.mark.parametrize("width", [23, 40, 76])
@pytest.mark.parametrize("prefix", ["", "| ", "> "])
def test_an_earlier_report_in_a_brief_that_was_wrapped_is_nobodys(width: int, prefix: str) -> None:
    """Cut at a width, wherever that is, as terminals and loggers do."""
    lines = prefixed(FOLLOWING, prefix).split("\n")
    log = "\n".join(
        line[at : at + width] for line in lines for at in range(0, len(line) or 1, width)
    )
    verdict = recovered(log + "\nI could not do it.\n", brief=FOLLOWING)
    assert verdict.source == "synthesized"


@pytest.mark.parametrize("role", ["user", "system"])
def test_a_brief_that_is_echoed_whole_is_no_report_of_somebody_elses(role: str) -> None:
    def lines(*messages: tuple[str, str]) -> str:
        told = [{"type": "message", "role": who, "content": text} for who, text in messages]
        return "".join(json.dumps(line) + "\n" for line in told)

    log = lines((role, OURS), ("assistant", "I could not do it."))
    assert codes(recovered(log, brief=OURS)) == []
    log += lines((role, report()))
    assert codes(recovered(log, brief=OURS)) == ["report-not-own-words"]
