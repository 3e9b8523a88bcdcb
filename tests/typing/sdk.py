"""The SDK as type checkers see it: checked by mypy, never run."""

from __future__ import annotations

from pathlib import Path

import caesar_agent


def plain(agent: caesar_agent.Agent) -> caesar_agent.Report:
    task: caesar_agent.Task = agent.task
    left: float = agent.remaining
    folder: Path = agent.workspace
    depth: int = agent.depth
    agent.progress(f"{task.objective}: {left} s in {folder} at {depth}", pct=10)
    agent.thinking("hm")
    agent.message("hello")
    agent.error("small", fatal=False)

    result: caesar_agent.CommandResult = agent.command(["pytest", Path("tests")], timeout=5)
    ended: int | None = result.exit_code
    agent.command("ls | wc -l", cwd="src", env={"CI": None}, check=True)
    answer: str | None = agent.ask("Keep it?", options=["yes", "no"], timeout=1)
    other: caesar_agent.Delegated = agent.delegate("reviewer", "Read it", mode="read-only")
    its_report: caesar_agent.Report | None = other.report
    agent.message(f"{other.refusal} {other.ok} {its_report}")

    agent.file_changed("src/a.py", "modified", summary=f"{ended} {answer}")
    agent.file_changed("src/a.py", "changed")  # type: ignore[arg-type]
    agent.finding("medium", "Dead branch", file="src/x.py", line=42, detail="")
    agent.finding("warning", "No such severity")  # type: ignore[arg-type]
    agent.artifact(Path("bench.json"), "before and after")
    agent.next_step("Document it")
    agent.question("Which?", ["a", "b"])
    agent.usage(input_tokens=1, output_tokens=2, duration_ms=3, cost_usd=0.1)
    agent.output("key", {"any": ["json"]})

    if not result.ok:
        return agent.blocked("stuck", question="Which?", options=("a", "b"))
    if answer is None:
        return agent.partial("half", next_steps=["the rest"])
    if ended:
        return agent.failed("no", details="why")
    return agent.submit(agent.success("done"))


async def coroutine(agent: caesar_agent.Agent) -> caesar_agent.Report:
    try:
        return agent.success("done")
    except caesar_agent.Interrupted as stop:
        reason: str = stop.reason
        return agent.failed(reason)
    except caesar_agent.MisuseError as error:
        method: str = error.method
        return agent.failed(method)


def nothing(agent: caesar_agent.Agent) -> None:
    agent.success("forgotten")


version: str = caesar_agent.__version__

if version == "plain":
    caesar_agent.run(plain)
if version == "coroutine":
    caesar_agent.run(coroutine)
if version == "nothing":
    caesar_agent.run(nothing)  # type: ignore[arg-type]
