"""Where a selection is made, and what there is at that place."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_caesar.agents.target import ProcessAgent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_caesar.agents.config import AgentSpec, Config
    from pytest_caesar.agents.discovery import Discovery
    from pytest_caesar.agents.known_cli import KnownCli

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a selection is made.

    Attributes:
        project: root of the project under test, absolute; ``[[agent]]`` comes from it.
        start: folder from which paths are meant, absolute.
        path: PATH that commands are looked for on.
        user_config: the user's own layers count too.
        home: the folder meant by ``~``.
        runner: what runs agent definitions, or None.
        config_dir: value of ``PI_CONFIG_DIR``, which moves a user's folder; or None.
    """

    project: Path
    start: Path
    path: str
    user_config: bool = False
    home: Path | None = None
    runner: str | None = None
    config_dir: str | None = None

    def config(self) -> Config:
        """Read the configuration that counts here; raises ``ConfigError``."""
        from pytest_caesar.agents.config import load_config  # noqa: PLC0415  (only when needed)

        return load_config(self.project, user_config=self.user_config, home=self.home)

    def discovery(self) -> Discovery:
        """Find the definitions that count here: the project's, the user's when asked for."""
        from pytest_caesar.agents.discovery import discover_agents  # noqa: PLC0415  (as above)

        inside = self.project in (self.start, *self.start.parents)
        return discover_agents(
            self.start if inside else self.project,
            self.home if self.user_config else None,
            stop_at=self.project,
            config_dir=self.config_dir,
        )

    def names(self) -> tuple[str, ...]:
        """Return the names that can be selected here, in the order of selection."""
        from pytest_caesar.agents.catalogue import CATALOGUE  # noqa: PLC0415  (as above)

        configured = (spec.id for spec in self.config().agents)
        return tuple(dict.fromkeys((*configured, *CATALOGUE, *self.discovery().names)))


def search_path(environ: Mapping[str, str]) -> str:
    """Return PATH, led by the folder of the running interpreter."""
    folders = [str(Path(sys.executable).parent), environ.get("PATH", os.defpath)]
    return os.pathsep.join(folder for folder in folders if folder)


def safe_id(text: str) -> str:
    """Return text as an id: letters, digits, ``.``, ``_``, ``-``; never empty."""
    return _UNSAFE.sub("-", text).strip("-.") or "agent"


def agent_of_spec(spec: AgentSpec, project: Path) -> ProcessAgent:
    """Turn an ``[[agent]]`` entry into something to run."""
    if spec.cli:
        from pytest_caesar.agents.catalogue import CATALOGUE  # noqa: PLC0415  (only when needed)

        known = agent_of_cli(CATALOGUE[spec.cli])
        return replace(
            known,
            id=spec.id,
            origin="config",
            argv=(spec.bin or known.argv[0],),
            project=str(project),
            extra_args=spec.extra_args,
            display_name=spec.display_name or known.display_name,
            where=spec.file,
        )
    made = ProcessAgent(
        id=spec.id,
        origin="config",
        argv=(spec.bin, *spec.args),
        project=str(project),
        cwd_mode=spec.cwd_mode,
        network_args=spec.network_args,
        native_read_only=spec.native_read_only,
        display_name=spec.display_name,
        where=spec.file,
        acp_read=spec.acp_read,
        auth_method=spec.auth_method or None,
    )
    return speaking_acp(made) if spec.protocol == "acp" else made


def speaking_acp(agent: ProcessAgent) -> ProcessAgent:
    """Return an agent that is spoken to by ACP; a known CLI gets its settings, too."""
    from pytest_caesar.agents.catalogue import CATALOGUE  # noqa: PLC0415  (only when needed)

    program = Path(agent.argv[0]).name
    known = next((cli.id for cli in CATALOGUE.values() if cli.program == program), None)
    return replace(agent, protocol="acp", dialect="acp", settings_of=known)


def agent_of_cli(cli: KnownCli) -> ProcessAgent:
    """Turn an entry of the catalogue into something to run."""
    return ProcessAgent(
        id=cli.id,
        origin="catalogue",
        argv=(cli.program,),
        native_read_only=True,
        dialect=cli.dialect,
        brief_on_stdin=cli.brief_on_stdin,
        cli=cli.id,
        display_name=cli.display_name,
    )
