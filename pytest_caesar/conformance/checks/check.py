"""What a check is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from pytest_caesar.conformance.judgement import Judgement
from pytest_caesar.conformance.requirements import EVERY
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.conformance.scenario_run import ScenarioRun
from pytest_caesar.conformance.scenarios import SCENARIOS

Function: TypeAlias = "Callable[[ScenarioCache, ScenarioRun], Judgement]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """How an agent is judged by one requirement.

    Attributes:
        id: of the requirement.
        scenario: the scenario that it looks at.
        otherwise: the scenario that it looks at where the scenario is not claimed, or None.
        last: it is asked after all others, since it looks at what they have seen.
        of_a_dead_agent: it is asked even where the plain task left no valid report.
        function: gives the judgement.
    """

    id: str
    scenario: str
    otherwise: str | None
    last: bool
    of_a_dead_agent: bool
    function: Function


REGISTERED: dict[str, Check] = {}
"""Every check by the id of its requirement."""


def check(
    requirement: str,
    scenario: str = "plain",
    *,
    otherwise: str | None = None,
    last: bool = False,
    of_a_dead_agent: bool = False,
) -> Callable[[Function], Function]:
    """Make a function the check of a requirement.

    Raises:
        ValueError: the requirement or the scenario is none, or has a check already.
    """
    if requirement not in EVERY or requirement in REGISTERED or scenario not in SCENARIOS:
        raise ValueError(f"{requirement} on {scenario!r}: unknown, or there already")

    def register(function: Function) -> Function:
        REGISTERED[requirement] = Check(
            id=requirement,
            scenario=scenario,
            otherwise=otherwise,
            last=last,
            of_a_dead_agent=of_a_dead_agent,
            function=function,
        )
        return function

    return register
