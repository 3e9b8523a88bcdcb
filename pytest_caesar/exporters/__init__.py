"""Formats of others for the results of a session, each a plugin of ``pytest_caesar_export``.

The JSON document of a session comes in, files or spans go out. May use nothing of the harness
but that document and the names of files: what these can do, a plugin of somebody else's can.
"""
