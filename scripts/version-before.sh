#!/usr/bin/env bash
# Prints the folder of the version before this checkout, from the history of git, with its packages: what a rolling
# upgrade has running beside this one. Made once in a checkout.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

REVISION="$(<test/e2e/support/release-before)"
FOLDER="$PWD/.punctual/versions/$REVISION"

fail() {
  echo "punctual: $1" >&2
  exit 1
}

# Where it has other packages, they are installed.
bring_packages() { # folder
  if cmp --silent package-lock.json "$1/package-lock.json"; then
    ln -s "$PWD/node_modules" "$1/node_modules"
    touch --reference=node_modules/.punctual-installed "$1/package-lock.json"
  else
    "$1/scripts/install.sh" >&2
  fi
}

if [[ ! -d "$FOLDER" ]]; then
  git cat-file -e "$REVISION^{commit}" 2>/dev/null ||
    fail "the version before, $REVISION, is not in the history: git fetch --unshallow --tags"
  mkdir -p "${FOLDER%/*}"
  made="$(mktemp -d "$FOLDER.XXXXXX")"
  trap 'rm -rf "$made"' EXIT
  git archive "$REVISION" | tar --extract --directory "$made"
  bring_packages "$made"
  # Another process may have been faster.
  mv --no-target-directory "$made" "$FOLDER" 2>/dev/null || [[ -d "$FOLDER" ]] || fail "$FOLDER cannot be made"
fi
echo "$FOLDER"
