from __future__ import annotations

import pytest

from pytest_caesar.agents.models import ModelResult, decide_model
from pytest_caesar.agents.target import FunctionAgent, ProcessAgent

TAKES = ProcessAgent(id="a", origin="config", argv=("x", "{{prompt}}", "-m", "{{model}}"))
TAKES_NONE = ProcessAgent(id="a", origin="config", argv=("x", "{{prompt}}"))
OWN = ProcessAgent(id="a", origin="definition", argv=TAKES.argv, model="own")
CONFIGURED = {"a": "configured", "b": "other"}


@pytest.mark.parametrize(
    ("agent", "explicit", "role", "model"),
    [
        (OWN, "asked", "roles", "asked"),
        (OWN, None, "roles", "roles"),
        (OWN, None, None, "own"),
        (TAKES, None, None, "configured"),
    ],
    ids=["asked", "role", "definition", "configuration"],
)
def test_the_nearest_wish_counts(
    agent: ProcessAgent, explicit: str | None, role: str | None, model: str
) -> None:
    found = decide_model(agent, explicit=explicit, role=role, configured=CONFIGURED)
    assert found == ModelResult(model=model)


def test_nobody_asked_is_no_matter() -> None:
    assert decide_model(TAKES_NONE) == ModelResult()
    assert decide_model(FunctionAgent(id="f", target="m:f")) == ModelResult()


def test_a_model_by_name_is_refused_by_an_agent_that_takes_none() -> None:
    assert decide_model(TAKES_NONE, explicit="m").refusal == (
        'the model "m" cannot be handed to "a", which takes none: put {{model}} into its args, '
        "or name no model"
    )


def test_a_model_from_elsewhere_is_told() -> None:
    found = decide_model(TAKES_NONE, configured=CONFIGURED)
    assert (found.model, found.refusal) == (None, "")
    assert "it runs with its own" in found.warning
