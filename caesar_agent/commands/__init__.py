"""The subcommands of ``caesar-agent``, one module each.

A module of this package has ``add_parser(subparsers)``, which adds its parser
and sets ``run=`` on it, and ``run(args) -> int``, which returns the exit code.
What a command needs is imported inside ``run``, so that ``--help`` stays quick.
"""
