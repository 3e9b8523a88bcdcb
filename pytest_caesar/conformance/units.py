"""The task units of va-agent-protocol that an agent is given, made from its profile."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from caesar_agent.va.conversion import TASK_UNIT, task_fields
from caesar_agent.va.task_unit import OutputContract, Pitfall, TaskContext, TaskUnit
from pytest_caesar.conformance.profile import Profile
from pytest_caesar.conformance.scenarios import HOSTILE_TEXT, Scenario

UNIT_ID = "unit-7"

AS_ASKED = "The objective is met."
"""The criterion of a unit whose profile names none: the protocol asks for one."""


def unit_for(profile: Profile, scenario: Scenario, *, canary: object) -> TaskUnit:
    """Make the unit of a scenario.

    Args:
        profile: what the agent is for.
        scenario: how the unit is given.
        canary: path that is there when text of a hostile unit was carried out.
    """
    special = profile.specials.get(scenario.special)
    objective = special.objective if special else profile.objective
    criteria = special.acceptance_criteria if special else profile.acceptance_criteria
    inputs: dict[str, Any] | None = dict(profile.inputs) or None
    if scenario.unit == "bare":
        return TaskUnit(
            id=UNIT_ID,
            objective=objective,
            acceptance_criteria=criteria or (AS_ASKED,),
            inputs=inputs,
        )
    history = [(special and special.context) or profile.context]
    pitfalls = None
    if scenario.unit == "hostile":
        history.append(HOSTILE_TEXT.format(canary=canary))
    if scenario.unit == "again":
        pitfalls = (
            Pitfall(
                id=f"{UNIT_ID}#1",
                failure_type="timeout",
                attempted="The first attempt was stopped.",
                hypothesis="It was given too little time.",
            ),
        )
    outputs = () if special else profile.outputs
    return TaskUnit(
        id=UNIT_ID,
        objective=objective,
        constraints=(special and special.constraints) or profile.constraints,
        acceptance_criteria=criteria or (AS_ASKED,),
        context=TaskContext(history=tuple(filter(None, history)) or None, pitfalls=pitfalls),
        inputs=inputs,
        output_contract=OutputContract(keys=outputs) if outputs else None,
    )


def wishes_of(unit: TaskUnit) -> dict[str, Any]:
    """Return what ``Orchestrator.delegate`` is given for a unit, as ``dispatch`` gives it."""
    fields = asdict(task_fields(unit))
    del fields["deadline_ms"]
    return {**fields, "promised": unit.promised, "task_fields": {TASK_UNIT: unit.dump()}}
