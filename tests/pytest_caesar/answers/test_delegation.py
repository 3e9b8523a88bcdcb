"""Agents that ask, in whole delegations."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from caesar_agent import Agent, Report
from pytest_caesar.agents.target import FunctionAgent, ProcessAgent
from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.asking import FILES_AGENT

MCP_AGENT = """
import asyncio, json, os
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    task = json.load(open(os.environ["CAESAR_TASK_FILE"]))
    channel = task["channel"]
    server = StdioServerParameters(command=channel["command"], args=channel["args"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        told = await session.call_tool("report_progress", {"message": "asking", "pct": 10})
        asked = await session.call_tool(
            "ask_orchestrator", {"question": "Keep it?", "options": ["yes", "no"]}
        )
        answer = asked.structured_content["answer"]
        report = {"protocol": "caesar.report/v1", "status": "success", "summary": answer}
        submitted = await session.call_tool("submit_report", report)
        assert not submitted.is_error, submitted
asyncio.run(main())
"""

HANGING_AGENT = """#!/bin/sh
cd "$CAESAR_TASK_DIR" && mkdir questions
printf '{"id": "q1", "question": "Keep it?"}' > questions/q1.json
exec sleep 60
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "one\n"})
    return repository


def script(tmp_path: Path, text: str) -> ProcessAgent:
    path = tmp_path / "agent"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    argv = (str(path),) if text.startswith("#!") else (sys.executable, str(path))
    return ProcessAgent(id="agent", origin="path", argv=argv)


def test_an_agent_asks_and_submits_through_the_server_of_its_task(
    tmp_path: Path, repository: Repository
) -> None:
    pytest.importorskip("mcp")
    answers = ScriptedAnswers().on("Keep", "no, drop it")
    agent = script(tmp_path, MCP_AGENT)
    run = Orchestrator(agent, project=repository.path, answers=answers).delegate("Decide.")
    assert run.report.summary == "no, drop it", (run.task_dir / "raw.log").read_text()
    assert run.source == "channel"
    [question] = run.questions
    assert (question.question, question.options) == ("Keep it?", ("yes", "no"))
    assert (question.state, question.answer) == ("answered", "no, drop it")
    assert [event.type for event in run.events] == [
        "started",
        "progress",
        "question",
        "answer",
        "finished",
    ]
    assert answers.judge() is None


def test_an_agent_of_files_alone_asks_without_knowing_the_server(
    tmp_path: Path, repository: Repository
) -> None:
    answers = ScriptedAnswers().on("Keep", "no")
    agent = script(tmp_path, FILES_AGENT)
    run = Orchestrator(agent, project=repository.path, answers=answers).delegate("Decide.")
    assert (run.report.summary, run.source) == ("no", "file")
    assert [event.type for event in run.events] == ["started", "question", "answer", "finished"]


def ask_in_process(agent: Agent) -> Report:
    return agent.success(agent.ask("Keep it?") or "nobody answered")


def test_a_function_in_this_process_is_answered_while_it_runs(repository: Repository) -> None:
    answers = ScriptedAnswers().on("Keep", "no")
    agent = FunctionAgent(id="agent", target=f"{__name__}:ask_in_process")
    run = Orchestrator(agent, project=repository.path, answers=answers).delegate("Decide.")
    assert run.report.summary == "no"
    assert [question.answer for question in run.questions] == ["no"]


def test_without_a_channel_nobody_is_asked(repository: Repository) -> None:
    agent = FunctionAgent(id="agent", target=f"{__name__}:ask_in_process")
    run = Orchestrator(agent, project=repository.path).delegate("Decide.")
    assert run.task.channel is None
    assert run.report.summary == "nobody answered"
    assert [question.question for question in run.report.questions] == ["Keep it?"]
    assert run.questions == ()


def test_an_unscripted_question_ends_the_agent_at_once(
    tmp_path: Path, repository: Repository
) -> None:
    answers = ScriptedAnswers()
    agent = script(tmp_path, HANGING_AGENT)
    run = Orchestrator(agent, project=repository.path, answers=answers).delegate(
        "Decide.", timeout=50
    )
    assert run.outcome.status == "cancelled"
    assert [question.state for question in run.questions] == ["rejected"]
    assert (answers.judge() or "").startswith("unscripted question: the agent asked 'Keep it?'")


def test_a_question_that_nobody_answered_is_withdrawn_when_the_agent_is_gone(
    tmp_path: Path, repository: Repository
) -> None:
    answers = ScriptedAnswers().silence(after=None)
    agent = script(tmp_path, HANGING_AGENT)
    run = Orchestrator(agent, project=repository.path, answers=answers).delegate(
        "Decide.", timeout=3
    )
    assert run.outcome.timed_out
    assert [question.state for question in run.questions] == ["withdrawn"]
