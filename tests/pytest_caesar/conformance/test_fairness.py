"""What the specification allows fails nothing, and one fault is told once, where it belongs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest

from pytest_caesar.conformance.judgement import Judgement
from pytest_caesar.conformance.judging import CHECKS, judge
from pytest_caesar.conformance.profile import NO_PROFILE, Profile
from pytest_caesar.conformance.repository_files import RepositoryFiles
from pytest_caesar.conformance.requirements import REQUIREMENTS
from pytest_caesar.conformance.scenario_cache import SHORT_LINGER, ScenarioCache
from pytest_caesar.conformance.scenario_run import ScenarioRun
from pytest_caesar.conformance.scenario_runner import ScenarioRunner
from pytest_caesar.conformance.scenarios import Scenario
from pytest_caesar.fake_agent.agent import FakeAgents, Step
from tests.pytest_caesar.conformance.flaws import (
    ASK,
    FINISHED,
    FOLLOW,
    FULL,
    OUT,
    PROFILE,
    REPORT,
    RIGHT,
    TOLD,
    WORK,
    WRITE,
    Steps,
    right,
    shell,
)
from tests.pytest_caesar.conformance.proof import SETTINGS, Proof, proof
from tests.pytest_caesar.supervision.supervising import eventually

fake = FakeAgents

STRAY = fake.write("../../../stray.txt")
HAND_ON = """
cd "$CAESAR_TASK_DIR"
echo '{"id": "d1", "agent": "helper", "objective": "A part of it"}' > d1.json
mv d1.json delegations/d1.json
for _ in $(seq 200); do [ -e delegated/d1.json ] && break; sleep 0.05; done
"""
"""Has another agent do a part of the task, without the SDK."""

IGNORING = replace(
    PROFILE, repository=RepositoryFiles(files={**PROFILE.repository.files, ".gitignore": "*.o\n"})
)


class Parts(Protocol):
    """Return a cache whose agent does wrong in some scenarios."""

    def __call__(self, wrong: Mapping[str, Steps], profile: Profile = PROFILE) -> Proof: ...


@pytest.fixture
def part(tmp_path_factory: pytest.TempPathFactory, right_one: Proof) -> Parts:
    def parts(wrong: Mapping[str, Steps], profile: Profile = PROFILE) -> Proof:
        return proof(tmp_path_factory.mktemp("part"), wrong, profile=profile, rest=right_one)

    return parts


def judged(cache: ScenarioCache, *scenarios: str) -> dict[str, Judgement]:
    return {
        name: judge(REQUIREMENTS[name], cache)
        for name, check in CHECKS.items()
        if check.scenario in scenarios
    }


def failures(judgements: Mapping[str, Judgement]) -> set[str]:
    return {name for name, judgement in judgements.items() if judgement.outcome == "failed"}


def tool(status: str, **fields: str) -> Steps:
    return (fake.event("tool_use", tool="sh", input_summary="ls", status=status, **fields),)


def changed(path: str, action: str) -> Steps:
    return (fake.event("file_changed", path=path, action=action),)


@pytest.mark.parametrize(
    "steps",
    [
        (*WORK, *tool("started"), *tool("succeeded"), FINISHED, REPORT),
        (
            *WORK,
            fake.event("tool_use", tool="sh", id="c", status="started"),
            fake.event("tool_use", tool="", id="c", status="succeeded"),
            FINISHED,
            REPORT,
        ),
        (*WORK, *TOLD, *changed("new.txt", "created"), *changed("new.txt", "deleted"), REPORT),
        (
            *WORK,
            *TOLD,
            *changed("README.md", "modified"),
            *changed("README.md", "modified"),
            REPORT,
        ),
        (*WORK, *TOLD, fake.write("a.o"), *changed("a.o", "created"), REPORT),
        (*WORK, *TOLD, fake.report(questions=[], usage=None)),
    ],
    ids=[
        "tool calls without an id",
        "an end that has only the id",
        "a file that came and went",
        "a file that was changed and changed back",
        "a file that git ignores",
        "nulls",
    ],
)
def test_what_is_allowed_fails_nothing(steps: Steps, part: Parts) -> None:
    judgements = judged(part({"plain": steps}, IGNORING), "plain")

    assert failures(judgements) == set()


def test_a_change_that_was_told_once_and_never_made_is_found(part: Parts) -> None:
    steps = (*WORK, *TOLD, *changed("README.md", "modified"), FINISHED, REPORT)

    assert failures(judged(part({"plain": steps}), "plain")) == {"EVENTS-008"}


@pytest.mark.parametrize(
    ("steps", "name"),
    [
        ((fake.write("more.txt"), *RIGHT[:-1], fake.report(changes=[OUT], **FULL)), "CHANGES-008"),
        ((*RIGHT[:-1], fake.report(changes=[], **FULL)), "CHANGES-002"),
        ((*WORK, fake.event_bytes("starting …\n"), REPORT), "EVENTS-002"),
        ((*WORK, fake.event("message", text="hi", task_id="t_other"), REPORT), "EVENTS-003"),
        (
            (
                *WORK,
                *TOLD,
                fake.report_bytes(b'{"protocol": "caesar.report/v1", "status": "\xe9"}'),
            ),
            "REPORT-004",
        ),
        ((fake.print("\x1b[38:2::1:2:3mred\n"), *RIGHT), "PROCESS-010"),
        (
            (*WORK, *TOLD, *tool("started", id="a"), *tool("failed", id="b"), FINISHED, REPORT),
            "EVENTS-007",
        ),
        (
            (*WORK, *TOLD, *tool("started", id="a"), *tool("failed"), FINISHED, REPORT),
            "EVENTS-007",
        ),
        ((*WORK, *TOLD, shell(': > "$CAESAR_EVENTS_PATH"'), FINISHED, REPORT), "EVENTS-005"),
    ],
    ids=[
        "commits",
        "declares nothing",
        "no events",
        "others' events",
        "latin-1",
        "colours",
        "another id at the end",
        "no id at the end",
        "a log begun anew",
    ],
)
def test_one_fault_is_told_once(steps: Steps, name: str, part: Parts) -> None:
    assert failures(judged(part({"plain": steps}), "plain", "deadline")) == {name}


@pytest.mark.parametrize(
    ("steps", "name"),
    [
        (
            (
                shell(
                    'mkdir "$CAESAR_TASK_DIR/questions"; '
                    'echo "{\\"id\\": \\"q1\\"}" > "$CAESAR_TASK_DIR/questions/q1.json"'
                ),
                FOLLOW,
            ),
            "QUESTIONS-002",
        ),
        (
            (
                shell(
                    'mkdir -p "$CAESAR_TASK_DIR/answers"; '
                    'echo "{\\"id\\": \\"q1\\", \\"answer\\": \\"mine\\"}" '
                    '> "$CAESAR_TASK_DIR/answers/q1.json"; '
                    # As if it were written after the question.
                    'touch -t 203801010000 "$CAESAR_TASK_DIR/answers/q1.json"'
                ),
                ASK,
                fake.report("success", "The answer was mine."),
            ),
            "QUESTIONS-007",
        ),
    ],
    ids=["no question", "its own answer"],
)
def test_one_fault_of_asking_is_told_once(steps: Steps, name: str, part: Parts) -> None:
    assert failures(judged(part({"asks": steps}), "asks")) == {name}


def test_who_ignores_sigterm_is_told_so_once(part: Parts) -> None:
    cache = part({"deadline": (*TOLD, fake.ignore(), fake.hang())})

    assert failures(judged(cache, "deadline")) == {"PROCESS-004"}


def test_what_strays_in_every_task_is_told_once(part: Parts) -> None:
    wrong = {
        name: (STRAY, *right(name)[:-1], fake.report(changes=[OUT], **FULL))
        for name in ("plain", "together", "foreign git")
    }

    judgements = judged(part(wrong), *wrong)

    assert failures(judgements) == {"CHANGES-006"}


@pytest.mark.parametrize(
    "command",
    ["echo {}", 'echo "working on {}"', "echo 'working on {}'", "{}", "cat <<TEXT\n{}\nTEXT\n"],
    ids=["unquoted", "double quotes", "single quotes", "as a command", "here document"],
)
def test_text_that_is_pasted_into_a_shell_is_found_out(command: str, part: Parts) -> None:
    read = 'import json, os; print(json.load(open(os.environ["CAESAR_TASK_FILE"]))["objective"])'
    pasting = (
        f"import os, subprocess, sys; text = subprocess.check_output([sys.executable, '-c', {read!r}], "
        f"text=True); subprocess.run(['sh', '-c', {command!r}.replace('{{}}', text)])"
    )
    steps = (fake.run(sys.executable, "-c", pasting), *RIGHT)
    cache = part({"hostile text": steps})

    assert failures(judged(cache, "hostile text")) == {"TASK-006"}


def test_who_takes_on_an_unknown_version_is_told_so_once(part: Parts) -> None:
    judgements = judged(part({"unknown version": (WRITE, REPORT)}), "unknown version")

    assert failures(judgements) == {"TASK-009"}


def test_whose_events_always_name_another_task_is_told_once(part: Parts) -> None:
    steps = (*WORK, fake.event("message", text="hi", task_id="t_other"), *TOLD, REPORT)

    judgements = judged(part(dict.fromkeys(("plain", "together"), steps)), "plain", "together")

    assert failures(judgements) == {"EVENTS-003"}


def test_who_uses_an_offered_channel_is_not_put_off_by_it(part: Parts) -> None:
    blocked = fake.report("blocked", "Which?", questions=[{"id": "q", "question": "A or B?"}])
    asks = fake.ask("Keep the old behaviour?", ["yes", "no"], timeout=0.3)
    cache = part({"offered channel": (asks, blocked)})

    judgement = judge(REQUIREMENTS["TASK-008"], cache)

    assert judgement.outcome == "not exercised"


def test_who_needs_the_context_of_its_profile_may_say_so_where_it_is_absent(tmp_path: Path) -> None:
    wrong = {"bare task": (fake.report("failed", "Fix what? Nothing was told."), fake.exit(1))}
    alone = replace(PROFILE, acceptance_criteria=())
    with_context = replace(alone, context="The parser fails on empty input.")

    judgements = [
        judge(REQUIREMENTS["TASK-002"], proof(tmp_path / name, wrong, profile=profile))
        for name, profile in {"with": with_context, "without": alone}.items()
    ]

    assert [judgement.outcome for judgement in judgements] == ["passed", "failed"]


def test_adding_to_what_the_user_wrote_does_away_with_nothing(part: Parts) -> None:
    added = (WRITE, fake.write("notes-of-the-user.txt", "And more.\n", append=True), fake.report())

    judgement = judge(REQUIREMENTS["CHANGES-010"], part({"in place": added}))

    assert judgement.outcome == "passed"


def test_an_agent_may_have_another_one_do_a_part_of_its_task(tmp_path: Path, part: Parts) -> None:
    """The policy of the kit lets it, or nothing could be seen of how deep the other one is."""
    helper = FakeAgents(tmp_path / "helper")(fake.report())
    asking = (shell(HAND_ON), fake.report())
    (tmp_path / ".caesar").mkdir()
    (tmp_path / ".caesar" / "config.toml").write_text(
        f'[[agent]]\nid = "helper"\nbin = "{helper.argv[0]}"\nargs = ["{{{{prompt}}}}"]\n'
    )
    cache = part({"delegates": asking})
    cache.settings = replace(SETTINGS, agents_root=tmp_path)

    judgement = judge(REQUIREMENTS["DEPTH-002"], cache)

    assert (judgement.outcome, cache.run_of("delegates").nested) == ("passed", (2,))


def test_an_agent_that_does_not_end_is_waited_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = []

    class Watched(ScenarioRunner):
        def run(self, name: str, scenario: Scenario, *, timeout: float) -> ScenarioRun:
            waited.append(self.settings.linger)
            return super().run(name, scenario, timeout=timeout)

    monkeypatch.setattr("pytest_caesar.conformance.scenario_cache.ScenarioRunner", Watched)
    hanging = (*RIGHT, fake.hang())
    cache = proof(tmp_path, {"plain": hanging, "deep": hanging})
    cache.settings = replace(SETTINGS, linger=2 * SHORT_LINGER)

    judged(cache, "deep")

    assert waited == [2 * SHORT_LINGER, SHORT_LINGER]
    assert all(seen.run.outcome.killed_after_report for seen in cache.runs.values())


@pytest.mark.parametrize("name", ["CHANGES-011", "SURROUNDINGS-008"])
def test_who_does_away_with_the_project_is_to_blame(name: str, part: Parts) -> None:
    scenario = CHECKS[name].scenario
    cache = part({scenario: (REPORT, shell('rm -rf "${PWD%%/.caesar/*}"'))})

    judgement = judge(REQUIREMENTS[name], cache)

    assert judgement.outcome == "failed"
    assert "did away with the whole project" in judgement.message


def test_folders_without_bottom_outside_the_workspace_are_looked_through(part: Parts) -> None:
    digging = "import os\nos.chdir('../../..')\nfor _ in range(1100): os.mkdir('d'); os.chdir('d')"
    deep = fake.run(sys.executable, "-c", digging)
    cache = part({"plain": (*RIGHT[:-1], deep, RIGHT[-1])})

    judgement = judge(REQUIREMENTS["REPORT-001"], cache)

    assert judgement.outcome == "passed"


def nth(*numbers: int, of: str) -> Step:
    """Fail in the runs of these numbers, counted beside all projects."""
    bad = " ".join(map(str, numbers))
    return shell(
        f'echo >> "../../../../../{of}"; n=$(wc -l < "../../../../../{of}"); '
        f'for bad in {bad}; do [ "$n" -eq "$bad" ] && exit 1; done; exit 0'
    )


@pytest.mark.parametrize(
    ("wrong", "requirement"),
    [
        ({"unknown fields": (nth(1, of="n"), *RIGHT)}, "TASK-003"),
        ({"unknown fields": (*TOLD, fake.exit(1)), "plain": (nth(2, of="n"), *RIGHT)}, "TASK-003"),
        ({"no network": (nth(1, of="n"), *RIGHT)}, "SURROUNDINGS-009"),
        ({"plain": (nth(1, of="n"), *RIGHT)}, "TASK-001"),
    ],
    ids=["the odd side", "the plain side", "a report at all", "the plain task"],
)
def test_who_varies_is_blamed_for_that_alone(
    part: Parts, wrong: Mapping[str, Steps], requirement: str
) -> None:
    cache = part(wrong)

    judgement = judge(REQUIREMENTS[requirement], cache)
    twice = judge(REQUIREMENTS["PROCESS-012"], cache)

    assert judgement.outcome == "not exercised"
    assert "see PROCESS-012" in judgement.message
    assert twice.outcome == "failed"
    assert "2 times, each time in a repository of its own, it ended as: " in twice.message
    assert "no valid report" in twice.message


def test_a_scenario_that_is_forgotten_is_carried_out_again(tmp_path: Path) -> None:
    cache = proof(tmp_path)
    before = cache.run_of("read-only")

    cache.forget("read-only")

    assert cache.run_of("read-only") is not before
    assert [one.scenario for one in cache.new_runs()] == ["plain", "read-only"] * 2


def test_what_is_carried_out_ahead_is_handed_on_where_it_is_looked_at(tmp_path: Path) -> None:
    cache = proof(tmp_path)
    cache.ahead = ["read-only", "deep"]
    assert cache.plain.handed_in

    assert cache.run_of("deep").scenario == "deep"

    assert [one.scenario for one in cache.new_runs()] == ["plain", "deep"]
    cache.close()


def test_what_is_carried_out_ahead_ends_with_the_session(tmp_path: Path) -> None:
    waiting = tmp_path / "waiting"
    cache = proof(tmp_path, {"deep": (shell(f"touch {waiting}"), fake.hang())})
    cache.ahead = ["deep"]
    assert cache.plain.handed_in
    assert eventually(waiting.exists)

    cache.close()

    assert cache.runs["deep"].run.outcome.status == "cancelled"


ASK_FOR_EVER = fake.ask("Keep it?", timeout=60.0)
ANSWER_ITSELF = shell(
    'mkdir -p "$CAESAR_TASK_DIR/answers"; '
    'echo "{\\"id\\": \\"q1\\", \\"answer\\": \\"mine\\"}" > "$CAESAR_TASK_DIR/answers/q1.json"'
)
ON_STOP = fake.on_signal("SIGTERM", *TOLD, fake.report("failed", "Stopped."), fake.exit(1))


@pytest.mark.parametrize(
    ("scenario", "steps", "name", "words"),
    [
        ("silence", (ASK_FOR_EVER, FOLLOW), "QUESTIONS-005", "it waited until it was stopped"),
        (
            "silence",
            (fake.ask("Keep it?", timeout=0.1), ANSWER_ITSELF, FOLLOW),
            "QUESTIONS-007",
            "nobody answered its question, and it wrote",
        ),
        ("deadline", (ON_STOP, fake.hang()), "EVENTS-010", "and told all of it after SIGTERM"),
        (
            "failed",
            (FINISHED, fake.report("failed", "It cannot be done."), fake.exit(1)),
            "EVENTS-009",
            "with the task of [failed], its finished event says success, its report failed",
        ),
        (
            "blocked",
            (fake.report("blocked", "?", questions=[{"id": "q", "question": "  "}]),),
            "REPORT-006",
            "says blocked and nothing more, or empty texts",
        ),
        (
            "partial",
            (fake.report("partial", "Half.", next_steps=["", " "]),),
            "REPORT-007",
            "says partial and nothing more, or empty texts",
        ),
        (
            "asks",
            (ASK, fake.event("answer", id="q1", answer="yes"), FOLLOW),
            "EVENTS-015",
            "its answer event says 'yes' of 'q1', and the answer was 'no'",
        ),
    ],
    ids=["waits", "answers itself", "on SIGTERM", "finished", "question", "next step", "answer"],
)
def test_what_only_looks_right_is_found_out(
    scenario: str,
    steps: Steps,
    name: str,
    words: str,
    part: Parts,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytest_caesar.conformance.scenario_runner.SILENCE", 4.0)
    cache = part({scenario: steps})
    cache.repeats = 0

    judgement = judge(REQUIREMENTS[name], cache)

    assert judgement.outcome == "failed"
    assert words in judgement.message


def test_a_report_that_is_a_link_is_advised_against_and_not_failed(part: Parts) -> None:
    link = shell('echo "{}" > real.json; ln -s "$PWD/real.json" "$CAESAR_REPORT_PATH"')
    folder = shell('mkdir "$CAESAR_REPORT_PATH"')

    outcomes = []
    for step in (link, folder):
        cache = part({"plain": (step,)})
        outcomes += [
            judge(REQUIREMENTS[name], cache).outcome for name in ("REPORT-001", "REPORT-005")
        ]

    assert outcomes == ["not exercised", "failed", "failed", "failed"]


def test_without_a_profile_one_that_cannot_do_the_task_of_the_kit_is_told_what_to_write(
    tmp_path: Path,
) -> None:
    cannot = (fake.report("failed", "I only fix parsers."), fake.exit(1))
    cache = proof(tmp_path, {"plain": cannot, "deep": cannot}, profile=Profile())

    judgement = judge(REQUIREMENTS["DEPTH-001"], cache)

    assert judgement.outcome == "not exercised"
    assert judgement.message == NO_PROFILE
