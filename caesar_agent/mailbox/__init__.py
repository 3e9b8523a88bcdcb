"""What an agent and its orchestrator exchange as files: questions, answers, the report handed in.

Files of the task directory come in, and are hostile until ``values`` has read them; checked values
go out. Uses documents, events and the task directory.
"""
