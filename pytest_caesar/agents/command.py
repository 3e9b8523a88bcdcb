"""Make the command line of an agent: tokens, program, working folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_caesar.agents.errors import BadArgument, PromptTooLong, shown
from pytest_caesar.agents.executables import look_up
from pytest_caesar.agents.tokens import substitute, tokens_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_caesar.agents.target import ProcessAgent

MAX_ARGUMENT_BYTES = 131_071
"""Bytes of one argument, without its closing NUL (Linux: ``MAX_ARG_STRLEN``, 32 pages).

macOS bounds all arguments together (1 MiB), so what holds here holds there."""


def build_command(  # noqa: PLR0913  (what the tokens need, by name)
    agent: ProcessAgent,
    *,
    prompt: str,
    workspace: Path,
    task_dir: Path,
    report_path: Path,
    model: str | None,
    network: bool,
    path: str,
    extra_args: Sequence[str] = (),
    model_url: str | None = None,
) -> tuple[tuple[str, ...], Path]:
    """Make argv and working folder of an agent from its template.

    For an agent of the catalogue, ``launch.prepare`` makes more than a template can.

    Args:
        agent: what was selected.
        prompt: the brief; left out of argv by an agent whose template has no ``{{prompt}}``.
        workspace: where the agent works, absolute.
        task_dir: folder of the task, absolute.
        report_path: where the report is expected, absolute.
        model: the model the agent is to use, or None.
        network: the task has the network, so ``network_args`` are added.
        path: PATH of the child process.
        extra_args: put at the end as they are, tokens untouched.
        model_url: the scripted model that the agent is to talk to, or None.

    Returns:
        argv (the program absolute) and the working folder.

    Raises:
        CommandError: one of its kinds, which names the real cause; nothing was started.
    """
    values = {
        "prompt": prompt,
        "workspace": str(workspace),
        "taskDir": str(task_dir),
        "reportPath": str(report_path),
        "model": model or agent.model,
        "modelUrl": model_url,
    }
    template = (*agent.argv[1:], *(agent.network_args if network else ()))
    arguments = (*substitute(template, values), *extra_args)
    _check_prompt_survives(agent, template, values)
    check_arguments(agent, arguments)
    program = find_program(agent, path=path)
    cwd = task_dir if agent.cwd_mode == "flag" else workspace
    return (str(program), *arguments), cwd


def find_program(agent: ProcessAgent, *, path: str) -> Path:
    """Find the program of an agent as its child process will, before anything is made.

    Args:
        agent: what was selected.
        path: PATH of the child process.

    Returns:
        The absolute path of a program that the system would execute.

    Raises:
        CommandNotFoundError: absolute, or with a slash from the project's root, or without one
            on ``path`` and in the project's root: nothing of that name is there.
        NotExecutableError: it is a folder or not a regular file, or lacks permission.
        BadInterpreter: a script whose first line is missing or names nothing.
    """
    return look_up(
        agent.argv[0],
        agent=agent.id,
        project=Path(agent.project) if agent.project else None,
        path=path,
    )


def check_arguments(agent: ProcessAgent, arguments: Sequence[str]) -> None:
    """Check that each argument can be handed to a program.

    Raises:
        PromptTooLong: an argument has more than ``MAX_ARGUMENT_BYTES`` bytes.
        BadArgument: an argument holds a NUL or a lone surrogate.
    """
    for argument in arguments:
        if "\0" in argument:
            raise BadArgument(
                agent=agent.id,
                program=agent.argv[0],
                problem=f"an argument holds a NUL character: {shown(argument, limit=60)}",
            )
        try:
            size = len(argument.encode("utf-8", "surrogateescape"))
        except UnicodeEncodeError:
            raise BadArgument(
                agent=agent.id,
                program=agent.argv[0],
                problem="an argument holds half of a surrogate pair, which has no UTF-8 form: "
                f"{shown(argument, limit=60)}",
            ) from None
        if size > MAX_ARGUMENT_BYTES:
            raise PromptTooLong(
                agent=agent.id,
                program=agent.argv[0],
                size=size,
                limit=MAX_ARGUMENT_BYTES,
                problem=f"an argument of {size} bytes is too long for a command line "
                f"(at most {MAX_ARGUMENT_BYTES}): give a shorter brief that points to task.json, "
                "or an agent that takes its brief on stdin",
            )


def _check_prompt_survives(
    agent: ProcessAgent, template: Sequence[str], values: dict[str, str | None]
) -> None:
    carriers = [tokens_in(argument) for argument in template if "prompt" in tokens_in(argument)]
    if carriers and not any(
        all(values.get(name) or name == "prompt" for name in names) for names in carriers
    ):
        lost = next(name for name in carriers[0] if name != "prompt" and not values.get(name))
        raise BadArgument(
            agent=agent.id,
            program=agent.argv[0],
            problem="the only argument with {{prompt}} also holds {{" + lost + "}}, which has no "
            "value, so the agent would never see its task: give {{prompt}} an argument of its own",
        )
