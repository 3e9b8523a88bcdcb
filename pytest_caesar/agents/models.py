"""Which model a task gets: a result of who asked and what the agent takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_caesar.agents.catalogue import capabilities_of
from pytest_caesar.agents.target import AgentTarget, ProcessAgent


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResult:
    """What becomes of the model of one task.

    Attributes:
        model: the model to ask for, or None for the agent's own default.
        refusal: why the task cannot be given to this agent as asked, or "".
        warning: what the caller should know although the task goes on, or "".
    """

    model: str | None = None
    refusal: str = ""
    warning: str = ""


def decide_model(
    agent: AgentTarget,
    *,
    explicit: str | None = None,
    role: str | None = None,
    configured: Mapping[str, str] | None = None,
) -> ModelResult:
    """Choose the model of a task.

    What was asked for comes first, then the role's, then the definition's own, then
    ``[models]`` by the agent's id. Asking an agent that takes no model is refused when it
    was asked for by name, and told otherwise.

    Args:
        agent: who does the task.
        explicit: the model that the caller named.
        role: the model of the role.
        configured: ``[models]`` of the configuration.
    """
    own = agent.model if isinstance(agent, ProcessAgent) else None
    model = explicit or role or own or (configured or {}).get(agent.id)
    if model is None or capabilities_of(agent).model:
        return ModelResult(model=model)
    problem = f'the model "{model}" cannot be handed to "{agent.id}", which takes none'
    if explicit:
        return ModelResult(refusal=f"{problem}: put {{{{model}}}} into its args, or name no model")
    return ModelResult(warning=f"{problem}; it runs with its own")
