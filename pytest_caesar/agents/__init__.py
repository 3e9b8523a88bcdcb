"""Who can be run: configuration, known CLIs, agent definitions, and the selection among them.

A text or a table of a configuration comes in; an agent, its command line and its files go out.
Uses ``files``; nothing is started here.
"""
