#!/usr/bin/env bash
# Makes sure of prometheus and promtool for testing the chart's alerts and dashboards and prints the folder that has both:
# where PATH finds them, or else built by Go, without its pages and its ways to find targets. Where they cannot be had,
# the last line on standard error says why.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/tools/built.sh"

found="$(command -v prometheus || true)"
if [[ -n "$found" ]] && command -v promtool >/dev/null; then
  dirname "$found"
  exit 0
fi

commands=github.com/prometheus/prometheus/cmd
built prometheus 'five minutes' -tags remove_all_sd -ldflags '-s -w' "$commands/promtool" "$commands/prometheus"
