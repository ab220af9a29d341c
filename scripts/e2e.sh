#!/usr/bin/env bash
# Runs the scenarios of test/e2e on a kind cluster made for them: builds the image, loads it with all that the chart
# names, installs the chart, and deletes the cluster at the end, after a failure and a signal too. The last line is
# `N passed, N failed`.
#
#   KEEP=1            leaves the cluster and says how to reach it
#   KIND_NODE_IMAGE   the node image, and by that the version of Kubernetes; else kind's own choice
#   BASE_IMAGE        what the image is built on
set -euo pipefail
cd "$(dirname "$0")/.."

# Makes docker, kind, kubectl, helm and base images where no registry of images can be reached; used when it is there.
OFFLINE=../shared/kind
BASE_IMAGE="${BASE_IMAGE:-$(sed -n 's/^FROM \(.*\) AS base$/\1/p' Dockerfile)}"
IMAGE=punctual:e2e
# The release that a scenario upgrades from.
BEFORE="$(<test/e2e/support/release-before)"
IMAGE_BEFORE=punctual:e2e-before # as in test/e2e/support/release-before.ts
VALUES=test/e2e/support/values.yaml
NODE_PORT=30080 # as in test/e2e/support/setup.ts
READY_SECONDS=180
LOG_LINES=2000

say() { echo "$1" >&2; }
fail() {
  say "punctual: $1"
  exit 1
}

tools_work() {
  local command
  for command in docker kind kubectl helm; do command -v "$command" >/dev/null || return 1; done
  docker info >/dev/null 2>&1
}

reaches_registry() { curl --silent --output /dev/null --connect-timeout 5 --max-time 10 https://registry-1.docker.io/v2/; }

ensure_tools() {
  tools_work && reaches_registry && return
  if [[ -x "$OFFLINE/up" ]]; then
    local exports
    exports="$("$OFFLINE/up")" || fail "$OFFLINE/up failed."
    eval "$exports"
  fi
  tools_work || fail "docker (running), kind, kubectl and helm are needed on PATH: https://kind.sigs.k8s.io/"
}

ensure_image() { # name
  docker image inspect "$1" >/dev/null 2>&1 && return
  docker pull --quiet "$1" >/dev/null 2>&1 && return
  # What is made here has another digest.
  if [[ "$1" == *@* && "$1" == "$BASE_IMAGE" ]]; then
    BASE_IMAGE="${1%@*}"
    ensure_image "$BASE_IMAGE"
    return
  fi
  [[ -x "$OFFLINE/base-image" ]] || fail "the image $1 can neither be pulled nor be made here."
  case "$1" in
    node:*-bookworm-slim) make_node_image "$1" ;;
    redis:*) "$OFFLINE/base-image" "$1" redis-server ;;
    *) fail "the image $1 can neither be pulled nor be made here." ;;
  esac
}

# The node program is the one of the npm package.
make_node_image() { # name
  local context
  "$OFFLINE/base-image" punctual-node-base:bookworm libatomic1 libstdc++6 ca-certificates
  context="$(mktemp -d)"
  cp node_modules/node/bin/node "$context/"
  printf 'FROM punctual-node-base:bookworm\nCOPY node /usr/local/bin/node\nCMD ["node"]\n' >"$context/Dockerfile"
  docker build --quiet --tag "$1" "$context" >/dev/null
  rm -rf "$context"
}

# The image of the release before, from the history of git.
make_image_before() {
  local source
  source="$(scripts/version-before.sh)"
  make --no-print-directory --directory "$source" image IMAGE="$IMAGE_BEFORE" BASE_IMAGE="$BASE_IMAGE" >&2
}

# What the chart's pods run beside our image.
other_images() {
  helm template punctual charts/punctual --values "$VALUES" |
    sed -n 's/^ *image: *"\{0,1\}\([^" ]*\)"\{0,1\} *$/\1/p' | sort -u | grep -vxF "$IMAGE" || true
}

free_port() {
  node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })'
}

create_cluster() {
  mkdir -p "$folder"
  kind create cluster --name "$cluster" --kubeconfig "$kubeconfig" --wait "${READY_SECONDS}s" \
    ${KIND_NODE_IMAGE:+--image "$KIND_NODE_IMAGE"} --config - >&2 <<YAML
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes:
  - role: control-plane
    extraPortMappings:
      - {containerPort: $NODE_PORT, hostPort: $port, listenAddress: 127.0.0.1}
  # Pods run here: what a pod and its own node say to each other no network policy filters, and the API server is there.
  - role: worker
YAML
  # Names are resolved some seconds after the node is ready.
  kubectl --kubeconfig "$kubeconfig" --namespace kube-system rollout status deployment/coredns --timeout "${READY_SECONDS}s" >&2
}

# What a person would look at first; bounded, as a pod that fails in a circle writes without end.
save_logs() {
  local kubectl=(timeout 30 kubectl --kubeconfig "$kubeconfig") namespace pod
  {
    "${kubectl[@]}" get nodes,pods --all-namespaces --output wide >"$folder/pods.txt"
    "${kubectl[@]}" get events --all-namespaces --sort-by .lastTimestamp | tail -n "$LOG_LINES" >"$folder/events.txt"
    "${kubectl[@]}" get punctual --all-namespaces --output yaml | head -n "$LOG_LINES" >"$folder/resources.yaml"
    "${kubectl[@]}" get pods --all-namespaces --no-headers --output custom-columns=:metadata.namespace,:metadata.name |
      while read -r namespace pod; do
        [[ "$namespace" != kube-system && "$namespace" != local-path-storage ]] || continue
        for previous in false true; do
          "${kubectl[@]}" --namespace "$namespace" logs "$pod" --all-containers --prefix --timestamps \
            --tail "$LOG_LINES" --previous="$previous" >>"$folder/$namespace.$pod.log"
        done
      done
  } 2>/dev/null || true
  say "Logs of all pods, events and resources are in $folder"
}

finish() {
  local status=$?
  trap - EXIT
  trap '' INT TERM HUP
  [[ -z "$scenarios" ]] || { kill "$scenarios" 2>/dev/null && wait "$scenarios"; } || true
  if [[ -e "$kubeconfig" ]] && ((status != 0)); then save_logs; fi
  if [[ "${KEEP:-}" == 1 && -e "$kubeconfig" ]]; then
    say "The cluster $cluster stays. Look around, run scenarios again, delete it:"
    say "  export KUBECONFIG=$PWD/$kubeconfig${DOCKER_HOST:+ DOCKER_HOST=$DOCKER_HOST}"
    say "  export PATH=$PWD/node_modules/.bin:$(dirname "$(command -v kind)"):\$PATH"
    say "  E2E_KUBECONFIG=\$KUBECONFIG E2E_API_URL=http://127.0.0.1:$port vitest run --project e2e"
    say "  kind delete cluster --name $cluster"
  elif [[ -n "$created" ]]; then
    kind delete cluster --name "$cluster" --kubeconfig "$kubeconfig" >&2 || true
    rm -f "$kubeconfig"
    rmdir "$folder" 2>/dev/null || true
  fi
  exit "$status"
}

cluster="punctual-e2e-$(od -An -N3 -tx1 /dev/urandom | tr -d ' ')"
folder=".punctual/e2e/$cluster"
kubeconfig="$folder/kubeconfig"
created=
scenarios=
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

ensure_tools
ensure_image "$BASE_IMAGE"
say "Building $IMAGE on $BASE_IMAGE …"
make --no-print-directory image IMAGE="$IMAGE" BASE_IMAGE="$BASE_IMAGE" >&2
say "Building $IMAGE_BEFORE from $BEFORE …"
make_image_before
images=("$IMAGE" "$IMAGE_BEFORE")
for image in $(other_images); do
  ensure_image "$image"
  images+=("$image")
done

port="$(free_port)"
created=1
create_cluster
kind load docker-image "${images[@]}" --name "$cluster" >&2

# Not in the foreground: a signal to this script alone shall not wait for the scenarios.
E2E_KUBECONFIG="$PWD/$kubeconfig" E2E_API_URL="http://127.0.0.1:$port" node scripts/test.ts e2e &
scenarios=$!
wait "$scenarios" && status=0 || status=$?
scenarios=
exit "$status"
