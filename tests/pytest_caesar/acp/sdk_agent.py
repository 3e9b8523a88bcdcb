"""An honest agent, made with the official SDK: it works off a list of steps in its objective."""

# The agent's side of the SDK decides on the names and arguments of the methods.

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import acp
from acp import helpers, schema


class Agent:
    def on_connect(self, conn: Any) -> None:
        self.conn = conn

    async def initialize(self, protocol_version: int, **more: Any) -> schema.InitializeResponse:
        self.reads = more["client_capabilities"].fs.read_text_file
        methods = [schema.AuthMethodAgent(id="by-hand", name="By hand")]
        return schema.InitializeResponse(protocol_version=protocol_version, auth_methods=methods)

    async def authenticate(self, method_id: str, **more: Any) -> schema.AuthenticateResponse:
        self.method = method_id
        return schema.AuthenticateResponse()

    async def new_session(self, cwd: str, **more: Any) -> schema.NewSessionResponse:
        if os.environ.get("NEEDS_LOGIN") and getattr(self, "method", None) is None:
            raise acp.RequestError.auth_required()
        self.cwd = Path(cwd)
        self.servers = [server.name for server in more.get("mcp_servers") or ()]
        modes = [schema.SessionMode(id=name, name=name) for name in ("code", "plan")]
        return schema.NewSessionResponse(
            session_id="s1",
            modes=schema.SessionModeState(current_mode_id="code", available_modes=modes),
        )

    async def set_session_mode(self, session_id: str, mode_id: str, **more: Any) -> None:
        self.mode = mode_id

    async def cancel(self, session_id: str, **more: Any) -> None:
        (Path(os.environ["CAESAR_TASK_DIR"]) / "cancelled").touch()

    async def prompt(self, session_id: str, prompt: list[Any], **more: Any) -> Any:
        steps = json.loads(re.search(r"STEPS (\[.*\])", prompt[0].text)[1])  # type: ignore[index]
        for number, (name, *arguments) in enumerate(steps):
            await getattr(self, f"do_{name}")(session_id, f"call-{number}", *arguments)
        used = schema.Usage(total_tokens=150, input_tokens=120, output_tokens=30)
        return schema.PromptResponse(stop_reason="end_turn", usage=used)

    async def tell(self, session: str, update: Any) -> None:
        await self.conn.session_update(session_id=session, update=update)

    async def do_say(self, session: str, call: str, text: str) -> None:
        for part in (text[:3], text[3:]):
            await self.tell(session, helpers.update_agent_message_text(part))

    async def do_facts(self, session: str, call: str) -> None:
        facts = [
            self.servers,
            getattr(self, "mode", None),
            getattr(self, "method", None),
            self.reads,
        ]
        await self.do_say(session, call, json.dumps(facts))

    async def do_run(self, session: str, call: str, command: str, code: int) -> None:
        await self.tell(
            session,
            helpers.start_tool_call(call, command, kind="execute", raw_input={"command": command}),
        )
        update = helpers.update_tool_call(
            call, status="failed" if code else "completed", raw_output={"exit_code": code}
        )
        await self.tell(session, update)

    async def do_touch(self, session: str, call: str, path: str) -> None:
        (self.cwd / path).write_text("by the agent\n")

    async def do_edit(self, session: str, call: str, path: str) -> None:
        """Ask leave, then have the client write."""
        options = [
            schema.PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
            schema.PermissionOption(option_id="no", name="No", kind="reject_once"),
        ]
        asked = schema.ToolCallUpdate(
            tool_call_id=call,
            title=f"Edit {path}",
            kind="edit",
            locations=[schema.ToolCallLocation(path=str(self.cwd / path))],
        )
        answer = await self.conn.request_permission(
            session_id=session, tool_call=asked, options=options
        )
        if getattr(answer.outcome, "option_id", "no") == "yes":
            await self.do_write(session, call, str(self.cwd / path))

    async def do_write(self, session: str, call: str, path: str) -> None:
        place = path if path.startswith("/") else str(self.cwd / path)
        try:
            await self.conn.write_text_file(session_id=session, path=place, content="by us\n")
        except acp.RequestError as error:
            await self.do_say(session, call, f"refused: {error}")

    async def do_report(self, session: str, call: str, changes: list[str]) -> None:
        report = {
            "protocol": "caesar.report/v1",
            "status": "success",
            "summary": "Done.",
            "changes": [{"path": path, "action": "created"} for path in changes],
            "commands_run": [{"command": "pytest -q", "exit_code": 0}],
        }
        await self.conn.write_text_file(
            session_id=session, path=os.environ["CAESAR_REPORT_PATH"], content=json.dumps(report)
        )

    def note(self, text: str) -> None:
        with (Path(os.environ["CAESAR_TASK_DIR"]) / "noted").open("a") as file:
            file.write(f"{text}\n")

    async def do_terminal(self, session: str, call: str, command: str, *args: str) -> None:
        """Have the client run a program, and say how it ended and what it printed."""
        try:
            made = await self.conn.create_terminal(
                session_id=session, command=command, args=list(args), output_byte_limit=60
            )
            name = made.terminal_id
            done = await self.conn.wait_for_terminal_exit(session_id=session, terminal_id=name)
            printed = await self.conn.terminal_output(session_id=session, terminal_id=name)
            await self.conn.release_terminal(session_id=session, terminal_id=name)
        except acp.RequestError as error:
            self.note(f"refused: {error}")
            return
        self.note(f"{done.exit_code} {done.signal} {printed.truncated} {printed.output.strip()}")

    async def do_leave(self, session: str, call: str, *command: str) -> None:
        """Have the client run a program, and leave it running."""
        await self.conn.create_terminal(
            session_id=session, command=command[0], args=list(command[1:])
        )

    async def do_kill(self, session: str, call: str) -> None:
        made = await self.conn.create_terminal(session_id=session, command="sleep", args=["60"])
        name = made.terminal_id
        await self.conn.kill_terminal(session_id=session, terminal_id=name)
        done = await self.conn.wait_for_terminal_exit(session_id=session, terminal_id=name)
        self.note(f"{done.exit_code} {done.signal}")

    async def do_elicit(self, session: str, call: str, message: str, fields: Any) -> None:
        mode = schema.ElicitationFormSessionMode(
            session_id=session,
            requested_schema=schema.ElicitationSchema(properties=fields),
        )
        answer = await self.conn.create_elicitation(message=message, mode=mode)
        self.note(f"{answer.action} {getattr(answer, 'content', None)}")

    async def do_hang(self, session: str, call: str) -> None:
        await asyncio.sleep(60)


if __name__ == "__main__":
    sys.stderr.write("the agent starts\n")
    asyncio.run(acp.run_agent(Agent()))  # type: ignore[arg-type]
