#!/usr/bin/env bash
# Makes sure of helm for rendering and testing the chart and prints the folder that has it: where PATH finds it, or else
# built by Go. Where it cannot be had, the last line on standard error says why.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/tools/built.sh"

found="$(command -v helm || true)"
[[ -z "$found" ]] || { dirname "$found"; exit 0; }

version="$(awk '$1 == "helm.sh/helm/v4" { print $2 }' "$TOOLS/helm/go.mod")"
built helm 'two minutes' -ldflags "-s -w -X helm.sh/helm/v4/internal/version.version=$version" helm.sh/helm/v4/cmd/helm
