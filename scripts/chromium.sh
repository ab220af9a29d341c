#!/usr/bin/env bash
# Makes sure of a Chromium for test/dashboard and prints its path: Chromium or Chrome on PATH, or else Debian's package.
# Progress goes to standard error; where it cannot be had, the last line there says why.
set -euo pipefail

# Ubuntu's /usr/bin/chromium-browser is a script that only says where the snap is, so it has to answer with a version.
found() {
  local name path
  for name in chromium chromium-browser google-chrome-stable google-chrome; do
    path="$(command -v "$name")" || continue
    "$path" --version >/dev/null 2>&1 || continue
    echo "$path"
    return 0
  done
  return 1
}

found && exit 0

as_root() {
  if [[ "$(id -u)" == 0 ]]; then "$@"; else sudo -n "$@"; fi
}

if command -v apt-get >/dev/null && { [[ "$(id -u)" == 0 ]] || sudo -n true 2>/dev/null; }; then
  echo "Installing chromium from the system's packages …" >&2
  export DEBIAN_FRONTEND=noninteractive
  { as_root apt-get update -qq && as_root apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; } >&2 || true
fi

hash -r
found && exit 0
echo "punctual: Chromium or Chrome is needed on PATH; on Debian: sudo apt-get install chromium" >&2
exit 1
