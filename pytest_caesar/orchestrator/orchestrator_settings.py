"""How an orchestrator treats every delegation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.documents.event import Event
from pytest_caesar.runs.prices import Prices
from pytest_caesar.supervision.program_settings import ProgramSettings

if TYPE_CHECKING:
    from socket import socket

    from pytest_caesar.programs.programs import Programs
    from pytest_caesar.recovery.tool_call import ToolCall
    from pytest_caesar.recovery.usage import Usage
    from pytest_caesar.runs.budget import Budget
    from pytest_caesar.runs.extensions import Extensions


@dataclass(frozen=True, slots=True, kw_only=True)
class OrchestratorSettings(ProgramSettings):
    """How an orchestrator treats every delegation.

    Attributes:
        pass_env: names of variables that agents may see beside the allow-list.
        path_first: folders that lead the agent's ``PATH``.
        grace: seconds between SIGTERM and SIGKILL.
        linger: seconds an agent may go on after it has delivered its report.
        seconds_left: what is left of the surrounding test, or None; timeouts are cut to it.
        on_event: called with every event as it comes.
        user_config: read the user's own configuration layers too.
        model: handed to agents whose command line takes one.
        agents_root: folder whose configuration and definitions names are looked up in;
            the project when None.
        subprocess: every agent that is a function runs in a process of its own.
        runner: what runs agent definitions, as for ``select``; or None.
        model_url: gives the address of a scripted model that agents talk to, by agent and
            task; or None.
        programs: that a test fakes or watches, or None.
        model_witness: gives what a model of the harness saw of a task: calls, and usage; or None.
        budget: what may be used at most, or None.
        extensions: what plugins add, or None.
        prices: of tokens, where an agent's program does not say what it cost; or None.
        sandbox: in which agents run when a call names none: ``none``, ``auto``, a name; None
            leaves it to ``[policy] sandbox``.
        model_listener: takes a listening socket at which the scripted model answers too; or None.
    """

    on_event: Callable[[Event], None] | None = None
    user_config: bool = False
    model: str | None = None
    agents_root: Path | None = None
    runner: str | None = None
    subprocess: bool = False
    model_url: Callable[[str, str], str] | None = None
    prices: Prices | None = None
    programs: Programs | None = None
    model_witness: Callable[[str], tuple[tuple[ToolCall, ...], Usage]] | None = None
    budget: Budget | None = None
    extensions: Extensions | None = None
    sandbox: str | None = None
    model_listener: Callable[[socket], None] | None = None
