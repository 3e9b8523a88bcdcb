"""The fake orchestrator and pytest plugin for agents that speak OACP. ``PYTEST_DONT_REWRITE``."""
