"""Requirements and checks are the same set, and each requirement says all it has to."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import get_args

from pytest_caesar.conformance.judging import AREA_MODULES, CHECKS
from pytest_caesar.conformance.profile import CLAIMS, IMPLIED, TABLES
from pytest_caesar.conformance.requirements import (
    AREAS,
    EVERY,
    GATES,
    LEVELS,
    RETIRED,
    VA_AREA,
    VA_GATES,
    Kind,
    Level,
)
from pytest_caesar.conformance.scenarios import SCENARIOS


def test_every_requirement_has_a_check_and_every_check_a_requirement() -> None:
    assert CHECKS.keys() == EVERY.keys()


def test_every_scenario_is_looked_at() -> None:
    looked_at = {check.scenario for check in CHECKS.values()}
    looked_at |= {check.otherwise for check in CHECKS.values() if check.otherwise}

    assert looked_at == SCENARIOS.keys()


def test_no_id_is_used_again() -> None:
    assert not RETIRED & EVERY.keys()


def test_ids_of_an_area_are_counted_up() -> None:
    for area in (*AREAS, VA_AREA):
        numbers = [int(name[-3:]) for name in (*EVERY, *RETIRED) if name.startswith(area)]
        assert all(two > one for one, two in pairwise(numbers))


def test_each_area_has_a_module_of_checks() -> None:
    for area, module in zip((*AREAS, VA_AREA), AREA_MODULES, strict=True):
        assert module.__name__.endswith(f".{area.lower()}")
        functions = {check.function.__module__ for name, check in CHECKS.items() if area in name}
        assert functions == {module.__name__}


def test_every_level_has_a_gate_of_its_own() -> None:
    assert GATES.keys() == VA_GATES.keys() == LEVELS.keys() == set(get_args(Level))
    for level, gate in (*GATES.items(), *VA_GATES.items()):
        assert EVERY[gate].level == level
        assert EVERY[gate].kind != "advisory"


def test_a_requirement_is_whole() -> None:
    for requirement in EVERY.values():
        assert re.fullmatch(r"[A-Z]+-\d{3}", requirement.id)
        assert requirement.area in (*AREAS, VA_AREA)
        assert requirement.level in LEVELS
        assert requirement.kind in get_args(Kind)
        assert requirement.text.endswith(".")
        assert requirement.text[0].isupper()
        assert requirement.clause.strip()


def test_what_is_conditional_can_be_claimed_and_nothing_else_needs_a_claim() -> None:
    for requirement in EVERY.values():
        assert bool(requirement.capability) == (requirement.kind == "conditional")
        if requirement.capability:
            assert requirement.capability in {*CLAIMS, *TABLES, *IMPLIED}


def test_what_is_advisory_says_that_the_specification_is_silent() -> None:
    for requirement in EVERY.values():
        silent = requirement.clause.startswith("The specification is silent; ")
        assert silent == (requirement.kind == "advisory")


def test_everything_that_can_be_claimed_is_asked_for() -> None:
    asked = {requirement.capability for requirement in EVERY.values()}
    asked |= {scenario.special for scenario in SCENARIOS.values()}

    assert {*CLAIMS, *TABLES} <= asked
