"""What git knows: worktrees, the tree before and after, patches, reconciliation.

A repository and a request come in; a workspace, an observation and a patch go out. The one room
that starts git. Uses ``files``, never an agent or a report's recovery.
"""
