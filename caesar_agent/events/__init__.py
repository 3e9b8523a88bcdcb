"""``events.jsonl``: written by several programs at once, read whatever they left.

Events and bytes of logs come in, events go out. Uses documents and the task directory.
"""
