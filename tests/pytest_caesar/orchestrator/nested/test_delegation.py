"""Agents that hand parts of their task on to other agents, in whole delegations."""

from __future__ import annotations

import itertools
import json
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_caesar.agents.selection import select
from pytest_caesar.agents.target import AgentTarget, FunctionAgent, ProcessAgent
from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.fake_agent.agent import FakeAgents
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.runs.run import Run
from pytest_caesar.workspace.repository import Repository

ROOT = Path(__file__).parents[4]

POLICY = "[policy]\nmax_depth = 4\n"

BODY = """
import json, os, threading, time
from pathlib import Path

def main(agent):
    results = []
{body}
    for result in results:
        agent.output(result.agent, [result.refusal, result.process, result.source])
    return agent.success("Handed on.")
"""

PROGRAM = """
import sys
sys.path.insert(0, {root!r})
import caesar_agent
caesar_agent.run(main)
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "one\n", ".gitignore": ".caesar/\n"})
    configure(repository, POLICY)
    return repository


@pytest.fixture
def fake(tmp_path: Path) -> FakeAgents:
    return FakeAgents(tmp_path / "agents")


Asker = Callable[..., AgentTarget]
Lead = Callable[..., ProcessAgent]


@pytest.fixture
def asker(tmp_path: Path) -> Asker:
    """Make agents in this process, from the body of their main function."""
    numbers = itertools.count(1)

    def make(body: str, ident: str = "lead") -> AgentTarget:
        # A module of the same name is not imported twice.
        name = f"asker_{abs(hash(tmp_path))}_{next(numbers)}"
        (tmp_path / f"{name}.py").write_text(source(body))
        return FunctionAgent(id=ident, target=f"{name}:main", import_root=str(tmp_path))

    return make


@pytest.fixture
def program(tmp_path: Path) -> Lead:
    """Make agents that are programs of their own."""
    numbers = itertools.count(1)

    def make(body: str, name: str = "lead") -> ProcessAgent:
        script = tmp_path / f"program{next(numbers)}.py"
        script.write_text(source(body) + PROGRAM.format(root=str(ROOT)))
        return ProcessAgent(id=name, origin="path", argv=(sys.executable, str(script)))

    return make


def source(body: str) -> str:
    return BODY.format(body=textwrap.indent(textwrap.dedent(body), "    "))


def outputs(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = (run.report.model_extra or {})["outputs"]
    return found


def configure(repository: Repository, text: str) -> None:
    folder = repository.path / ".caesar"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(text)


def define(repository: Repository, name: str, **fields: str) -> None:
    folder = repository.path / ".claude" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{key}: {value}\n" for key, value in fields.items())
    (folder / f"{name}.md").write_text(f"---\nname: {name}\ndescription: D\n{lines}---\nWork.\n")


ONE = 'results.append(agent.delegate("helper", "Write b", mode="write"))'


def test_a_part_that_is_handed_on_is_done_in_the_same_workspace(
    repository: Repository, fake: FakeAgents, program: Lead
) -> None:
    orchestrator = Orchestrator(program(ONE), project=repository.path)
    orchestrator.team["helper"] = fake(fake.write("b.txt", "two\n"), fake.report())
    run = orchestrator.delegate("Have b written.")
    assert run.succeeded, run
    assert run.diagnostics == ()
    [child] = run.children
    assert child.succeeded
    assert (child.task.agent, child.task.depth, child.task.objective) == ("helper", 2, "Write b")
    assert child.workspace == run.workspace
    assert child.task_dir.parent == run.task_dir.parent
    assert [change.path for change in child.changes] == ["b.txt"]
    assert [change.path for change in run.changes] == ["b.txt"]
    assert outputs(run) == {"helper": ["", "succeeded", "file"]}
    assert orchestrator.runs == [run]


@pytest.mark.parametrize("form", ["name", "path", "relative"])
def test_a_member_of_the_team_may_be_named_like_any_agent(
    repository: Repository, asker: Asker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    script = tmp_path / "helper.sh"
    report = '{"protocol": "caesar.report/v1", "status": "success", "summary": "Written."}'
    script.write_text(f"#!/bin/sh\necho '{report}' > \"$CAESAR_REPORT_PATH\"\n")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    orchestrator = Orchestrator(asker(ONE), project=repository.path)
    forms: dict[str, str | Path] = {"name": str(script), "path": script, "relative": "./helper.sh"}
    orchestrator.team["helper"] = forms[form]
    run = orchestrator.delegate("Have b written.")
    assert outputs(run) == {"helper": ["", "succeeded", "file"]}
    assert [child.task.agent for child in run.children] == ["helper"]


def test_a_member_of_the_team_that_is_no_agent_is_refused_by_its_kind(
    repository: Repository, asker: Asker
) -> None:
    orchestrator = Orchestrator(asker(ONE), project=repository.path)
    orchestrator.team["helper"] = 7  # type: ignore[assignment]
    [found] = orchestrator.delegate("Have b written.").diagnostics
    assert found.code == "delegation-refused"
    assert "of type int: expected a name as for --caesar-agent" in found.message


def test_runs_form_a_tree(repository: Repository, fake: FakeAgents, asker: Asker) -> None:
    orchestrator = Orchestrator(
        asker('results.append(agent.delegate("middle", "Go on"))'), project=repository.path
    )
    orchestrator.team["middle"] = asker(ONE)
    orchestrator.team["helper"] = fake(fake.write("b.txt"), fake.report())
    run = orchestrator.delegate("Have b written.")
    assert [one.task.agent for one in run.tree] == ["lead", "middle", "helper"]
    assert [one.task.depth for one in run.tree] == [1, 2, 3]
    assert all(one.succeeded for one in run.tree)
    assert [list(map(str, one.reconciliation.undeclared)) for one in run.tree] == [[], [], []]


def test_an_agent_in_this_process_may_hand_on(
    repository: Repository, fake: FakeAgents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inside_lead.py").write_text(
        "def main(agent):\n"
        "    result = agent.delegate('helper', 'Write b')\n"
        "    return agent.success(result.summary)\n"
    )
    lead = FunctionAgent(id="lead", target="inside_lead:main", import_root=str(tmp_path))
    orchestrator = Orchestrator(lead, project=repository.path)
    orchestrator.team["helper"] = fake(fake.write("b.txt"), fake.report("success", "Written."))
    run = orchestrator.delegate("Have b written.")
    assert (run.summary, run.diagnostics) == ("Written.", ())
    assert run.children[0].succeeded


def test_a_function_that_is_asked_for_gets_a_process_of_its_own(
    repository: Repository, tmp_path: Path, asker: Asker
) -> None:
    (tmp_path / "nested_helper.py").write_text(
        "import os\ndef main(agent):\n    return agent.success(str(os.getpid()))\n"
    )
    orchestrator = Orchestrator(asker(ONE), project=repository.path)
    orchestrator.team["helper"] = FunctionAgent(
        id="x", target="nested_helper:main", import_root=str(tmp_path)
    )
    [child] = orchestrator.delegate("Have b written.").children
    assert child.succeeded
    assert "nested_helper" not in sys.modules


def test_a_function_that_is_called_like_a_definition_is_held_to_it(
    repository: Repository, asker: Asker, program: Lead
) -> None:
    define(repository, "lead", spawns="helper")
    orchestrator = Orchestrator(project=repository.path)
    orchestrator.team["lead"] = asker('results.append(agent.delegate("lead", "Again"))')
    orchestrator.agent = asker('results.append(agent.delegate("lead", "Go on"))', "main")
    run = orchestrator.delegate("Have b written.")
    assert "from within itself" in refusal(run.children[0], "lead")


# --- refusals ---------------------------------------------------------------------------


def refusal(run: Run, name: str = "helper") -> str:
    assert run.children == ()
    assert "delegation-refused" in run.codes
    text: str = outputs(run)[name][0]
    return text


def test_a_name_that_there_is_not_lists_those_that_there_are(
    repository: Repository, asker: Asker
) -> None:
    define(repository, "reviewer")
    orchestrator = Orchestrator(asker(ONE), project=repository.path)
    orchestrator.team["writer"] = asker(ONE)
    text = refusal(orchestrator.delegate("Have b written."))
    assert text.startswith('Unknown agent "helper". Available: writer, codex, ')
    assert "reviewer" in text


def test_agents_are_found_anew_at_each_call(
    repository: Repository, asker: Asker, fake: FakeAgents
) -> None:
    helper = fake(fake.report())
    text = f'[[agent]]\nid = "helper"\nbin = {json.dumps(helper.argv[0])}\nargs = '
    text += json.dumps(list(helper.argv[1:])) + "\n"
    config = repository.path / ".caesar" / "config.toml"
    body = f"""
        {ONE}
        with open({str(config)!r}, "a") as file:
            file.write({text!r})
        first = results.pop()
        {ONE}
        agent.output("first", first.refusal)
    """
    run = Orchestrator(asker(body), project=repository.path).delegate("Have b written.")
    assert outputs(run)["first"].startswith('Unknown agent "helper".')
    assert [child.task.agent for child in run.children] == ["helper"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "Cannot spawn 'helper'. Allowed: none (spawns disabled for this agent)"),
        ({"spawns": "other, more"}, "Cannot spawn 'helper'. Allowed: other,more"),
    ],
)
def test_a_definition_decides_whom_its_agent_may_start(
    repository: Repository,
    fake: FakeAgents,
    asker: Asker,
    program: Lead,
    fields: dict[str, str],
    text: str,
) -> None:
    define(repository, "lead", **fields)
    orchestrator = Orchestrator(project=repository.path)
    orchestrator.team.update(helper=fake(fake.report()), lead=program(ONE))
    orchestrator.agent = asker('results.append(agent.delegate("lead", "Go on"))', "main")
    run = orchestrator.delegate("Have b written.")
    assert refusal(run.children[0]) == text


def test_a_definition_that_names_another_may_start_it(
    repository: Repository, fake: FakeAgents, asker: Asker, program: Lead
) -> None:
    define(repository, "lead", spawns="helper")
    define(repository, "helper", tools="read")
    orchestrator = Orchestrator(project=repository.path)
    orchestrator.team.update(helper=fake(fake.report()), lead=program(ONE))
    orchestrator.agent = asker('results.append(agent.delegate("lead", "Go on"))', "main")
    run = orchestrator.delegate("Have b written.")
    assert [one.task.agent for one in run.tree] == ["main", "lead", "helper"]
    # The definition goes with the agent that a test puts in its place.
    assert "Use no other tools than these: read." in run.tree[2].task.context


def test_an_agent_of_a_definition_cannot_start_itself_and_is_told_so_in_its_environment(
    repository: Repository, asker: Asker, program: Lead
) -> None:
    define(repository, "lead", spawns='"*"')
    body = """
        agent.output("guard", os.environ.get("PI_BLOCKED_AGENT"))
        results.append(agent.delegate("lead", "Again"))
    """
    orchestrator = Orchestrator(project=repository.path)
    orchestrator.team["lead"] = program(body)
    orchestrator.agent = asker('results.append(agent.delegate("lead", "Go on"))', "main")
    run = orchestrator.delegate("Have b written.")
    assert refusal(run.children[0], "lead").startswith(
        "Cannot spawn lead agent from within itself (recursion prevention)."
    )
    assert outputs(run.children[0])["guard"] == "lead"


def test_an_agent_that_a_definition_selects_has_the_guard_too(
    repository: Repository, fake: FakeAgents
) -> None:
    define(repository, "guarded")
    runner = fake(fake.environment(), fake.report())
    program = repository.path.parent / "runner.sh"
    program.write_text(f"#!/bin/sh\nexec {' '.join(runner.argv[:-1])}\n")
    program.chmod(0o755)
    agent = select("guarded", project=repository.path, start=repository.path, runner=str(program))
    run = Orchestrator(agent, project=repository.path).delegate("Look.")
    environment = json.loads((run.workspace / "environment.json").read_text())
    assert environment["PI_BLOCKED_AGENT"] == "guarded"


@pytest.mark.parametrize(("allowed", "children"), [("false", 0), ("true", 1)])
def test_any_other_agent_starts_itself_only_where_policy_allows_recursion(
    repository: Repository, asker: Asker, allowed: str, children: int
) -> None:
    configure(repository, f"[policy]\nmax_depth = 3\nallow_recursion = {allowed}\n")
    orchestrator = Orchestrator(project=repository.path)
    orchestrator.agent = orchestrator.team["lead"] = asker(
        'results.append(agent.delegate("lead", "Again"))'
    )
    run = orchestrator.delegate("Go in a circle.")
    assert len(run.children) == children
    assert "delegation-refused" in run.tree[-1].codes


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (
            "max_depth = 2",
            "delegation refused by [policy] max_depth: this delegation would be of depth 2",
        ),
        ('max_depth = 4\ndenied = ["helper"]', "delegation refused by [policy] denied"),
        ('max_depth = 4\nallowed = ["lead"]', "delegation refused by [policy] allowed"),
    ],
)
def test_policy_holds_for_agents_below_too(
    repository: Repository,
    fake: FakeAgents,
    asker: Asker,
    policy: str,
    text: str,
) -> None:
    configure(repository, f"[policy]\n{policy}\n")
    orchestrator = Orchestrator(asker(ONE), project=repository.path)
    orchestrator.team["helper"] = fake(fake.report())
    assert refusal(orchestrator.delegate("Have b written.")).startswith(text)


def test_a_team_implies_the_depth_it_needs(
    repository: Repository, fake: FakeAgents, asker: Asker
) -> None:
    orchestrator = Orchestrator(asker(ONE), project=repository.path)
    orchestrator.team["helper"] = fake(fake.report())
    assert len(orchestrator.delegate("Have b written.").children) == 1


def test_an_agent_cannot_change_the_policy_that_holds_for_it(
    repository: Repository, fake: FakeAgents, asker: Asker
) -> None:
    configure(repository, "[policy]\nmax_depth = 2\n")
    body = f"""
        for folder in (agent.workspace, Path({str(repository.path)!r})):
            (folder / ".caesar").mkdir(exist_ok=True)
            (folder / ".caesar" / "config.toml").write_text("[policy]\\nmax_depth = 9\\n")
        {ONE}
    """
    orchestrator = Orchestrator(asker(body), project=repository.path)
    orchestrator.team["helper"] = fake(fake.report())
    assert "max_depth" in refusal(orchestrator.delegate("Have b written."))


def test_a_read_only_task_hands_on_no_writing(
    repository: Repository, fake: FakeAgents, asker: Asker
) -> None:
    orchestrator = Orchestrator(asker(ONE), project=repository.path)
    orchestrator.team["helper"] = fake(fake.report())
    run = orchestrator.delegate("Have b written.", mode="read-only")
    assert refusal(run) == "A read-only task cannot hand on writing; ask for mode read-only."


def test_an_agent_that_cannot_be_started_is_a_refusal(repository: Repository, asker: Asker) -> None:
    orchestrator = Orchestrator(asker(ONE), project=repository.path)
    orchestrator.team["helper"] = ProcessAgent(id="x", origin="path", argv=("/no/such/program",))
    assert "/no/such/program" in refusal(orchestrator.delegate("Have b written."))


def test_a_fault_of_the_orchestrator_is_a_refusal_that_names_it(
    repository: Repository, asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object) -> None:
        raise RuntimeError("no idea")

    monkeypatch.setattr("pytest_caesar.orchestrator.nested.server.Team.names", fail)
    run = Orchestrator(asker(ONE), project=repository.path).delegate("Have b written.")
    assert refusal(run) == "The orchestrator failed: RuntimeError: no idea"


def test_a_fault_between_requests_ends_the_others_and_is_told(
    repository: Repository,
    fake: FakeAgents,
    program: Lead,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = tmp_path / "here"

    def fail(self: object, request_id: str) -> bool:
        if here.exists():
            raise RuntimeError("no idea")
        return False

    monkeypatch.setattr("pytest_caesar.orchestrator.nested.requests.NestedRequests.is_closed", fail)
    orchestrator = Orchestrator(program(ONE), project=repository.path)
    orchestrator.team["helper"] = fake(fake.run("touch", str(here)), fake.hang())
    run = orchestrator.delegate("Have b written.")
    assert "delegation-unfinished" in run.codes
    assert [child.outcome.status for child in run.children] == ["cancelled"]


def test_a_workspace_that_cannot_be_entered_is_a_refusal(
    repository: Repository, fake: FakeAgents, asker: Asker
) -> None:
    body = f"""
        (agent.workspace / ".git").unlink()
        (agent.workspace / ".git").write_text("gitdir: /no/such/place")
        {ONE}
    """
    orchestrator = Orchestrator(asker(body), project=repository.path)
    orchestrator.team["helper"] = fake(fake.report())
    assert "repository" in refusal(orchestrator.delegate("Have b written."))


def test_criteria_of_an_agent_are_words_and_no_commands_of_the_orchestrator(
    repository: Repository, fake: FakeAgents, asker: Asker, tmp_path: Path
) -> None:
    body = f"""
        results.append(agent.delegate(
            "helper", "Look", acceptance_criteria=["$ touch {tmp_path}/by-the-orchestrator"]))
    """
    orchestrator = Orchestrator(asker(body), project=repository.path)
    orchestrator.team["helper"] = fake(fake.report())
    [child] = orchestrator.delegate("Have b written.").children
    assert child.succeeded
    assert not (tmp_path / "by-the-orchestrator").exists()


# --- time and order ---------------------------------------------------------------------


def test_the_deadline_of_the_other_agent_is_within_that_of_the_one_who_asks(
    repository: Repository, fake: FakeAgents, asker: Asker
) -> None:
    body = 'results.append(agent.delegate("helper", "Write b", timeout=1000))'
    orchestrator = Orchestrator(asker(body), project=repository.path)
    orchestrator.team["helper"] = fake(fake.report())
    [child] = orchestrator.delegate("Have b written.", timeout=60).children
    assert child.task.deadline_ms < 60_000


def test_a_timeout_ends_the_other_agent_alone(
    repository: Repository, fake: FakeAgents, asker: Asker
) -> None:
    body = 'results.append(agent.delegate("helper", "Write b", timeout=0.3))'
    orchestrator = Orchestrator(asker(body), project=repository.path)
    orchestrator.team["helper"] = fake(fake.hang())
    run = orchestrator.delegate("Have b written.")
    assert run.succeeded
    assert run.children[0].outcome.status == "timed_out"
    assert outputs(run) == {"helper": ["", "timed_out", "synthesized"]}


def test_other_agents_end_with_the_one_who_asked(
    repository: Repository, fake: FakeAgents, asker: Asker, tmp_path: Path
) -> None:
    here = tmp_path / "here"
    body = f"""
        threading.Thread(
            target=agent.delegate, args=("helper", "Hang"), daemon=True).start()
        while not Path({str(here)!r}).exists():
            time.sleep(0.01)
    """
    orchestrator = Orchestrator(asker(body), project=repository.path)
    orchestrator.team["helper"] = fake(fake.run("touch", str(here)), fake.hang())
    run = orchestrator.delegate("Have b written.")
    assert run.succeeded
    [child] = run.children
    assert child.outcome.status == "cancelled"


def test_a_request_that_is_withdrawn_ends_the_other_agent(
    repository: Repository, fake: FakeAgents, asker: Asker, tmp_path: Path
) -> None:
    here, gone = tmp_path / "here", tmp_path / "gone"
    body = f"""
        from caesar_agent.delegating import DelegationRequest
        request = DelegationRequest(Path(os.environ["CAESAR_TASK_DIR"]), "helper")
        assert request.ask(request.encode("Hang")) is None
        while not Path({str(here)!r}).exists():
            time.sleep(0.01)
        assert request.withdraw()
        while not Path({str(gone)!r}).exists():
            time.sleep(0.01)
    """
    orchestrator = Orchestrator(asker(body), project=repository.path)
    orchestrator.team["helper"] = fake(
        fake.on_signal("SIGTERM", fake.run("touch", str(gone)), fake.exit(1)),
        fake.run("touch", str(here)),
        fake.hang(),
    )
    run = orchestrator.delegate("Have b written.")
    assert run.succeeded, run
    assert run.children[0].outcome.status == "cancelled"


TOGETHER = """
    def one(name):
        results.append(agent.delegate(name, "Go", mode={mode!r}))
    threads = [threading.Thread(target=one, args=(name,)) for name in ("left", "right")]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""


def test_agents_that_only_read_run_beside_each_other(
    repository: Repository, fake: FakeAgents, asker: Asker, tmp_path: Path
) -> None:
    orchestrator = Orchestrator(asker(TOGETHER.format(mode="read-only")), project=repository.path)
    for name, other in (("left", "right"), ("right", "left")):
        orchestrator.team[name] = fake(
            fake.run("touch", str(tmp_path / name)),
            fake.wait_for(tmp_path / other),
            fake.report(),
        )
    run = orchestrator.delegate("Read twice.")
    assert [child.succeeded for child in run.children] == [True, True]


def test_agents_that_write_take_turns_so_that_each_change_has_its_author(
    repository: Repository, fake: FakeAgents, asker: Asker
) -> None:
    orchestrator = Orchestrator(asker(TOGETHER.format(mode="write")), project=repository.path)
    for name in ("left", "right"):
        orchestrator.team[name] = fake(fake.write(f"{name}.txt"), fake.report())
    run = orchestrator.delegate("Write twice.")
    changed = {child.task.agent: [one.path for one in child.changes] for child in run.children}
    assert changed == {"left": ["left.txt"], "right": ["right.txt"]}
    assert run.diagnostics == ()


def test_in_place_they_share_the_lock_of_the_one_who_asks(
    repository: Repository, fake: FakeAgents, asker: Asker
) -> None:
    orchestrator = Orchestrator(asker(ONE), project=repository.path)
    orchestrator.team["helper"] = fake(fake.write("b.txt"), fake.report())
    run = orchestrator.delegate("Have b written.", isolation="inplace")
    assert run.children[0].succeeded
    assert [change.path for change in run.changes] == ["b.txt"]


def test_they_may_ask_questions_where_the_one_who_asks_may(
    repository: Repository, fake: FakeAgents, asker: Asker
) -> None:
    answers = ScriptedAnswers().on("Keep it?", "yes")
    orchestrator = Orchestrator(asker(ONE), project=repository.path, answers=answers)
    orchestrator.team["helper"] = fake(fake.ask("Keep it?"), fake.report())
    run = orchestrator.delegate("Have b written.")
    assert [question.answer for question in run.children[0].questions] == ["yes"]
    assert answers.problems() == ()


# --- what lies in the folder ------------------------------------------------------------


def asking_by_hand(body: str, repository: Repository, fake: FakeAgents, asker: Asker) -> Run:
    prelude = 'box = Path(os.environ["CAESAR_TASK_DIR"]) / "delegations"\n'
    wait = """
def wait(name):
    answer = box.parent / "delegated" / name
    for attempt in range(2000):
        if answer.exists():
            return json.loads(answer.read_text())
        time.sleep(0.005)
"""
    orchestrator = Orchestrator(
        asker(prelude + wait + textwrap.dedent(body)), project=repository.path
    )
    orchestrator.team["helper"] = fake(fake.report())
    return orchestrator.delegate("Have b written.")


def test_a_program_without_the_sdk_can_hand_on(
    repository: Repository, fake: FakeAgents, asker: Asker
) -> None:
    body = """
        (box / "r1.json").write_text(
            json.dumps({"id": "r1", "agent": "helper", "objective": "Look"}))
        agent.output("answer", wait("r1.json"))
    """
    run = asking_by_hand(body, repository, fake, asker)
    answer = outputs(run)["answer"]
    assert (answer["state"], answer["process"], answer["verified"]) == ("done", "succeeded", True)
    assert answer["report"]["status"] == "success"
    assert answer["task_id"] == run.children[0].task.id


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"id": "r2", "agent": "helper", "objective": "Look"}', "its file is named 'r1'"),
        ('{"id": "r1", "agent": "helper", "objective": " "}', "objective"),
        ('{"id": "r1", "agent": "helper"}', "objective"),
        ("nonsense", "JSON"),
    ],
)
def test_a_file_that_is_no_request_is_told_and_not_carried_out(
    repository: Repository,
    fake: FakeAgents,
    asker: Asker,
    content: str,
    problem: str,
) -> None:
    body = f'(box / "r1.json").write_text({content!r})'
    run = asking_by_hand(body, repository, fake, asker)
    assert run.children == ()
    [finding] = [one for one in run.diagnostics if one.code == "delegation-invalid"]
    assert problem in finding.message


def test_what_is_no_file_is_not_opened(
    repository: Repository, fake: FakeAgents, asker: Asker, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"id": "a", "agent": "helper", "objective": "Look"}')
    body = f"""
        os.symlink({str(secret)!r}, box / "a.json")
        os.mkfifo(box / "b.json")
        (box / "c.json").mkdir()
        (box / "-d.json").write_text("{{}}")
    """
    run = asking_by_hand(body, repository, fake, asker)
    assert run.children == ()
    found = [one.path for one in run.diagnostics if one.code == "delegation-invalid"]
    assert sorted(map(str, found)) == [f"delegations/{name}.json" for name in ("-d", "a", "b", "c")]


@pytest.mark.parametrize("name", ["delegations", "delegated"])
def test_a_folder_that_became_a_link_is_not_entered(
    repository: Repository,
    fake: FakeAgents,
    asker: Asker,
    tmp_path: Path,
    name: str,
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    body = f"""
        (box / "r1.json").write_text("{{}}")
        folder = box.parent / {name!r}
        if folder.exists():
            folder.rename(box.parent / "moved")
        folder.symlink_to({str(elsewhere)!r})
    """
    run = asking_by_hand(body, repository, fake, asker)
    assert "delegation-unsafe" in run.codes
    assert list(elsewhere.iterdir()) == []


def test_an_agent_that_floods_the_folder_is_stopped_at_a_bound(
    repository: Repository,
    fake: FakeAgents,
    asker: Asker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytest_caesar.orchestrator.nested.server.MAX_DELEGATIONS", 2)
    body = """
        for number in range(4):
            (box / f"r{number}.json").write_text(json.dumps(
                {"id": f"r{number}", "agent": "nobody", "objective": "Look"}))
            answer = wait(f"r{number}.json")
        agent.output("answer", answer)
    """
    run = asking_by_hand(body, repository, fake, asker)
    reason = outputs(run)["answer"]["reason"]
    assert "delegation-invalid" not in run.codes
    assert reason == "This task has handed on 2 tasks already, and no more are taken."


def test_of_thousands_of_requests_most_are_left_aside(
    repository: Repository, fake: FakeAgents, asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_caesar.orchestrator.nested.server.MAX_DELEGATIONS", 2)
    body = """
        for number in range(30):
            (box / f"r{number}.json").write_text(json.dumps(
                {"id": f"r{number}", "agent": "nobody", "objective": "Look"}))
    """
    run = asking_by_hand(body, repository, fake, asker)
    assert len(list((run.task_dir / "delegated").iterdir())) == 4
    [finding] = [one for one in run.diagnostics if one.code == "delegation-invalid"]
    assert "holds more files than are looked at" in finding.message


def test_an_agent_that_hands_nothing_on_leaves_no_trace_of_it(
    repository: Repository, fake: FakeAgents
) -> None:
    run = Orchestrator(fake(fake.report()), project=repository.path).delegate("Look.")
    assert (run.children, run.tree) == ((), (run,))
    assert not (run.task_dir / "delegated").exists()
