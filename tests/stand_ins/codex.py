"""A stand-in for codex: its command line, its settings, its requests and its stream.

It takes ``codex exec --json … -`` with the brief on stdin and talks to the provider of
``config.toml``; tools are a shell and a writer of files.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from tests.pytest_caesar.model import small_cli


def tell(kind: str, **fields: Any) -> None:
    """Print a line of the stream."""
    sys.stdout.write(json.dumps({"type": kind, **fields}) + "\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    """Work as codex does."""
    values = dict(itertools.pairwise(arguments))
    home = Path(os.environ.get("CODEX_HOME") or Path(os.environ["HOME"]) / ".codex")
    found = re.search(r'base_url = "(.*)/v1"', (home / "config.toml").read_text("utf-8"))
    assert found is not None
    tell("thread.started", thread_id="01a22f9c-b5ff-7ca0-887a-b585951952b7")
    tell("turn.started")
    numbers = iter(range(1000))

    def carry_out(name: str, given: dict[str, Any]) -> str:
        result = small_cli.run_tool(name, given, Path(values["-C"]))
        item: dict[str, Any] = {"id": f"item_{next(numbers)}"}
        if name == "bash":
            code = int(result.rpartition(" ")[2])
            status = "failed" if code else "completed"
            item |= {"type": "command_execution", "command": given["command"]}
            item |= {"aggregated_output": result, "exit_code": code, "status": status}
        else:
            path = str(Path(values["-C"]) / given["file_path"])
            item |= {"type": "file_change", "changes": [{"path": path, "kind": "add"}]}
            item["status"] = "completed"
        tell("item.completed", item=item)
        return result

    more: dict[str, Any] = {}
    if "--output-schema" in values:
        schema = json.loads(Path(values["--output-schema"]).read_text("utf-8"))
        more["text"] = {"format": {"type": "json_schema", "strict": True, "schema": schema}}
    try:
        last = small_cli.work(found[1], "responses", sys.stdin.read(), carry_out=carry_out, **more)
    except small_cli.Refused as refused:
        tell("turn.failed", error={"message": str(refused)})
        return 1
    tell("item.completed", item={"id": "last", "type": "agent_message", "text": last})
    tell("turn.completed", usage={"input_tokens": 100, "output_tokens": 10})
    Path(values["-o"]).write_text(last, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
