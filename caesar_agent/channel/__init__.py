"""The return channel: an MCP server on stdio, over the files of one task directory.

Requests of an agent's client come in, files of the mailbox and a submission go out. Uses
documents, events and mailbox. ``boot`` is also started as a program, and imports nothing before
stdout is protected.
"""
