#!/usr/bin/env bash
# Makes sure of prometheus and promtool for testing the chart's alerts and dashboards and prints the folder that has both:
# where PATH finds them, or a cached one, or else built by Go from the modules pinned in scripts/tools/prometheus, without
# its pages and its ways to find targets. Progress goes to standard error; where they cannot be had, the last line there
# says why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/tools/prometheus"

found="$(command -v prometheus || true)"
if [[ -n "$found" ]] && command -v promtool >/dev/null; then
  dirname "$found"
  exit 0
fi

go="$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null || true)"
pins="$(cat go.mod go.sum | cksum | tr ' ' -)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/punctual/prometheus"
built="$cache/$pins-${go:-without-go}"
[[ -x "$built/prometheus" ]] && echo "$built" && exit 0

if [[ -z "$go" ]]; then
  echo "punctual: prometheus and promtool are not on PATH, and there is no Go 1.26 to build them with: https://prometheus.io/download/" >&2
  exit 1
fi
echo "prometheus is not on PATH. Building it with $go, once, for five minutes on two cores …" >&2
mkdir -p "$cache"
# A folder under its final name is whole: it is filled under another one, whoever is killed or works beside.
unfinished="$(mktemp -d "$cache/unfinished-XXXXXX")"
trap 'rm -rf "$unfinished"' EXIT
for command in promtool prometheus; do
  CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOWORK=off nice go build -trimpath -tags remove_all_sd \
    -o "$unfinished/$command" -ldflags '-s -w' "github.com/prometheus/prometheus/cmd/$command" >&2 || {
    echo "punctual: prometheus is not on PATH and cannot be built by $go" >&2
    exit 1
  }
done
[[ -x "$built/prometheus" ]] || mv "$unfinished" "$built"
echo "$built"
