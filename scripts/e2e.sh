#!/usr/bin/env bash
# Runs the scenarios of test/e2e on kind clusters made for them: builds the images beside the clusters, loads them, and
# deletes the clusters at the end, after a failure and a signal too. The last line is `N passed, N failed`.
#
#   KEEP=1            leaves the clusters and says how to reach them
#   KIND_NODE_IMAGE   the node image, and by that the version of Kubernetes; else kind's own choice
#   BASE_IMAGE        what the image is built on
set -euo pipefail
# A step in the background is a group of processes, which can be ended as a whole.
set -m
cd "$(dirname "$0")/.."

# Makes docker, kind, kubectl, helm and base images where no registry of images can be reached; used when it is there.
OFFLINE=../shared/kind
BASE_IMAGE="${BASE_IMAGE:-$(sed -n 's/^FROM \(.*\) AS base$/\1/p' Dockerfile)}"
IMAGE=punctual:e2e # with a Redis in it: punctual:e2e-standalone
# The release that a scenario upgrades from.
BEFORE="$(<test/e2e/support/release-before)"
IMAGE_BEFORE=punctual:e2e-before # as in test/e2e/support/release-before.ts
VALUES=test/e2e/support/values.yaml
# As in test/e2e/support/setup.ts. Scenarios that change definitions, and those that take nodes
# away, have a cluster each.
CLUSTERS=(shared releases alone)
NODE_PORTS=(30080 30081 30082) # as in test/e2e/support/open-release.ts
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

# One after another: both lay out the same folder.
make_images() {
  make --no-print-directory image IMAGE="$IMAGE" BASE_IMAGE="$BASE_IMAGE"
  make --no-print-directory image IMAGE="$IMAGE" BASE_IMAGE="$BASE_IMAGE" TARGET=standalone
}

# Without it some scenarios are skipped.
find_compose() { scripts/compose.sh >"$folder/compose" || true; }

# The image of the release before, from the history of git. Made once for a commit.
make_image_before() {
  local source made
  made="punctual:$(git rev-parse --short=12 "$BEFORE^{commit}")"
  if ! docker image inspect "$made" >/dev/null 2>&1; then
    source="$(scripts/version-before.sh)"
    make --no-print-directory --directory "$source" image IMAGE="$made" BASE_IMAGE="$BASE_IMAGE"
  fi
  docker tag "$made" "$IMAGE_BEFORE"
}

# What the chart's pods run beside our image.
other_images() {
  helm template punctual charts/punctual --values "$VALUES" |
    sed -n 's/^ *image: *"\{0,1\}\([^" ]*\)"\{0,1\} *$/\1/p' | sort -u | grep -vxF "$IMAGE" || true
}

free_ports() { # count
  node -e '
    const servers = Array.from({ length: Number(process.argv[1]) }, () => require("node:net").createServer())
    const port = (server) => new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)))
    Promise.all(servers.map(port)).then((ports) => {
      console.log(ports.join(" "))
      for (const server of servers) server.close()
    })' "$1"
}

kubeconfig() { echo "$folder/$1.kubeconfig"; } # cluster

create_cluster() { # cluster, ports
  local cluster="$1" mappings=() ports index worker='- role: worker'
  shift
  ports=("$@")
  for index in "${!NODE_PORTS[@]}"; do
    mappings+=("{containerPort: ${NODE_PORTS[index]}, hostPort: ${ports[index]}, listenAddress: 127.0.0.1}")
  done
  # Pods run on a worker where the network is looked at: what a pod and its own node say to each other no network policy
  # filters, and the API server is on the first node.
  [[ "$cluster" != releases ]] || worker=
  kind create cluster --name "$run-$cluster" --kubeconfig "$(kubeconfig "$cluster")" --wait "${READY_SECONDS}s" \
    ${KIND_NODE_IMAGE:+--image "$KIND_NODE_IMAGE"} --config - <<YAML
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes:
  - role: control-plane
    extraPortMappings: [$(IFS=, && echo "${mappings[*]}")]
  $worker
YAML
  # Names are resolved some seconds after the node is ready.
  kubectl --kubeconfig "$(kubeconfig "$cluster")" --namespace kube-system \
    rollout status deployment/coredns --timeout "${READY_SECONDS}s"
}

load_images() { # cluster, archives
  local cluster="$1" archive nodes
  shift
  nodes="$(kind get nodes --name "$run-$cluster")"
  # Beside the API server pods run only where there is no other node, or where one is drained.
  [[ "$cluster" != shared ]] || nodes="$(grep worker <<<"$nodes")"
  for archive in "$@"; do kind load image-archive "$archive" --name "$run-$cluster" --nodes "${nodes//$'\n'/,}"; done
}

# Steps that run beside each other: what one writes is shown if it fails.
steps=()
pids=()
begin() { # step, command
  local step="$1"
  shift
  (
    "$@" >"$folder/$step.log" 2>&1
    say "  $step: done at $SECONDS s"
  ) &
  steps+=("$step")
  pids+=($!)
}

finish_steps() {
  local index step failed=()
  for index in "${!steps[@]}"; do
    step="${steps[index]}"
    wait "${pids[index]}" && rm "$folder/$step.log" && continue
    cat "$folder/$step.log" >&2
    failed+=("$step")
  done
  steps=()
  pids=()
  ((${#failed[@]} == 0)) || fail "$(IFS=, && echo "${failed[*]}") failed"
}

# What a person would look at first; bounded, as a pod that fails in a circle writes without end.
save_logs() { # cluster
  local kubectl=(timeout 30 kubectl --kubeconfig "$(kubeconfig "$1")") to="$folder/$1" namespace pod
  mkdir -p "$to"
  {
    "${kubectl[@]}" get nodes,pods --all-namespaces --output wide >"$to/pods.txt"
    "${kubectl[@]}" get events --all-namespaces --sort-by .lastTimestamp | tail -n "$LOG_LINES" >"$to/events.txt"
    "${kubectl[@]}" get punctual --all-namespaces --output yaml | head -n "$LOG_LINES" >"$to/resources.yaml"
    "${kubectl[@]}" get pods --all-namespaces --no-headers --output custom-columns=:metadata.namespace,:metadata.name |
      while read -r namespace pod; do
        [[ "$namespace" != kube-system && "$namespace" != local-path-storage ]] || continue
        for previous in false true; do
          "${kubectl[@]}" --namespace "$namespace" logs "$pod" --all-containers --prefix --timestamps \
            --tail "$LOG_LINES" --previous="$previous" >>"$to/$namespace.$pod.log"
        done
      done
  } 2>/dev/null || true
  say "Logs of all pods, events and resources are in $to"
}

keep_clusters() {
  say "The clusters stay. Look around, run scenarios again, delete them:"
  say "  export KUBECONFIG=$PWD/$(kubeconfig shared)${DOCKER_HOST:+ DOCKER_HOST=$DOCKER_HOST} # or another one of $folder"
  say "  export PATH=$PWD/node_modules/.bin:$(dirname "$(command -v kind)"):\$PATH"
  say "  E2E_CLUSTERS='$E2E_CLUSTERS' E2E_COMPOSE='$E2E_COMPOSE' vitest run --project e2e"
  say "  for cluster in ${CLUSTERS[*]}; do kind delete cluster --name $run-\$cluster; done"
}

delete_clusters() {
  local cluster
  for cluster in "${CLUSTERS[@]}"; do
    kind delete cluster --name "$run-$cluster" --kubeconfig "$(kubeconfig "$cluster")" >/dev/null 2>&1 &
  done
  wait
  rm -f "$folder"/*.kubeconfig "$folder"/*.tar "$folder/compose"
  rmdir "$folder" 2>/dev/null || true
}

finish() {
  local status=$? cluster pid
  trap - EXIT
  trap '' INT TERM HUP
  for pid in $(jobs -p); do kill -- "-$pid" 2>/dev/null || true; done
  wait
  if [[ -n "${E2E_CLUSTERS:-}" ]] && ((status != 0)); then
    for cluster in "${CLUSTERS[@]}"; do save_logs "$cluster"; done
  fi
  if [[ "${KEEP:-}" == 1 && -n "${E2E_CLUSTERS:-}" ]]; then keep_clusters; else delete_clusters; fi
  exit "$status"
}

run="punctual-e2e-$(od -An -N3 -tx1 /dev/urandom | tr -d ' ')"
folder=".punctual/e2e/$run"

ensure_tools
mkdir -p "$folder"
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

say "Making ${#CLUSTERS[@]} clusters and the images beside each other …"
read -ra ports <<<"$(free_ports $((${#CLUSTERS[@]} * ${#NODE_PORTS[@]})))"
described=()
for cluster in "${CLUSTERS[@]}"; do
  own=("${ports[@]:0:${#NODE_PORTS[@]}}")
  ports=("${ports[@]:${#NODE_PORTS[@]}}")
  urls="$(printf ',"http://127.0.0.1:%s"' "${own[@]}")"
  described+=("\"$cluster\":{\"kubeconfig\":\"$PWD/$(kubeconfig "$cluster")\",\"urls\":[${urls:1}]}")
  begin "cluster $cluster" create_cluster "$cluster" "${own[@]}"
done
ensure_image "$BASE_IMAGE"
begin "images $IMAGE" make_images
begin 'docker compose' find_compose
begin "image of $BEFORE" make_image_before
images=("$IMAGE")
for image in $(other_images); do
  ensure_image "$image"
  images+=("$image")
done
finish_steps

say "Loading the images …"
docker save --output "$folder/images.tar" "${images[@]}"
docker save --output "$folder/before.tar" "$IMAGE_BEFORE"
for cluster in "${CLUSTERS[@]}"; do
  archives=("$folder/images.tar")
  [[ "$cluster" != releases ]] || archives+=("$folder/before.tar")
  begin "load $cluster" load_images "$cluster" "${archives[@]}"
done
finish_steps
rm "$folder"/*.tar

# Not in the foreground: a signal to this script alone shall not wait for the scenarios.
export E2E_CLUSTERS="{$(IFS=, && echo "${described[*]}")}"
E2E_COMPOSE="$(<"$folder/compose")"
export E2E_COMPOSE
rm "$folder/compose"
say "Scenarios begin after $SECONDS s"
node scripts/test.ts e2e </dev/null &
wait $! && status=0 || status=$?
exit "$status"
