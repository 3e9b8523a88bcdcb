"""Teaches pytest-caesar the CLI ``acme``: how it is called, what it prints, what it must do."""

from pytest_caesar.hooks import hookimpl


@hookimpl
def pytest_caesar_catalogue():
    from pytest_caesar.agents.known_cli import KnownCli

    return [
        KnownCli(
            id="acme",
            display_name="Acme Agent",
            program="acme",
            args=("work", "--json"),
            read_only_args=("--plan",),
            model_args=("--model", "{{model}}"),
            prompt_args=("--", "{{prompt}}"),
            dialect="acme",
            logins=("ACME_API_KEY",),
        )
    ]


@hookimpl
def pytest_caesar_dialects():
    from pytest_caesar.recovery.streams import base

    class Acme(base.LineReader):
        name = "acme"
        program = "acme"
        verified = "acme 1.0"

        @staticmethod
        def recognises(line):
            return line.get("from") == "acme"

        def read(self, line, start, end):
            kind = base.text(line, "kind")
            if kind == "say":
                return self.say(base.text(line, "text"), start, end)
            if kind == "run":
                command, code = base.text(line, "command"), line.get("code")
                call = base.text(line, "id")
                self.calls.start(call, "shell", {"command": command}, command=command)
                self.calls.end(call, succeeded=code == 0, exit_code=code)
                return [
                    base.tool_use("shell", call, command, "started"),
                    base.tool_use("shell", call, command, "succeeded" if code == 0 else "failed"),
                ]
            if kind == "bye":
                self.ended = True
                self.meter.add(
                    turns=1, input_tokens=line.get("read"), output_tokens=line.get("written")
                )
                return [base.finished("success")]
            raise base.StrangeLineError(f"unknown kind {kind!r}")

    return [Acme]


@hookimpl
def pytest_caesar_run_finished(run):
    from caesar_agent.diagnostics import Diagnostic

    changed = {change.path for change in run.changes}
    if run.task.agent == "acme" and changed and "CHANGELOG.md" not in changed:
        text = "the work is not in CHANGELOG.md, where users look for it"
        return [Diagnostic(code="acme/no-changelog", message=text, path="CHANGELOG.md")]
    return None
