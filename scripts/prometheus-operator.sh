#!/usr/bin/env bash
# Prints the folder with the Prometheus Operator's definitions of its kinds, which the chart's monitors must fit: from the
# module pinned in scripts/tools/prometheus-operator, which Go downloads once and checks. Where they cannot be had, the last
# line on standard error says why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/tools/prometheus-operator"

module=github.com/prometheus-operator/prometheus-operator
if ! command -v go >/dev/null; then
  echo "punctual: there is no Go 1.26 to download the definitions of the Prometheus Operator with" >&2
  exit 1
fi
export GOFLAGS=-mod=readonly GOWORK=off GOTOOLCHAIN=local
go mod download "$module" >&2 || {
  echo "punctual: the definitions of the Prometheus Operator cannot be downloaded" >&2
  exit 1
}
echo "$(go list -m -f '{{.Dir}}' "$module")/example/prometheus-operator-crd"
