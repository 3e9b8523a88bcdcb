#!/usr/bin/env bash
objective=$(jq -r .objective "$CAESAR_TASK_FILE")

# … do the work …
[ "$(jq -r .mode "$CAESAR_TASK_FILE")" = write ] && ls >INDEX.txt

jq -n --arg s "Handled: $objective" '{
  protocol: "caesar.report/v1",
  status: "success",
  summary: $s
}' >"$CAESAR_REPORT_PATH"
