"""The SDK for agents that speak OACP. ``PYTEST_DONT_REWRITE``."""
