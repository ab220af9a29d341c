#!/usr/bin/env bash
# Makes sure that redis-server or valkey-server is on PATH, from the system's packages when it is not.
set -euo pipefail

present() { command -v redis-server >/dev/null || command -v valkey-server >/dev/null; }

present && exit 0

as_root() {
  if [[ "$(id -u)" == 0 ]]; then "$@"; else sudo -n "$@"; fi
}

if command -v apt-get >/dev/null && { [[ "$(id -u)" == 0 ]] || sudo -n true 2>/dev/null; }; then
  echo "Installing redis-server from the system's packages …"
  { as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends redis-server; } >/dev/null || true
elif command -v brew >/dev/null; then
  echo "Installing redis with Homebrew …"
  brew install --quiet redis || true
fi

hash -r
present && exit 0
echo "punctual: redis-server (7.0 or newer) or valkey-server (7.2 or newer) is needed on PATH; on Debian and Ubuntu: sudo apt-get install redis-server, on macOS: brew install redis" >&2
exit 1
