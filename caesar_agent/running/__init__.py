"""From the environment to an exit code: ``run(main)`` and what it needs.

The variables of the contract come in; the report and an exit code go out, also where ``main``
fails or is stopped. Above ``Agent``: it uses all rooms below that, and nothing of the harness.
"""
