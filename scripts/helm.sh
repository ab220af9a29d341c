#!/usr/bin/env bash
# Makes sure of helm for rendering and testing the chart and prints the folder that has it: where PATH finds it, or a
# cached one, or else built by Go from the module pinned in scripts/tools/helm. Progress goes to standard error; where
# it cannot be had, the last line there says why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/tools/helm"

found="$(command -v helm || true)"
[[ -z "$found" ]] || { dirname "$found"; exit 0; }

go="$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null || true)"
pins="$(cat go.mod go.sum | cksum | tr ' ' -)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/punctual/helm"
built="$cache/$pins-${go:-without-go}"
[[ -x "$built/helm" ]] && echo "$built" && exit 0

if [[ -z "$go" ]]; then
  echo "punctual: helm is not on PATH, and there is no Go 1.26 to build it with: https://helm.sh/docs/intro/install/" >&2
  exit 1
fi
echo "helm is not on PATH. Building it with $go, once, for two minutes on two cores …" >&2
version="$(awk '$1 == "helm.sh/helm/v4" { print $2 }' go.mod)"
mkdir -p "$cache"
# A folder under its final name is whole: it is filled under another one, whoever is killed or works beside.
unfinished="$(mktemp -d "$cache/unfinished-XXXXXX")"
trap 'rm -rf "$unfinished"' EXIT
CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOWORK=off nice go build -trimpath -o "$unfinished/helm" \
  -ldflags "-s -w -X helm.sh/helm/v4/internal/version.version=$version" helm.sh/helm/v4/cmd/helm >&2 || {
  echo "punctual: helm is not on PATH and cannot be built by $go" >&2
  exit 1
}
[[ -x "$built/helm" ]] || mv "$unfinished" "$built"
echo "$built"
