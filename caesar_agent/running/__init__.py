"""From the environment to an exit code: ``run(main)`` and what it needs.

The variables of the contract come in, a report and an exit code go out. Uses documents, events,
mailbox and processes; nothing of the harness.
"""
