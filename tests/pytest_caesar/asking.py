"""An agent that asks, in the shell, over the files of the contract."""

from __future__ import annotations

FILES_AGENT = """#!/bin/sh
cd "$CAESAR_TASK_DIR" && mkdir questions
printf '{"id": "q1", "question": "Keep it?"}' > questions/q1.json
for attempt in $(seq 2000); do
  [ -e answers/q1.json ] && break
  sleep 0.01
done
answer=$(sed -n 's/.*"answer": "\\(.*\\)",.*/\\1/p' answers/q1.json)
printf '{"protocol":"caesar.report/v1","status":"success","summary":"%s"}' "$answer" \\
  > "$CAESAR_REPORT_PATH"
"""
