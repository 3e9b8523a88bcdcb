from __future__ import annotations

import pytest

from pytest_caesar.agents.capabilities import Capabilities
from pytest_caesar.agents.catalogue import capabilities_of
from pytest_caesar.agents.network import Control, Requested, decide_network
from pytest_caesar.agents.target import FunctionAgent, ProcessAgent

# requested, control -> outcome when writing, outcome when read-only
TABLE: dict[tuple[Requested, Control], tuple[str, str]] = {
    ("auto", "open"): ("on", "on"),
    ("auto", "toggle"): ("on", "on"),
    ("auto", "write-only"): ("on", "off, warned"),
    ("auto", "unknown"): ("on", "on"),
    ("on", "open"): ("on", "on"),
    ("on", "toggle"): ("on", "on"),
    ("on", "write-only"): ("on", "refused"),
    ("on", "unknown"): ("on, warned", "on, warned"),
    ("off", "open"): ("on, warned", "on, warned"),
    ("off", "toggle"): ("off", "off"),
    ("off", "write-only"): ("off", "off"),
    ("off", "unknown"): ("on, warned", "on, warned"),
}


def outcome(requested: Requested, control: Control, *, write: bool) -> str:
    result = decide_network(
        requested, mode="write" if write else "read-only", control=control, agent="tool"
    )
    if result.refused:
        assert result.reason
        assert result.remedy
        return "refused"
    assert not result.reason
    return ("on" if result.available else "off") + (", warned" if result.warning else "")


@pytest.mark.parametrize(("requested", "control"), TABLE, ids=str)
def test_the_network_is_a_result_of_what_was_asked_and_what_the_agent_allows(
    requested: Requested, control: Control
) -> None:
    found = tuple(outcome(requested, control, write=write) for write in (True, False))
    assert found == TABLE[requested, control]


def test_a_warning_names_the_agent_and_what_to_do() -> None:
    result = decide_network("on", mode="write", control="unknown", agent="tool")
    assert result.warning == (
        'the network was to be on, but nothing is known that opens it for "tool": declare '
        "network_args in its [[agent]] entry"
    )


def agent(*args: str, **more: object) -> ProcessAgent:
    return ProcessAgent(id="a", origin="config", argv=("x", *args), **more)  # type: ignore[arg-type]


def test_an_agent_takes_a_model_when_an_argument_has_a_place_for_it() -> None:
    assert capabilities_of(agent("{{prompt}}")).model is False
    assert capabilities_of(agent("-m={{model}}")).model is True


def test_network_args_make_the_network_a_toggle() -> None:
    assert capabilities_of(agent("{{prompt}}")).network == "unknown"
    assert capabilities_of(agent("{{prompt}}", network_args=("--net",))).network == "toggle"


def test_a_read_only_mode_is_believed() -> None:
    assert capabilities_of(agent(native_read_only=True)).native_read_only is True


def test_a_function_promises_nothing() -> None:
    assert capabilities_of(FunctionAgent(id="f", target="m:f")) == Capabilities()


def test_the_catalogue_knows_its_own() -> None:
    codex = capabilities_of(agent(cli="codex"))
    assert codex == Capabilities(
        json_events=True,
        output_schema=True,
        final_message_file=True,
        native_read_only=True,
        add_dir=True,
        mcp_injection="arguments",
        model=True,
        network="write-only",
    )
