#!/usr/bin/env bash
# Brings Punctual with a test clock up in a kind cluster, waits until the API answers, and says where it is: as outputs of
# a step on GitHub, elsewhere as lines to evaluate. By hand:
#
#   IMAGE=punctual:0.1.0 kind-action/up.sh >punctual.env && source punctual.env
#
#   IMAGE             the image to run; one that Docker already has is not pulled
#   CLUSTER           the kind cluster (punctual); it is made if there is none of this name
#   KIND_NODE_IMAGE   the node image of a cluster that is made; else kind's own choice
#   NAMESPACE         of the release (punctual-system)
#   PORT              of this machine, which leads to the API (8080)
#   VALUES            a file with further values for the chart
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
chart="$here/../charts/punctual"

CLUSTER="${CLUSTER:-punctual}"
NAMESPACE="${NAMESPACE:-punctual-system}"
PORT="${PORT:-8080}"
VALUES="${VALUES:-}"
ACTION_REPOSITORY="${ACTION_REPOSITORY:-}"
READY_SECONDS=180
ANSWER_SECONDS=60
url="http://127.0.0.1:$PORT"

say() { echo "$1" >&2; }
fail() {
  say "punctual: $1"
  exit 1
}

check() {
  local tool
  for tool in docker kind kubectl helm curl; do
    command -v "$tool" >/dev/null || fail "$tool is not on PATH"
  done
  docker info >/dev/null 2>&1 || fail "docker does not answer"
  [[ "$PORT" =~ ^[0-9]{1,5}$ ]] || fail "the port $PORT is no number"
  [[ -z "$VALUES" || -f "$VALUES" ]] || fail "there is no file $VALUES"
  # Something else there would be taken for the API.
  ! curl --silent --output /dev/null --max-time 5 "$url" || fail "something listens on port $PORT already"
}

# The repository of the action is that of the release, whose images are beside it.
default_image() {
  local owner version
  owner="$(tr '[:upper:]' '[:lower:]' <<<"${ACTION_REPOSITORY%%/*}")"
  [[ -n "$owner" ]] || fail "no image is named (IMAGE)"
  version="$(sed -n 's/^appVersion: *"\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' "$chart/Chart.yaml")"
  echo "ghcr.io/$owner/punctual:$version"
}

ensure_cluster() {
  if kind get clusters 2>/dev/null | grep -qxF "$CLUSTER"; then
    kind export kubeconfig --name "$CLUSTER" --kubeconfig "$kubeconfig" >&2
  else
    kind create cluster --name "$CLUSTER" --kubeconfig "$kubeconfig" --wait "${READY_SECONDS}s" \
      ${KIND_NODE_IMAGE:+--image "$KIND_NODE_IMAGE"} >&2
    # Names are resolved some seconds after the node is ready.
    kube --namespace kube-system rollout status deployment/coredns --timeout "${READY_SECONDS}s" >&2
  fi
}

kube() { kubectl --kubeconfig "$kubeconfig" "$@"; }

load_image() {
  docker image inspect "$IMAGE" >/dev/null 2>&1 || docker pull --quiet "$IMAGE" >&2 || fail "there is no image $IMAGE"
  kind load docker-image "$IMAGE" --name "$CLUSTER" >&2
}

install_chart() {
  local release=(punctual "$chart" --namespace "$NAMESPACE" --create-namespace --kubeconfig "$kubeconfig")
  release+=(--values "$here/values.yaml" --set-string "image.repository=${IMAGE%:*}" --set-string "image.tag=${IMAGE##*:}")
  [[ -z "$VALUES" ]] || release+=(--values "$VALUES")
  helm upgrade --install "${release[@]}" --wait --timeout "${READY_SECONDS}s" >&2 || {
    kube --namespace "$NAMESPACE" get pods --output wide >&2 || true
    kube --namespace "$NAMESPACE" get events --sort-by .lastTimestamp 2>/dev/null | tail -n 30 >&2 || true
    fail "the chart was not installed, or its pods were not ready within $READY_SECONDS s"
  }
}

# A forward ends with the pod that it leads to, so it is made anew for as long as the cluster is there.
forward() {
  local state="${RUNNER_TEMP:-${TMPDIR:-/tmp}}/punctual-$CLUSTER"
  mkdir -p "$state"
  cp "$kubeconfig" "$state/kubeconfig"
  chmod 600 "$state/kubeconfig"
  nohup bash -c '
    while kubectl --kubeconfig "$1" get --raw /readyz >/dev/null 2>&1; do
      kubectl --kubeconfig "$1" --namespace "$2" port-forward service/punctual-api "$3:80" || sleep 1
    done' forward "$state/kubeconfig" "$NAMESPACE" "$PORT" </dev/null >"$state/forward.log" 2>&1 &
  echo $! >"$state/forward.pid"
}

wait_for_answer() {
  local until=$((SECONDS + ANSWER_SECONDS))
  # The first token is in force a moment after the pods are ready.
  until curl --silent --fail --output /dev/null --max-time 5 --header "Authorization: Bearer $token" "$url/api/test/clock"; do
    ((SECONDS < until)) || fail "the API did not answer at $url within $ANSWER_SECONDS s"
    sleep 1
  done
}

tell() {
  local host
  # Docker's network may have two addresses; jobs call the one of IPv4.
  host="$(docker network inspect kind --format '{{range .IPAM.Config}}{{println .Gateway}}{{end}}' | grep -m1 '\.' || true)"
  if [[ -n "${GITHUB_OUTPUT:-}" ]]; then
    echo "::add-mask::$token"
    printf '%s\n' "url=$url" "token=$token" "host=$host" >>"$GITHUB_OUTPUT"
  else
    printf 'export %s=%q\n' PUNCTUAL_SERVER "$url" PUNCTUAL_TOKEN "$token" TARGET_HOST "$host"
  fi
}

check
IMAGE="${IMAGE:-$(default_image)}"
[[ "${IMAGE##*/}" == *:* && "$IMAGE" != *@* ]] || fail "the image $IMAGE needs a tag: a kind node knows no digests of its own"
kubeconfig="$(mktemp)"
trap 'rm -f "$kubeconfig"' EXIT
ensure_cluster
load_image
install_chart
token="$(kube --namespace "$NAMESPACE" get secret punctual-token --output 'jsonpath={.data.token}' | base64 --decode)"
[[ -n "$token" ]] || fail "there is no first token"
forward
wait_for_answer
tell
say "Punctual answers at $url, in namespace $NAMESPACE of the kind cluster $CLUSTER"
