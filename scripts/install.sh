#!/usr/bin/env bash
# Installs the npm packages of package-lock.json, Node 26 among them. Runs on the machine's own Node: the one in
# node_modules is removed and put back while this runs.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "punctual: $1" >&2
  exit 1
}

clean_path=""
IFS=: read -ra entries <<<"$PATH"
for entry in "${entries[@]}"; do
  [[ "$entry" == "$PWD/node_modules/.bin" || "$entry" == "node_modules/.bin" ]] || clean_path+="${clean_path:+:}$entry"
done
export PATH="$clean_path"

command -v node >/dev/null || fail "Node 20 or newer is needed to install the packages: https://nodejs.org/"
command -v npm >/dev/null || fail "npm is needed to install the packages; it comes with Node: https://nodejs.org/"
major="$(node -p 'process.versions.node.split(".")[0]')"
((major >= 20)) || fail "Node 20 or newer is needed to install the packages, this is $(node -v)."

# npm ci empties what the link leads to, which is another checkout's.
[[ ! -L node_modules ]] || fail "node_modules is a link to $(readlink node_modules); remove the link and run make again."

echo "Installing npm packages (Node 26 among them) …"
# No package runs a script of its own here but this one, which brings Node 26.
npm ci --ignore-scripts --no-progress --loglevel=error
npm rebuild node --no-progress --loglevel=error
node_modules/.bin/node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 26 ? 0 : 1)' 2>/dev/null ||
  fail "the npm package 'node' brought no Node 26; allow its install script (npm config ignore-scripts must be false) and run make again."
touch node_modules/.punctual-installed
