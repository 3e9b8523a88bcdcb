"""Scripted answers, and attending to the questions of one task while its agent runs.

A script and a mailbox come in, answers and findings go out. Uses the SDK's mailbox and events,
and supervision for its clock and its cancelling.
"""
