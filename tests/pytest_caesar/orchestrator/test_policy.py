from __future__ import annotations

import pickle
from dataclasses import dataclass

import pytest

from pytest_caesar.orchestrator.policy import DelegationRefused, check_policy, next_depth


@dataclass(frozen=True)
class Policy:
    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    max_depth: int = 2


def refused(policy: Policy, agent_id: str = "a", depth: int = 1) -> DelegationRefused:
    with pytest.raises(DelegationRefused) as caught:
        check_policy(policy, agent_id=agent_id, depth=depth)
    return caught.value


def test_without_a_policy_the_first_delegation_is_made() -> None:
    check_policy(Policy(), agent_id="a", depth=1)


def test_a_denied_agent_is_refused_even_when_it_is_allowed() -> None:
    error = refused(Policy(allowed=("a",), denied=("a",)))
    assert str(error) == (
        "delegation refused by [policy] denied: the agent 'a' is on the list; "
        "take it off the list, or choose another agent"
    )


def test_who_is_not_on_the_list_is_refused() -> None:
    error = refused(Policy(allowed=("b", "c")))
    assert str(error) == (
        "delegation refused by [policy] allowed: the agent 'a' is not among b, c; "
        "add it to the list, or choose one of these"
    )


def test_who_is_on_the_list_is_not() -> None:
    check_policy(Policy(allowed=("a", "b")), agent_id="a", depth=1)


@pytest.mark.parametrize(("max_depth", "depth"), [(2, 2), (2, 3), (1, 1), (0, 1)])
def test_a_delegation_at_the_limit_is_refused(max_depth: int, depth: int) -> None:
    error = refused(Policy(max_depth=max_depth), depth=depth)
    assert error.setting == "[policy] max_depth"
    assert f"depth {depth}, and from depth {max_depth} on none" in str(error)


def test_a_delegation_below_the_limit_is_not() -> None:
    check_policy(Policy(max_depth=3), agent_id="a", depth=2)


@pytest.mark.parametrize(
    ("text", "depth"), [(None, 1), ("", 1), (" ", 1), ("0", 1), ("1", 2), ("007", 8), (" 3 ", 4)]
)
def test_depth_is_counted_from_the_environment(text: str | None, depth: int) -> None:
    assert next_depth({} if text is None else {"CAESAR_DEPTH": text}) == depth


@pytest.mark.parametrize("text", ["-1", "+1", "1.0", "1e3", "x", "٣", "0x1", "1 2", "9" * 7])
def test_a_depth_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(DelegationRefused) as caught:
        next_depth({"CAESAR_DEPTH": text})
    assert caught.value.setting == "CAESAR_DEPTH"
    assert repr(text) in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
