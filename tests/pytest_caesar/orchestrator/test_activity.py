"""What a run knows of an agent's work: its commands, its tool calls, its usage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_caesar.agents.target import ProcessAgent
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.reporting.sections import run_section
from pytest_caesar.runs.prices import parse_prices
from pytest_caesar.runs.record import run_as_json
from pytest_caesar.runs.run import Run
from pytest_caesar.snapshots.normalisation import Normaliser
from pytest_caesar.snapshots.serialisation import serialise
from pytest_caesar.workspace.repository import Repository

REPORT = {
    "protocol": "caesar.report/v1",
    "status": "success",
    "summary": "Fixed, the tests pass.",
    "changes": [{"path": "late.py", "action": "created", "summary": ""}],
    "commands_run": [{"command": "pytest -q", "exit_code": 0}],
    "usage": {"input_tokens": 7, "output_tokens": 3},
}


def tool(command: str, code: int, *, end: int) -> dict[str, object]:
    state = {
        "status": "completed",
        "input": {"command": command},
        "output": f"said {command}",
        "metadata": {"exit": code},
        "time": {"start": end - 1500, "end": end},
    }
    part = {"type": "tool", "tool": "bash", "callID": f"{command} {code}", "state": state}
    return {"type": "tool_use", "sessionID": "s", "part": part}


def step(reason: str, cost: float) -> dict[str, object]:
    tokens = {"total": 130, "input": 90, "output": 20, "reasoning": 10, "cache": {"read": 10}}
    part = {"type": "step-finish", "reason": reason, "tokens": tokens, "cost": cost}
    return {"type": "step_finish", "sessionID": "s", "part": part}


def delegate(tmp_path: Path, *codes: int, cost: float = 0.25, prices: bytes | None = None) -> Run:
    """Delegate to a script that prints the stream of opencode with these runs of pytest."""
    lines = [tool("pytest -q", code, end=1_796_048_206_401) for code in codes]
    script = tmp_path / "agent.sh"
    script.write_text(
        "#!/bin/sh\necho x > late.py\ncat <<'EOF'\n"
        + "\n".join(json.dumps(line) for line in [*lines, step("stop", cost)])
        + f"\nEOF\ncat > \"$CAESAR_REPORT_PATH\" <<'EOF'\n{json.dumps(REPORT)}\nEOF\n"
    )
    script.chmod(0o755)
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "one\n"})
    settings = OrchestratorSettings(
        prices=None if prices is None else parse_prices(prices, path="prices.json"), model="m"
    )
    agent = ProcessAgent(id="agent", origin="path", argv=(str(script), "{{model}}"))
    return Orchestrator(agent, project=repository.path, settings=settings).delegate("Fix.")


def test_a_lie_shows_in_the_run_the_section_and_the_json(tmp_path: Path) -> None:
    run = delegate(tmp_path, 1)

    (command,) = run.commands
    assert (command.verdict, command.observed_exit_code) == ("contradicted", 1)
    assert "command-contradicted" in run.codes
    assert run.reconciliation.commands == run.commands
    assert [change.path for change in run.reconciliation.changes] == ["late.py"]
    assert not run.ran("pytest", ok=True)
    _, section = run_section(run)
    assert "  pytest -q: exit code 1, declared 0; late.py changed after it" in section
    assert (
        "usage:          130 tokens (100 in, 10 of them cached, 30 out), $0.25, 1 turn" in section
    )
    told = run_as_json(run)
    assert told["commands"][0]["verdict"] == "contradicted"
    assert told["usage"]["input_tokens"] == 100
    assert told["tool_calls"][0]["tool"] == "bash"
    json.dumps(told)


def test_a_snapshot_has_commands_and_usage_without_their_times(tmp_path: Path) -> None:
    run = delegate(tmp_path, 1, 0)
    normaliser = Normaliser()

    page = serialise(run, normaliser).decode()
    assert "| pytest -q | 0 | 0 | confirmed |" in page
    commands = serialise(run.commands, normaliser).decode()
    assert '"verdict": "confirmed"' in commands
    assert "started_at" not in commands
    assert "100" not in serialise(run.usage, normaliser).decode()
    assert '"tool": "bash"' in serialise(run.tool_calls, normaliser).decode()


def test_what_a_run_knows_is_kept_when_its_report_is_taken_away(tmp_path: Path) -> None:
    run = delegate(tmp_path, 1, 0)

    assert [command.verdict for command in run.commands] == ["undeclared", "confirmed"]
    assert {"tested-before-last-change", "usage-contradicted"} <= run.codes
    assert run.ran("pytest", ok=True)[-1].changed_after == ("late.py",)
    (first, second) = run.tool_calls
    assert (first.exit_code, second.exit_code) == (1, 0)
    assert first.arguments == {"command": "pytest -q"}
    assert first.output == "said pytest -q"
    without = run.without("file")
    assert [command.verdict for command in without.commands] == ["undeclared", "undeclared"]
    assert without.usage == run.usage


@pytest.mark.parametrize(("cost", "expected"), [(0.25, 0.25), (0, 130 * 2e-6)])
def test_a_price_counts_where_the_program_does_not_say_the_cost(
    tmp_path: Path, cost: float, expected: float
) -> None:
    price = {"input_cost_per_token": 2e-6, "output_cost_per_token": 2e-6}

    run = delegate(tmp_path, cost=cost, prices=json.dumps({"m": price}).encode())
    assert run.usage.cost_usd == pytest.approx(expected)
    assert run.usage.turns == 1
    assert run.total_usage == run.usage
