"""How every program that works on a task is started and stopped: agents, and commands of gates."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pytest_caesar.supervision.supervisor import GRACE, LINGER


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramSettings:
    """How every program that works on a task is started and stopped.

    Attributes:
        pass_env: names of variables that programs may see beside the allow-list.
        path_first: folders that lead their ``PATH``.
        grace: seconds between SIGTERM and SIGKILL.
        linger: seconds an agent may go on after it has delivered its report.
        seconds_left: what is left of the surrounding test, or None; timeouts are cut to it.
    """

    pass_env: tuple[str, ...] = ()
    path_first: tuple[str, ...] = (str(Path(sys.executable).parent),)
    grace: float = GRACE
    linger: float = LINGER
    seconds_left: Callable[[], float | None] = field(default=lambda: None)
