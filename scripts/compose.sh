#!/usr/bin/env bash
# Makes sure of docker compose for running compose.yaml and prints the words that run it: where Docker has it, or else
# built by Go. Where it cannot be had, the last line on standard error says why.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/tools/built.sh"

docker compose version >/dev/null 2>&1 && { echo docker compose; exit 0; }

version="$(awk '$1 == "github.com/docker/compose/v2" { print $2 }' "$TOOLS/compose/go.mod")"
folder="$(built compose 'four minutes' -ldflags "-s -w -X github.com/docker/compose/v2/internal.Version=$version" github.com/docker/compose/v2/cmd)"
# Go names it after its folder.
echo "$folder/cmd"
