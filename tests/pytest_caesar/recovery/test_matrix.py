"""The matrix of sources: each broken in every way, and every choice of them taken away."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from pytest_caesar.fake_agent.agent import FakeAgents, Step
from pytest_caesar.fake_agent.checks import Place
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.runs.run import Run
from pytest_caesar.workspace.repository import Repository

Way: TypeAlias = Callable[[FakeAgents, Place], Step]

SOURCES = ("channel", "schema", "file", "extracted")
PLACES: dict[str, Place] = {
    "channel": "submission",
    "schema": "message",
    "file": "file",
    "extracted": "fence",
}
NAMES = {"channel": "submission.json", "schema": "final message", "file": "report.json"}
INVALID = {
    "channel": "submission-invalid",
    "schema": "final-message-invalid",
    "file": "report-file-invalid",
}

LATIN = json.dumps(
    {"protocol": "caesar.report/v1", "status": "partial", "summary": "Déjà vu."},
    ensure_ascii=False,
)


def raw(text: str, *, encoding: str = "utf-8") -> Way:
    """Return a way to hand in a text as it is, fenced where it goes into the log."""

    def way(fake: FakeAgents, to: Place) -> Step:
        fenced = f"```json caesar:report\n{text}\n```\n" if to == "fence" else text
        return fake.report_bytes(fenced.encode(encoding), to=to)

    return way


BROKEN: dict[str, tuple[Way, str | None]] = {
    "truncated": (lambda fake, to: fake.report(to=to, cut=60), None),
    "without its last brace": (raw('{"protocol": "caesar.report/v1", "status": "success"'), None),
    "two writers at once": (
        raw('{"protocol": "caesar.report/v1", "status": "succ{"protocol": "caesar.report/v1"}'),
        None,
    ),
    "a field that is wrong": (lambda fake, to: fake.report("done", to=to), None),
    "NaN": (
        raw('{"protocol": "caesar.report/v1", "status": "success", "summary": "x", "n": NaN}'),
        None,
    ),
    "a key twice": (
        raw('{"protocol": "caesar.report/v1", "status": "failed", "status": "success", "summary": "x"}'),
        None,
    ),
    "another version": (
        lambda fake, to: fake.report(to=to, protocol="caesar.report/v2"),
        "report-version",
    ),
    "another task": (
        lambda fake, to: fake.report(to=to, task_id="t_9999"),
        "report-of-another-task",
    ),
}  # fmt: skip


@pytest.fixture
def fake(tmp_path: Path) -> FakeAgents:
    return FakeAgents(tmp_path / "agents")


@pytest.fixture
def delegate(tmp_path: Path, fake: FakeAgents) -> Callable[..., Run]:
    """Delegate to a fake agent that carries out steps."""
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "a\n"})
    numbers = itertools.count(1)
    orchestrator = Orchestrator(project=repository.path, new_id=lambda: f"t_{next(numbers):04d}")

    def run(*steps: Step) -> Run:
        return orchestrator.delegate("Work", agent=fake(*steps, structured=True))

    return run


def choices() -> list[tuple[str, ...]]:
    """Return every choice of sources, none and all of them included."""
    return [choice for size in range(5) for choice in itertools.combinations(SOURCES, size)]


def test_every_choice_of_sources_gives_the_best_that_is_left(
    delegate: Callable[..., Run], fake: FakeAgents
) -> None:
    run = delegate(
        *(
            fake.report("partial", f"By {source}.", to=to, next_steps=["More."])
            for source, to in PLACES.items()
        )
    )
    for gone in choices():
        best = next((source for source in SOURCES if source not in gone), "synthesized")
        left = run.without(*gone)
        assert left.source == best
        assert best == "synthesized" or left.summary == f"By {best}."
        assert left.changes == run.changes
        assert left.outcome == run.outcome


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_everywhere_counts_nowhere_and_is_told_for_each_source(
    delegate: Callable[..., Run], fake: FakeAgents, name: str
) -> None:
    way, code = BROKEN[name]
    run = delegate(*(way(fake, to) for to in PLACES.values()))
    for gone in choices():
        left = run.without(*gone)
        assert left.source == "synthesized"
        assert left.status != "success"
        for source in SOURCES[:3]:
            told = [
                item
                for item in left.diagnostics
                if item.code == (code or INVALID[source])
                and NAMES[source] in f"{item.path} {item.message}"
            ]
            assert bool(told) is (source not in gone), (gone, source)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        *(("file", name) for name in BROKEN),
        *itertools.product(("channel", "schema"), ("truncated", "another task")),
    ],
)
def test_a_broken_source_leaves_the_next_one_its_say_but_not_success(
    delegate: Callable[..., Run], fake: FakeAgents, source: str, name: str
) -> None:
    way, _ = BROKEN[name]
    lower = [PLACES[one] for one in SOURCES[SOURCES.index(source) + 1 :]]
    broken = way(fake, PLACES[source])
    modest = delegate(broken, *(fake.report("partial", to=to, next_steps=["x"]) for to in lower))
    assert modest.source == SOURCES[SOURCES.index(source) + 1]
    assert modest.status == "partial"
    proud = delegate(broken, *(fake.report("success", to=to) for to in lower))
    foreign = name == "another task"
    assert (proud.status == "success") is foreign
    assert ("report-superseded" in proud.codes) is not foreign
    assert proud.without(source).status == "success"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-32"])
def test_an_encoding_that_says_what_it_is_is_read_in_every_file(
    delegate: Callable[..., Run], fake: FakeAgents, encoding: str
) -> None:
    run = delegate(
        *(fake.report("partial", next_steps=["x"], to=PLACES[s], encoding=encoding)
          for s in SOURCES[:3])
    )  # fmt: skip
    for kept in SOURCES[:3]:
        left = run.without(*(source for source in SOURCES[:3] if source != kept))
        assert left.source == kept
        assert {"byte-order-mark", "unusual-encoding"} & left.codes


def test_an_encoding_that_is_not_the_one_it_claims_is_refused_everywhere(
    delegate: Callable[..., Run], fake: FakeAgents
) -> None:
    way = raw(LATIN, encoding="latin-1")
    run = delegate(*(way(fake, PLACES[source]) for source in SOURCES[:3]))
    assert run.source == "synthesized"
    assert set(INVALID.values()) <= run.codes


@pytest.mark.parametrize("source", SOURCES)
def test_of_two_reports_in_one_place_the_last_counts(
    delegate: Callable[..., Run], fake: FakeAgents, source: str
) -> None:
    to = PLACES[source]
    run = delegate(fake.report("failed", "First.", to=to), fake.report(summary="Last.", to=to))
    assert (run.source, run.summary) == (source, "Last.")


def test_sources_that_contradict_each_other_are_told(
    delegate: Callable[..., Run], fake: FakeAgents
) -> None:
    run = delegate(fake.report("success", to="submission"), fake.report("failed", to="file"))
    assert (run.source, run.status) == ("channel", "success")
    assert "reports-disagree" in run.codes
    assert run.without("channel").status == "failed"
    assert "reports-disagree" not in run.without("file").codes


@pytest.mark.parametrize("source", ["channel", "file"])
@pytest.mark.parametrize("kind", ["directory", "fifo", "symlink"])
def test_what_is_no_file_is_told_and_never_opened(
    delegate: Callable[..., Run], fake: FakeAgents, source: str, kind: str
) -> None:
    run = delegate(
        fake.report_as(kind, "a.txt", to=PLACES[source]),  # type: ignore[arg-type]
        fake.report("partial", to="fence", next_steps=["x"]),
    )
    assert (run.source, run.status) == ("extracted", "partial")
    prefix = {"channel": "submission", "file": "report-file"}[source]
    assert f"{prefix}-not-regular" in run.codes
    assert f"{prefix}-not-regular" not in run.without(source).codes


def test_a_report_that_comes_when_the_agent_has_ended_never_arrives(
    delegate: Callable[..., Run], fake: FakeAgents
) -> None:
    late = fake.leave(fake.sleep(30), fake.report(), new_session=True, quiet=True)
    run = delegate(late)
    assert run.source == "synthesized"
    assert "process-leaked" in run.codes
    assert not (run.task_dir / "report.json").exists()


def test_synthesis_cannot_be_taken_away(delegate: Callable[..., Run], fake: FakeAgents) -> None:
    with pytest.raises(ValueError, match="cannot recover without 'synthesized'"):
        delegate(fake.report()).without("synthesized")
