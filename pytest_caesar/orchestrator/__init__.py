"""The fake orchestrator: ``delegate()``, from what was asked for to a ``Run``.

A request and an agent come in, a run goes out. Uses every room below it: agents, workspace,
supervision, recovery, runs, answers, gates, programs, va; nothing of pytest.
"""
