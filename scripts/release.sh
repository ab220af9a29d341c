#!/usr/bin/env bash
# The steps of a release that need no registry; .github/workflows/release.yml does the rest.
#
#   scripts/release.sh check TAG                        whether the tag is the version of everything that has one
#   scripts/release.sh chart IMAGE DIGEST FOLDER        packages the chart with the image by its digest, and prints the file
#   scripts/release.sh manifests IMAGE DIGEST FOLDER    the same with the plain manifests, the definitions and the list of images
#   scripts/release.sh notes                            what the changelog says of this version
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  echo "punctual: $1" >&2
  exit 1
}

version() { sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json; }
of_chart() { sed -n "s/^$1: *//p" charts/punctual/Chart.yaml; }

check() { # tag
  local version
  version="$(version)"
  [[ "$1" == "v$version" ]] || fail "the tag $1 is not v$version, the version of package.json"
  [[ "$(of_chart version)" == "$version" ]] || fail "the version of the chart is $(of_chart version), not $version"
  [[ "$(of_chart appVersion)" == "$version" ]] || fail "the appVersion of the chart is $(of_chart appVersion), not $version"
  grep -q "^## \[\?$version\]\?\b" CHANGELOG.md || fail "CHANGELOG.md has no section of $version"
}

# Chart and manifests name the image that was signed, whatever its tag will mean later.
checked_image() { # image digest
  [[ "$1" =~ ^[a-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)+$ ]] || fail "the image $1 is no repository such as ghcr.io/acme/punctual"
  [[ "$2" =~ ^sha256:[0-9a-f]{64}$ ]] || fail "the digest $2 is none, such as sha256: and 64 hex digits"
}

chart() { # image digest folder
  checked_image "$1" "$2"
  local copy
  copy="$(mktemp -d)"
  # shellcheck disable=SC2064
  trap "rm -rf '$copy'" EXIT
  cp -R charts/punctual "$copy/punctual"
  # The first repository and digest of the file are those of `image`.
  sed -i -e "0,/^  repository: .*/s||  repository: $1|" -e "0,/^  digest: .*/s||  digest: $2|" "$copy/punctual/values.yaml"
  mkdir -p "$3"
  PATH="$(scripts/helm.sh):$PATH" helm package "$copy/punctual" --destination "$3" >/dev/null
  echo "$3/punctual-$(version).tgz"
}

manifests() { # image digest folder
  checked_image "$1" "$2"
  mkdir -p "$3"
  sed "s|image: *\"\{0,1\}punctual:[^\" ]*\"\{0,1\}|image: \"$1@$2\"|" config/install.yaml >"$3/install.yaml"
  grep -q "image: \"$1@$2\"" "$3/install.yaml" || fail "config/install.yaml names no image punctual:<tag>"
  cp config/crd/manifests.yaml "$3/crds.yaml"
  # For a mirror: all that an installation pulls.
  sed -n 's/^ *image: *"\{0,1\}\([^" ]*\)"\{0,1\} *$/\1/p' "$3/install.yaml" | sort -u >"$3/images.txt"
}

notes() {
  awk -v head="^## \\[?$(version)\\]?" '$0 ~ head { on = 1; next } /^## / { on = 0 } on' CHANGELOG.md
}

case "${1:-} $#" in
  "check 2" | "chart 4" | "manifests 4" | "notes 1") "$@" ;;
  *) fail "usage: scripts/release.sh check TAG | chart IMAGE DIGEST FOLDER | manifests IMAGE DIGEST FOLDER | notes" ;;
esac
