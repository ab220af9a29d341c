#!/usr/bin/env bash
# Lints .github/workflows with actionlint: a cached one, or else built by Go from the module pinned in
# scripts/tools/actionlint. Where there is no Go to build it with, it says so and passes, but in CI that is a failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tool=scripts/tools/actionlint
go="$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null || true)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/punctual/actionlint"
built="$cache/$(cat "$tool/go.mod" "$tool/go.sum" | cksum | tr ' ' -)-${go:-without-go}"

if [[ ! -x "$built/actionlint" ]]; then
  if [[ -z "$go" ]]; then
    echo "punctual: the workflows are not linted, as there is no Go 1.26 to build actionlint with" >&2
    [[ -z "${CI:-}" ]] && exit 0
    exit 1
  fi
  echo "Building actionlint with $go, once …" >&2
  mkdir -p "$cache"
  # As in helm.sh: a folder under its final name is whole.
  unfinished="$(mktemp -d "$cache/unfinished-XXXXXX")"
  trap 'rm -rf "$unfinished"' EXIT
  (cd "$tool" && CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOWORK=off nice go build -trimpath -o "$unfinished/actionlint" \
    github.com/rhysd/actionlint/cmd/actionlint) >&2 || {
    echo "punctual: the workflows are not linted, as $go cannot build actionlint" >&2
    [[ -z "${CI:-}" ]] && exit 0
    exit 1
  }
  [[ -x "$built/actionlint" ]] || mv "$unfinished" "$built"
fi
# What else is on PATH must not decide: neither shellcheck nor pyflakes.
exec "$built/actionlint" -shellcheck= -pyflakes= "$@"
