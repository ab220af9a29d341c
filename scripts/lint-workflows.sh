#!/usr/bin/env bash
# Lints .github/workflows with actionlint, built by Go. Where it cannot be had, this says so and passes, but in CI that is
# a failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/tools/built.sh

folder="$(built actionlint 'half a minute' github.com/rhysd/actionlint/cmd/actionlint)" || {
  echo "punctual: the workflows are not linted" >&2
  [[ -z "${CI:-}" ]] && exit 0
  exit 1
}
# What else is on PATH must not decide: neither shellcheck nor pyflakes.
exec "$folder/actionlint" -shellcheck= -pyflakes= "$@"
