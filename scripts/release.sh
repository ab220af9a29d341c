#!/usr/bin/env bash
# The steps of a release that need no registry; .github/workflows/release.yml does the rest.
#
#   scripts/release.sh check TAG                        whether the tag is the version of everything that has one
#   scripts/release.sh chart IMAGE DIGEST FOLDER        packages the chart with the image by its digest, and prints the file
#   scripts/release.sh manifests IMAGE DIGEST FOLDER    the same with the plain manifests, the definitions and the list of images
#   scripts/release.sh compose IMAGE DIGEST FOLDER      the same with compose.yaml
#   scripts/release.sh package REPOSITORY FOLDER        packs the built program for npm, and prints the file
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

compose() { # image digest folder
  checked_image "$1" "$2"
  mkdir -p "$3"
  # Without the lines that build: whoever downloads the file has no checkout.
  sed -e '/^    build:/d' -e "s|^    image: punctual.*|    image: $1@$2|" compose.yaml >"$3/compose.yaml"
  grep -q "image: $1@$2" "$3/compose.yaml" || fail "compose.yaml names no image punctual"
}

# npm shows the provenance of a package only if it names the repository that the workflow runs in.
package() { # repository folder
  [[ "$1" =~ ^https://[^/]+/[^/]+/[^/]+$ ]] || fail "the repository $1 is no address such as https://github.com/acme/punctual"
  [[ -f dist/main.js ]] || fail "nothing is built: make build"
  local copy packed
  copy="$(mktemp -d)"
  # shellcheck disable=SC2064
  trap "rm -rf '$copy'" EXIT
  cp -R dist LICENSE README.md "$copy"
  sed "s|^  \"license\": |  \"repository\": \"git+$1.git\",\n&|" package.json >"$copy/package.json"
  mkdir -p "$2"
  # Its scripts would build again.
  packed="$(npm pack "$copy" --ignore-scripts --silent --pack-destination "$2")"
  # The chart has the same name.
  mv "$2/$packed" "$2/npm-$packed"
  echo "$2/npm-$packed"
}

notes() {
  awk -v head="^## \\[?$(version)\\]?" '$0 ~ head { on = 1; next } /^## / { on = 0 } on' CHANGELOG.md
}

case "${1:-} $#" in
  "check 2" | "chart 4" | "manifests 4" | "compose 4" | "package 3" | "notes 1") "$@" ;;
  *) fail "usage: scripts/release.sh check TAG | chart IMAGE DIGEST FOLDER | manifests IMAGE DIGEST FOLDER | compose IMAGE DIGEST FOLDER | package REPOSITORY FOLDER | notes" ;;
esac
