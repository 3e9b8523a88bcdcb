"""The conformance kit: what of the contract an agent honours, and what it breaks.

What comes in: the requirements and their checks, the scenarios that they look at, the result of a
session, and what serves a user's own tests (hostile surroundings, mutated runs). It may use every
room below it, the session too; only the plugin and the commands may use it.
"""
