"""The commands of ``pytest-caesar``, one module each.

Arguments come in, lines and an exit code go out. Uses every room but the session and the plugin.
"""
