#!/usr/bin/env python3
"""An agent that makes releases: bumps VERSION, and writes down what is new.

It speaks OACP. Where the orchestrator speaks va-agent-protocol, the task holds a task unit
too, and its inputs say more precisely what an objective says in words.
"""

import caesar_agent
from caesar_agent.va import unit_of

PARTS = ("major", "minor", "patch")


def main(agent):
    inputs = unit_of(agent.task).inputs or {}
    if "version" in inputs:
        return write_notes(agent, inputs["version"])
    part = inputs.get("part") or next(
        (part for part in PARTS if part in agent.task.objective), None
    )
    if part is None:
        return agent.blocked(
            "Nobody said which part of the version to bump.",
            question="Which part of the version is to be bumped?",
            options=PARTS,
        )
    return bump(agent, part)


def bump(agent, part):
    path = agent.workspace / "VERSION"
    old = path.read_text(encoding="utf-8").strip()
    numbers = [int(number) for number in old.split(".")]
    place = PARTS.index(part)
    new = ".".join(map(str, [*numbers[:place], numbers[place] + 1, *[0] * (2 - place)]))
    agent.progress(f"bumping the {part} version", pct=50)
    path.write_text(f"{new}\n", encoding="utf-8")
    agent.file_changed("VERSION", "modified")
    agent.output("version", new)
    return agent.success(f"From {old} to {new}.")


def write_notes(agent, version):
    path = agent.workspace / "CHANGELOG.md"
    known = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(f"## {version}\n\n- What is new.\n\n{known}", encoding="utf-8")
    agent.file_changed("CHANGELOG.md", "modified" if known else "created")
    return agent.success(f"Wrote the notes of {version}.")


if __name__ == "__main__":
    caesar_agent.run(main)
