"""``events.jsonl``: written by several programs at once, read whatever they left.

Fields of events and bytes of logs come in; events and diagnostics go out. Uses documents, the task
directory, and ``processes`` for the moments in which no interruption may come.
"""
