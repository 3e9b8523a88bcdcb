"""Processes from their start to their confirmed end.

A command, an environment and a deadline come in, an outcome goes out. Uses files, agents for
credentials and for the reasons why a program is not there, and nothing of runs.
"""
