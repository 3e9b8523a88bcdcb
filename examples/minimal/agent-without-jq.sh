#!/usr/bin/env bash
# The same without jq. A JSON string may be copied from one document to another as it
# stands, so that nothing has to be unescaped or escaped; and inside a string every quote
# has a backslash before it, so that "objective": cannot be anything but the key.
set -euo pipefail
export LC_ALL=C

field() {
  grep -oE "\"$1\"[[:space:]]*:[[:space:]]*\"([^\"\\\\]|\\\\.)*\"" "$CAESAR_TASK_FILE" |
    sed -E '1!d; s/^"[a-z_]+"[[:space:]]*:[[:space:]]*"//; s/"$//'
}

objective=$(field objective)

# … do the work …
if [ "$(field mode)" = write ]; then ls >INDEX.txt; fi

# Written beside and renamed, so that no reader ever sees half a report.
printf '{"protocol": "caesar.report/v1", "status": "success", "summary": "Handled: %s"}\n' \
  "$objective" >"$CAESAR_REPORT_PATH.new"
mv -f "$CAESAR_REPORT_PATH.new" "$CAESAR_REPORT_PATH"
