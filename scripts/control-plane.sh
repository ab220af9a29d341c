#!/usr/bin/env bash
# Makes sure of etcd, kube-apiserver and kube-controller-manager for test/cluster and prints the folder that has them:
# the one KUBEBUILDER_ASSETS names, or a cached one, or else downloaded, or else built by Go from the modules pinned in
# test/cluster/tools. Progress goes to standard error; where nothing can be had, its last line there says why.
set -euo pipefail
cd "$(dirname "$0")/../test/cluster/tools"

# What controller-tools released of this minor version, for linux-amd64: etcd and kube-apiserver.
ENVTEST=envtest-v1.35.0
ENVTEST_SHA512=130369c16f076e724d089189afaede960316f5f5dea6cf57be7a4fc6f09c77342893192509790e4056e116e232dff832ed863f5bd55dcb55d38f3ab834828a11
CONNECT_SECONDS=5
DOWNLOAD_SECONDS=120

COMMANDS=(etcd kube-apiserver kube-controller-manager)
KUBERNETES="$(awk '$2 == "k8s.io/kubernetes" { print $3 }' kubernetes/go.mod)"
CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/punctual/control-plane"

complete() {
  local command
  for command in "${COMMANDS[@]}"; do [[ -x "$1/$command" ]] || return 1; done
}

fetch() {
  curl --fail --silent --location --connect-timeout "$CONNECT_SECONDS" --max-time "$DOWNLOAD_SECONDS" --output "$1" "$2"
}

download() { # folder
  local release="https://dl.k8s.io/$KUBERNETES/bin/linux/amd64/kube-controller-manager"
  [[ "$(uname -sm)" == "Linux x86_64" ]] && command -v curl >/dev/null || return 1
  cd "$1"
  fetch archive "https://github.com/kubernetes-sigs/controller-tools/releases/download/$ENVTEST/$ENVTEST-linux-amd64.tar.gz" || return 1
  sha512sum --check --status <<<"$ENVTEST_SHA512  archive" || return 1
  fetch kube-controller-manager "$release" && fetch digest "$release.sha256" || return 1
  sha256sum --check --status <<<"$(<digest)  kube-controller-manager" || return 1
  tar -xzf archive --strip-components=2 controller-tools/envtest/etcd controller-tools/envtest/kube-apiserver || return 1
  chmod 755 "${COMMANDS[@]}" && rm archive digest
}

build() { # folder
  local minor="${KUBERNETES#v1.}" flags="-s -w" package
  # Without these /version answers v0.0.0, which clients and admission take at its word.
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    flags+=" -X $package.gitVersion=$KUBERNETES -X $package.gitMajor=1 -X $package.gitMinor=${minor%%.*} -X $package.gitTreeState=clean"
  done
  export CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOWORK=off
  nice go -C etcd build -trimpath -ldflags "-s -w" -o "$1/etcd" go.etcd.io/etcd/server/v3 &&
    nice go -C kubernetes build -trimpath -ldflags "$flags" -o "$1/" k8s.io/kubernetes/cmd/{kube-apiserver,kube-controller-manager}
}

# A folder under its final name is whole: it is filled under another one, whoever is killed or works beside.
keep() { # how, folder
  mkdir -p "$CACHE"
  unfinished="$(mktemp -d "$CACHE/unfinished-XXXXXX")"
  trap 'rm -rf "$unfinished"' EXIT
  ("$1" "$unfinished") >&2 || return 1
  complete "$2" || mv "$unfinished" "$2"
}

if [[ -n "${KUBEBUILDER_ASSETS:-}" ]]; then
  complete "$KUBEBUILDER_ASSETS" && echo "$KUBEBUILDER_ASSETS" && exit 0
  echo "punctual: KUBEBUILDER_ASSETS is $KUBEBUILDER_ASSETS, which lacks one of ${COMMANDS[*]}" >&2
  exit 1
fi

downloaded="$CACHE/$ENVTEST-$KUBERNETES"
pins="$(cat ./*/go.mod ./*/go.sum | cksum | tr ' ' -)"
go="$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null || true)"
built="$CACHE/built-$pins-${go:-without-go}"
for folder in "$downloaded" "$built"; do
  ! complete "$folder" || { echo "$folder"; exit 0; }
done

echo "Downloading etcd, kube-apiserver and kube-controller-manager …" >&2
keep download "$downloaded" && { echo "$downloaded"; exit 0; }
if [[ -n "$go" ]]; then
  echo "They cannot be downloaded. Building them with $go, once, for four minutes on two cores …" >&2
  keep build "$built" && { echo "$built"; exit 0; }
  echo "punctual: the control plane for tests can neither be downloaded nor be built by $go" >&2
else
  echo "punctual: the control plane for tests cannot be downloaded here, and there is no Go 1.26 to build it with" >&2
fi
exit 1
