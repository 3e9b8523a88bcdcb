"""What others add by the hooks of ``pytest_caesar.hooks``: called, checked and taken up.

Plugins of pytest and entry points come in; dialects, known CLIs, schemes of names, gates, and
functions that a delegation calls go out. May use everything that can be added to; what a hook
returns is checked here and nowhere else.
"""
