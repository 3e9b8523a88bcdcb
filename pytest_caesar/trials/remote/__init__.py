"""Trials on other machines: what goes out, what is done there, what comes back.

Any ``concurrent.futures.Executor`` carries it; what is known of one kind of executor stands in a
module of its own. It uses the orchestrator and the workspace; the session hands it an executor.
"""
