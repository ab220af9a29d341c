# To be sourced: `built TOOL TIME [arguments of go build…]` prints the folder that has a tool which Go has built from the
# modules pinned in scripts/tools/TOOL: a cached one, or one that is built now, which takes about TIME. Progress goes to
# standard error. It fails where there is no Go, or Go cannot build it; the last line on standard error says which.

TOOLS="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

built() (
  tool="$1" time="$2"
  shift 2
  cd "$TOOLS/$tool"
  go="$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null || true)"
  cache="${XDG_CACHE_HOME:-$HOME/.cache}/punctual/$tool"
  folder="$cache/$(cat go.mod go.sum | cksum | tr ' ' -)-${go:-without-go}"
  [[ -d "$folder" ]] && echo "$folder" && exit 0

  if [[ -z "$go" ]]; then
    echo "punctual: $tool is not on PATH, and there is no Go 1.26 to build it with" >&2
    exit 1
  fi
  echo "$tool is not on PATH. Building it with $go, once, for $time on two cores …" >&2
  mkdir -p "$cache"
  # A folder under its final name is whole: it is filled under another one, whoever is killed or works beside.
  unfinished="$(mktemp -d "$cache/unfinished-XXXXXX")"
  trap 'rm -rf "$unfinished"' EXIT
  CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOWORK=off nice go build -trimpath -o "$unfinished/" "$@" >&2 || {
    echo "punctual: $tool is not on PATH, and $go cannot build it" >&2
    exit 1
  }
  [[ -d "$folder" ]] || mv "$unfinished" "$folder"
  echo "$folder"
)
