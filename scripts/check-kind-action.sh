#!/usr/bin/env bash
# Checks what kind-action/up.sh brought up: a job of tomorrow and a cron of next year call this machine as soon as the
# test clock is moved. Takes PUNCTUAL_SERVER, PUNCTUAL_TOKEN and TARGET_HOST as up.sh says them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PORT=18090
WAIT_SECONDS=60
target="http://$TARGET_HOST:$PORT"
calls="$(mktemp)"

api() { # path, body
  curl --silent --show-error --fail-with-body --max-time 30 "$PUNCTUAL_SERVER$1" \
    --header "Authorization: Bearer $PUNCTUAL_TOKEN" --header 'Content-Type: application/json' --data "$2"
}

field() { # name; of the JSON on standard input
  node -e 'process.stdin.toArray().then((chunks) => console.log(JSON.parse(Buffer.concat(chunks))[process.argv[1]]))' "$1"
}

wait_for_call() { # path
  local until=$((SECONDS + WAIT_SECONDS))
  until grep -qF "POST $1" "$calls"; do
    ((SECONDS < until)) || {
      echo "punctual: no call of $1 within $WAIT_SECONDS s" >&2
      cat "$calls" >&2
      exit 1
    }
    sleep 0.2
  done
  echo "called: $1"
}

bin/punctual listen --host 0.0.0.0 --port "$PORT" >"$calls" &
listener=$!
trap 'kill "$listener"; rm -f "$calls"' EXIT

api /api/jobs "{\"queue\": \"check\", \"url\": \"$target/job\", \"delay\": 86400}" >/dev/null
cron="{\"name\": \"check\", \"url\": \"$target/cron\", \"method\": \"POST\", \"cron_expression\": \"0 9 1 1 *\"}"
next="$(api /api/crons "$cron" | field next_run_at)"
api /api/test/clock '{"advance_seconds": 86400}'
wait_for_call /job
api /api/test/clock "{\"advance_to\": \"$next\"}"
wait_for_call /cron
