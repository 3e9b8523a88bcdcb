"""Checks across definitions: whom an agent may start, in circles or in vain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_caesar.agents.checks.complaint import Complaint
from pytest_caesar.agents.definitions import AgentDefinition
from pytest_caesar.agents.errors import near_miss, shown
from pytest_caesar.agents.spawning import SPAWN_ALL, spawn_allowed, spawn_policy

_SHOWN = 8
"""Agents of a circle that are named; more are left out in the middle."""

Lines = Mapping[str, int | None]


def check_delegation(
    agents: Sequence[AgentDefinition],
    *,
    lines: Lines | None = None,
    entry: str = SPAWN_ALL,
    max_depth: int = 2,
) -> tuple[Complaint, ...]:
    """Check whom the agents of a discovery may start.

    Args:
        agents: every agent that can be selected, bundled ones too; names are unique.
        lines: line of ``spawns`` by file.
        entry: policy of the main session; with ``*`` it reaches everybody by itself.
        max_depth: depth at which nobody delegates any more; negative means no limit.

    Returns:
        Names that nobody has, cycles (each once), and agents that nothing can reach.
    """
    by_name = {agent.name: agent for agent in agents}
    places = lines or {}
    return (
        *_unknown(by_name, places),
        *_cycles(by_name, places),
        *_unreachable(by_name, entry, max_depth),
    )


def _unknown(by_name: Mapping[str, AgentDefinition], lines: Lines) -> Iterator[Complaint]:
    for agent in by_name.values():
        for name in _targets(agent):
            if name not in by_name:
                yield Complaint(
                    code="spawns-nobody",
                    path=_path(agent),
                    line=lines.get(_path(agent)),
                    field="spawns",
                    found=f"spawns names {shown(name)}, and there is no such agent"
                    + near_miss(name, by_name),
                    effect=f'a request for it is answered with: Unknown agent "{name}"',
                    mend="name an agent that exists, exactly as its name is written",
                )


def _cycles(by_name: Mapping[str, AgentDefinition], lines: Lines) -> Iterator[Complaint]:
    """Find cycles of names; ``*`` is no cycle, as everybody would be in one."""
    done: set[str] = set()
    for start in by_name:
        path: list[str] = []
        waiting: list[tuple[str, int]] = [(start, 0)]
        while waiting:
            name, depth = waiting.pop()
            del path[depth:]
            if name in path:
                circle = path[path.index(name) :]
                yield _cycle(circle, by_name, lines)
                continue
            if name in done:
                continue
            done.add(name)
            path.append(name)
            targets = [other for other in _targets(by_name[name]) if other in by_name]
            waiting += [(other, depth + 1) for other in reversed(targets)]


def _cycle(
    circle: Sequence[str], by_name: Mapping[str, AgentDefinition], lines: Lines
) -> Complaint:
    agent = by_name[circle[0]]
    shown_steps = circle if len(circle) <= _SHOWN else (*circle[:_SHOWN], "…")
    steps = " -> ".join((*shown_steps, circle[0]))
    itself = len(circle) == 1
    return Complaint(
        code="spawns-cycle",
        path=_path(agent),
        line=lines.get(_path(agent)),
        field="spawns",
        found=f"{agent.name} may start itself" if itself else f"spawns goes in a circle: {steps}",
        effect="it refuses an agent that starts itself (recursion prevention)"
        if itself
        else "only the limit on depth ends the circle; each round costs a model run",
        mend="take one of the names out of spawns",
    )


def _unreachable(
    by_name: Mapping[str, AgentDefinition], entry: str, max_depth: int
) -> Iterator[Complaint]:
    if entry == SPAWN_ALL and max_depth != 0:
        return
    reached: set[str] = set()
    level = [name for name in by_name if spawn_allowed(name, entry)]
    depth = 1
    while level and (max_depth < 0 or depth <= max_depth):
        reached.update(level)
        policies = [spawn_policy(by_name[name]) for name in level]
        level = [
            name
            for name in by_name
            if name not in reached and any(spawn_allowed(name, policy) for policy in policies)
        ]
        depth += 1
    for name, agent in by_name.items():
        if name not in reached and agent.source != "bundled":
            yield Complaint(
                code="unreachable",
                path=_path(agent),
                field="name",
                found=f"nothing can start {shown(name)}",
                effect=f"the main session may start {entry or 'nobody'}, and nobody within "
                f"depth {max_depth} may start it",
                mend="name it in the spawns of an agent that is started",
            )


def _targets(agent: AgentDefinition) -> tuple[str, ...]:
    policy = spawn_policy(agent)
    if policy in ("", SPAWN_ALL):
        return ()
    names = (part.strip() for part in policy.split(","))
    return tuple(dict.fromkeys(name for name in names if name and name.strip("\"'") != SPAWN_ALL))


def _path(agent: AgentDefinition) -> str:
    return agent.file_path or ""
