"""An agent that breaks the protocol: it prints what its environment says, in place of answers."""

import json
import os
import sys
import time

ANSWERS = {
    "initialize": {"protocolVersion": 1},
    "session/new": {"sessionId": "s"},
    "session/prompt": {"stopReason": "end_turn"},
}
how = json.loads(sys.argv[1])
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method", "an answer")
    for word in how.get(method, ["OK"]):
        text = word
        if word == "OK":
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": ANSWERS[method]}
            text = json.dumps(answer)
        elif word == "HANG":
            time.sleep(60)
        elif word == "DIE":
            os._exit(7)
        elif word == "FLOOD":
            for _ in range(300):
                os.write(1, b'{"jsonrpc":"2.0","method":"session/update","params":1}\n' * 400)
            continue
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
